import { expect, test } from 'vitest';
import { openDatabase } from '../../../db/orm.ts';
import { inSqlTransaction, type SqlTransaction } from '../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { usageReader } from '../../../metering/usage-reader.ts';
import { issueInvoices } from '../../../services/invoice/issue/invoice-issue.ts';
import { closePeriods } from '../../../services/subscription/period/subscription-close.ts';
import {
  advanceTo,
  clockedCustomer,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';

const { api, base } = await testPlatform({ plansAsInstalled: true });
const { scope } = base;

class TakenBack extends Error {}

/** Rows of invoices, their lines and payments that PostgreSQL looks at while `work` is done, which is then taken back. */
async function rowsReadBy(work: (tx: SqlTransaction) => Promise<unknown>): Promise<number> {
  let read = 0;
  // What reads a small table whole is not asked for: it would hide, or look like, what grows with the table.
  const database = await openDatabase({ url: base.applicationUrl });
  const taken = inSqlTransaction(database, scope, async (tx) => {
    for (const way of ['seqscan', 'hashjoin', 'mergejoin']) await tx.rows(`set local enable_${way} = off`);
    const before = await rowsRead(tx);
    await work(tx);
    read = (await rowsRead(tx)) - before;
    throw new TakenBack();
  });
  await expect(taken).rejects.toThrow(TakenBack);
  await database.close();
  return read;
}

async function rowsRead(tx: SqlTransaction): Promise<number> {
  const [row] = await tx.rows<{ read: string }>(
    `select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) as read from pg_stat_xact_user_tables
     where relname in ('invoice', 'invoice_line_item', 'payment', 'invoice_document')`,
  );
  return Number(row?.read);
}

/** Closes the current period of a subscription and finalizes its invoice. */
async function closeAndIssue(tx: SqlTransaction, subscriptionId: string, at: string): Promise<void> {
  const readUsage = usageReader(openPostgresUsageStore(base.database));
  await closePeriods(tx, scope, [{ subscriptionId, at }], readUsage);
  const drafts = await tx.rows<{ id: string }>(
    `select id from invoice where subscription_id = $1 and invoice_status = 'DRAFT'`,
    [subscriptionId],
  );
  expect(drafts).toHaveLength(1);
  await issueInvoices(
    tx,
    scope,
    drafts.map(({ id }) => ({ invoiceId: id, at })),
    readUsage,
  );
}

test('closing a period of the sixth year reads no more of invoices than one of the second', async () => {
  const frozenTime = '2026-01-15T00:00:00.000Z';
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime, card: sandboxCardNumber('succeeds') });
  const { planId } = await monthlyPlan(api);
  const { id } = await subscribe(api, {
    customer_id: customerId,
    plan_id: planId,
    commitment_amount: '1200',
    overage_factor: '1.5',
    commitment_duration: 'ANNUAL',
  });
  const closeNow = async () => {
    const { current_period_end: at } = await subscriptionOf(api, id);
    return rowsReadBy((tx) => closeAndIssue(tx, id, new Date(at).toISOString()));
  };
  await advanceTo(api, clockId, '2027-06-20T00:00:00.000Z');
  const young = await closeNow();
  await advanceTo(api, clockId, '2031-06-20T00:00:00.000Z');
  const old = await closeNow();
  expect(young).toBeGreaterThan(0);
  expect(old).toBeLessThanOrEqual(young);
});
