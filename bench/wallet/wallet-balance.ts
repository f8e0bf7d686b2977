import pg from 'pg';
import { inSqlTransaction } from '../../db/transaction.ts';
import { percentageBases } from '../../services/ledger/percentage-base.ts';
import { compare, percentile } from '../measure.ts';
import { type BenchDatabase, withBenchDatabase } from '../platform.ts';
import { debitOften, makeWallet } from './wallet-subject.ts';

const ledgerRows = 100_000;
const lots = 50;
const requests = 100;

/**
 * The real-time balance of a wallet with 100 000 entries in its ledger and 50 open lots, with authentication, against one with ten
 * entries; and the credits that a percentage of such wallets is of. The compared figures are milliseconds, at the median of 100
 * requests one after the other. Fails unless the balances are right and every invariant holds.
 */
export function run(): Promise<void> {
  return withBenchDatabase(async (base) => {
    const large = await makeWallet(base, { name: 'large', lots, credits: '1000' });
    await debitOften(base, large.walletId, ledgerRows - lots);
    const small = await makeWallet(base, { name: 'small', lots: 5, credits: '1000' });
    await debitOften(base, small.walletId, 5);
    await analyze(base);
    await expectBalance(base, large.walletId, '49000.5');
    await expectBalance(base, small.walletId, '4999.95');
    const read = ({ walletId }: { walletId: string }) =>
      medianMs(() => base.api('GET', `/wallets/${walletId}/balance/real-time?expand=credits_available_breakdown`));
    await compare({
      bench: 'wallet-balance: credits of a percentage',
      warmUps: 2,
      reference: () => medianMs(() => percentageOf(base, small)),
      product: () => medianMs(() => percentageOf(base, large)),
    });
    await compare({ bench: 'wallet-balance', warmUps: 2, reference: () => read(small), product: () => read(large) });
    await base.checkInvariants();
    console.error(`ledger rows: ${ledgerRows} and 10; open lots: ${lots} and 5`);
  });
}

/** As they would be on the day after. */
async function analyze({ postgres }: BenchDatabase): Promise<void> {
  const owner = new pg.Client({ connectionString: postgres.url('perennial') });
  await owner.connect();
  await owner.query('vacuum analyze wallet_transaction').finally(() => owner.end());
}

async function expectBalance({ api }: BenchDatabase, walletId: string, expected: string): Promise<void> {
  const { real_time_balance: balance } = await api<{ real_time_balance: string }>(
    'GET',
    `/wallets/${walletId}/balance/real-time`,
  );
  if (balance !== expected) throw new Error(`wallet ${walletId} has ${balance}, not ${expected}`);
}

function percentageOf({ database, scope }: BenchDatabase, { customerId, walletId: id }: Subject) {
  const levels = { critical: null, warning: null, info: null };
  const alerts = { alert_enabled: true, alert_threshold_type: 'percentage' as const, ...levels };
  return inSqlTransaction(database, scope, (tx) => percentageBases(tx, scope, [{ id, customerId, alerts }]));
}

type Subject = Awaited<ReturnType<typeof makeWallet>>;

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < requests; index += 1) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return percentile(times, 0.5);
}
