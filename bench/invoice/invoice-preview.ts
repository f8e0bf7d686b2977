import { compare } from '../measure.ts';
import { withBenchDatabase } from '../platform.ts';
import { closeIntoDrafts, cpuOf, finalizeAll, usedSubscriptions } from './invoice-subject.ts';

const invoices = Number(process.env.BENCH_INVOICES || 40);
const pairs = 5;

/**
 * The preview of an invoice, request to answer, against finalizing an invoice of the same shape in a transaction of its own:
 * processor time of this process and PostgreSQL a piece, in milliseconds. At most 1.0. design: quality.md R13
 */
export async function run(): Promise<void> {
  await withBenchDatabase(async (base) => {
    const sets = pairs + 1;
    const subscriptions = await usedSubscriptions(base, invoices * sets);
    const drafts = await closeIntoDrafts(base, subscriptions);
    let finalized = 0;
    const reference = async () => {
      const own = drafts.slice(finalized, finalized + invoices);
      finalized += invoices;
      if (own.length < invoices) throw new Error('there are too few drafts');
      return (await cpuOf(base, () => finalizeAll(base, own, 1))) / invoices;
    };
    const product = async () => {
      const previews = async () => {
        for (const { subscriptionId } of subscriptions.slice(0, invoices)) {
          const body = { subscription_id: subscriptionId };
          const { total } = await base.api<{ total: number }>('POST', '/invoices/preview', body);
          if (total !== 30) throw new Error(`the preview says ${total}`);
        }
      };
      return (await cpuOf(base, previews)) / invoices;
    };
    await compare({ bench: 'preview', reference, product, pairs });
    await base.checkInvariants();
  });
}
