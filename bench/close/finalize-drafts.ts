import pg from 'pg';
import { closeIntoDrafts, finalizeAll, usedSubscriptions } from '../invoice/invoice-subject.ts';
import { compare, rateOf } from '../measure.ts';
import { withBenchDatabase } from '../platform.ts';

const drafts = Number(process.env.BENCH_DRAFTS || 300);
const pairs = 5;
const goal = { drafts: 10_000, seconds: 180 };

/**
 * Drafts finalized a second, in the sets in which they fall due together, against one commit of one row each. The goal is
 * 10 000 drafts in three minutes, which is told beside the ratio. Fails unless numbers are gap-free and invariants hold.
 */
export async function run(): Promise<void> {
  await withBenchDatabase(async (base) => {
    const ids = await closeIntoDrafts(base, await usedSubscriptions(base, drafts * (pairs + 1)));
    const owner = new pg.Client({ connectionString: base.ownerUrl });
    await owner.connect();
    try {
      await owner.query('create table bench_commit (id int not null)');
      let from = 0;
      const product = () => {
        const own = ids.slice(from, from + drafts);
        from += drafts;
        return rateOf(own.length, () => finalizeAll(base, own));
      };
      const reference = () =>
        rateOf(drafts, async () => {
          for (let id = 0; id < drafts; id += 1) await owner.query('insert into bench_commit values ($1)', [id]);
        });
      const { product: perSecond } = await compare({ bench: 'finalize-drafts', reference, product, pairs });
      await owner.query('drop table bench_commit');
      const seconds = goal.drafts / perSecond;
      console.log(`${goal.drafts} drafts in ${seconds.toFixed(0)} s (at most ${goal.seconds})`);
      const left = await base.api<{ pagination: { total: number } }>('GET', '/invoices?invoice_status=DRAFT');
      if (left.pagination.total > 0) throw new Error(`${left.pagination.total} drafts are left`);
      await base.checkInvariants();
      if (seconds > goal.seconds) process.exitCode = 1;
    } finally {
      await owner.end();
    }
  });
}
