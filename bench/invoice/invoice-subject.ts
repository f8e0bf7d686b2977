import { inSqlTransaction } from '../../db/transaction.ts';
import { prepareEvent } from '../../metering/event.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import type { IssueRequest } from '../../services/invoice/issue/invoice-issue.ts';
import { issueInvoices } from '../../services/invoice/issue/invoice-issue.ts';
import { closePeriods } from '../../services/subscription/period/subscription-close.ts';
import { makePlan } from '../account.ts';
import { ownCpuMs, programCpuMs } from '../cpu.ts';
import type { BenchDatabase } from '../platform.ts';
import { type Subscribed, subscribeDirectly } from '../subscribed.ts';

const start = '2024-01-15T00:00:00.000Z';
const firstEnd = '2024-02-15T00:00:00.000Z';
const setSize = 50;

/** Subscriptions with a fee and used calls, whose first period may be closed into drafts. */
export async function usedSubscriptions(base: BenchDatabase, count: number): Promise<Subscribed[]> {
  const eventName = 'call';
  const { planId } = await makePlan(base.api, { fee: '30', perCall: '0.10', eventName });
  const made = await subscribeDirectly(base, { count, planId, start });
  const events = made.map((_, index) =>
    prepareEvent({
      event_id: `call-${index}`,
      event_name: eventName,
      external_customer_id: `customer-${index}`,
      timestamp: '2024-02-01T00:00:00Z',
      properties: {},
    }),
  );
  for (let from = 0; from < events.length; from += 1_000) {
    await base.metering.append(base.scope, events.slice(from, from + 1_000));
  }
  return made;
}

/** Closes the first period of subscriptions; the drafts, in order. */
export async function closeIntoDrafts(base: BenchDatabase, subscriptions: readonly Subscribed[]): Promise<string[]> {
  const readUsage = usageReader(base.metering);
  for (const set of setsOf(subscriptions)) {
    const requests = set.map(({ subscriptionId }) => ({ subscriptionId, at: firstEnd }));
    await inSqlTransaction(base.database, base.scope, (tx) => closePeriods(tx, tx.scope, requests, readUsage));
  }
  const ids = subscriptions.map(({ subscriptionId }) => subscriptionId);
  const rows = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ id: string }>(
      `select id from invoice where environment_id = $1 and subscription_id = any($2) and invoice_status = 'DRAFT' and billing_reason = 'SUBSCRIPTION_CYCLE' order by id`,
      [base.scope.environmentId, ids],
    ),
  );
  return rows.map(({ id }) => id);
}

/** Finalizes drafts in sets of one transaction, as the worker does when they fall due together. */
export async function finalizeAll(base: BenchDatabase, invoiceIds: readonly string[], size = setSize): Promise<void> {
  const readUsage = usageReader(base.metering);
  for (const set of setsOf(invoiceIds, size)) {
    const requests: IssueRequest[] = set.map((invoiceId) => ({ invoiceId, at: '2024-02-15T02:00:00.000Z' }));
    await inSqlTransaction(base.database, base.scope, (tx) => issueInvoices(tx, tx.scope, requests, readUsage));
  }
}

/** Processor time of this process and PostgreSQL while `work` runs, in milliseconds. */
export async function cpuOf(base: BenchDatabase, work: () => Promise<unknown>): Promise<number> {
  const used = () => ownCpuMs() + programCpuMs(base.postgres.program);
  const before = used();
  await work();
  return used() - before;
}

function setsOf<Item>(items: readonly Item[], size = setSize): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, set) => items.slice(set * size, (set + 1) * size));
}
