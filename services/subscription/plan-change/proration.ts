import { createHash } from 'node:crypto';
import { type CreditDestination, creditDestination } from '../../../billing/invoice/carried-credit.ts';
import type { ChargeItem } from '../../../billing/line/charge.ts';
import type { ProrationAction, ProrationBehavior } from '../../../billing/line/proration.ts';
import { decimal, decimalString } from '../../../billing/money/money.ts';
import type { ProratedTime } from '../../../billing/subscription/prorated-time.ts';
import {
  type ProratedChange,
  type ProratedLine,
  prorateChange,
} from '../../../billing/subscription/proration-change.ts';
import { newId } from '../../../db/id.ts';
import { type Columns, insertText, recordColumnTypes, writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type BilledFacts, readItems } from '../../charging/charged-item.ts';
import { readCharged, readRoom } from '../../charging/proration-charged.ts';
import { runningPeriodOf } from '../../charging/subscription-period.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { readBillingContext } from '../../invoice/draft/billing-context.ts';
import { type DraftInvoice, draftInvoice, insertDrafts } from '../../invoice/draft/invoice-draft.ts';
import { issueInvoices } from '../../invoice/issue/invoice-issue.ts';
import { giveCarriedCredit } from '../../invoice/terms/carried-credit.ts';
import { creditPrepaidWallet } from '../../ledger/wallet-credit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { settingDefaults } from '../../platform/setting-defaults.ts';

/** An item that a change ends or begins, with what stays on its invoice line. */
export interface ProratedItem {
  item: ChargeItem;
  facts: BilledFacts;
}

export interface ProrationRequest {
  row: SubscriptionRow;
  action: ProrationAction;
  behavior: ProrationBehavior;
  /** The instant of the change; the current period holds it or ends with it. */
  effectiveAt: string;
  /** When it is asked for, on the customer's clock. */
  at: string;
  /** As they are before the change. */
  ended: readonly ProratedItem[];
  started: readonly ProratedItem[];
}

/** A change with its amounts, before anything is written. */
export interface PlannedProration {
  request: ProrationRequest;
  change: ProratedChange;
  facts: ReadonlyMap<string, BilledFacts>;
}

/** How a change was settled. */
export interface Settled {
  row: SubscriptionRow;
  invoiceId: string | null;
  /** What went to the prepaid wallet; `0` when nothing did. */
  returned: string;
  /** What the next invoice takes off; `0` when nothing. */
  carried: string;
}

/**
 * What a change comes to, nothing written: credits under the cap of what was billed less what was credited, and charges, for
 * the rest of the current period. A preview and the execution both call it. spec: subscriptions-and-invoicing §2.8.2
 */
export async function planProration(sql: Sql, scope: Scope, request: ProrationRequest): Promise<PlannedProration> {
  const { row, ended, started, effectiveAt } = request;
  const ids = ended.map(({ item }) => item.id);
  const charged = await readCharged(sql, scope.environmentId, ids, effectiveAt);
  const change = prorateChange({
    action: request.action,
    behavior: request.behavior,
    subscription: row,
    period: runningPeriodOf(row),
    effectiveAt,
    // A trial charges nothing, so that nothing of it is given back or charged.
    ended:
      row.status === 'trialing' ? [] : ended.map(({ item }) => ({ item, ...(charged.get(item.id) ?? nothingCharged) })),
    started: row.status === 'trialing' ? [] : started.map(({ item }) => item),
    room: await readRoom(sql, scope.environmentId, row.id, effectiveAt),
  });
  return { request, change, facts: new Map([...ended, ...started].map(({ item, facts }) => [item.id, facts])) };
}

const nothingCharged = { billed: '0', credited: '0' };

/**
 * Settles a planned change in the caller's transaction: a difference to pay is a ONE_OFF invoice with charge and credit lines,
 * issued and collected at once; one to give back goes to the prepaid wallet, or is a line of the next invoice. The caller writes the row. The same change again
 * is refused by the key of its records. spec: subscriptions-and-invoicing §2.8.3,
 * README decision 50
 */
export async function settleProration(sql: Sql, scope: Scope, planned: PlannedProration): Promise<Settled> {
  const { request, change } = planned;
  const { row } = request;
  const key = changeKeyOf(planned);
  const untouched = { row, invoiceId: null, returned: '0', carried: '0' };
  if (request.behavior === 'none' || change.lines.length === 0) return untouched;
  if (change.settlement === 'invoice') {
    const billed = { ...row, billingSequence: row.billingSequence + 1 };
    const draft = await settlementInvoice(sql, scope, planned, billed);
    await insertDrafts(sql, [draft]);
    await writeRecords(sql, scope, planned, { key, invoiceId: draft.row.id, returned: '0', settlement: 'invoice' });
    await writeEvents(sql, scope, invoiceEvents('invoice.update', draft.row.id, request.at));
    await issueInvoices(sql, scope, [{ invoiceId: draft.row.id, at: request.at }], null);
    return { row: billed, invoiceId: draft.row.id, returned: '0', carried: '0' };
  }
  const returned = change.settlement === 'wallet_credit' ? decimalString(change.returned) : '0';
  const carries = change.settlement === 'wallet_credit' && (await isCarried(sql, scope, request));
  const settlement = carries ? 'next_invoice' : change.settlement;
  await writeRecords(sql, scope, planned, { key, invoiceId: null, returned, settlement });
  if (decimal(returned).isZero()) return untouched;
  const credit = { customerId: row.invoicingCustomerId, currency: row.currency, amount: returned };
  if (carries) {
    const subscriptionId = billedThrough(row);
    await giveCarriedCredit(sql, scope, { ...credit, subscriptionId, changeKey: key, at: request.at });
    return { ...untouched, carried: returned };
  }
  await creditPrepaidWallet(sql, scope, {
    ...credit,
    cause: 'proration',
    causeId: row.id,
    description: `Unused time of subscription ${row.id} (${request.action.replace('_', ' ')})`,
    idempotencyKey: `proration:${key}`,
    at: request.at,
  });
  return { ...untouched, returned };
}

/** Whether the next invoice takes the credit of a change off, by the setting and by what the subscription has after the change. */
async function isCarried(
  sql: Sql,
  scope: Scope,
  { row, action, ended, effectiveAt }: ProrationRequest,
): Promise<boolean> {
  const [stored] = await sql.rows<{ value: { destination?: CreditDestination } }>(
    `select value from setting where environment_id = $1 and key = 'proration_credit_destination' and status = 'published'`,
    [scope.environmentId],
  );
  const { destination } = { ...settingDefaults.proration_credit_destination, ...stored?.value };
  const items = (await readItems(sql, scope.environmentId, [row.id])).get(row.id) ?? [];
  const gone = new Set(ended.map(({ item }) => item.id));
  const hasUsage = items.some(
    ({ item }) => item.priceType === 'USAGE' && !gone.has(item.id) && (item.endDate ?? '9999') > effectiveAt,
  );
  return creditDestination(destination, { action, hasUsage }) === 'next_invoice';
}

/** The subscription on whose invoices this one is. spec: subscriptions-and-invoicing §2.13 */
function billedThrough(row: SubscriptionRow): string {
  return row.subscriptionType === 'grouped_invoicing' ? (row.parentSubscriptionId ?? row.id) : row.id;
}

/** Notes a planned change whose invoice is written elsewhere: until that is void, what it credits counts as credited. */
export async function recordBilledProration(
  sql: Sql,
  scope: Scope,
  planned: PlannedProration,
  invoiceId: string,
): Promise<void> {
  await writeRecords(sql, scope, planned, {
    key: changeKeyOf(planned),
    invoiceId,
    returned: '0',
    settlement: 'invoice',
  });
}

/** Notes what a change gave back that is settled elsewhere: on the invoice of a subscription that replaces this one. */
export async function recordProration(
  sql: Sql,
  scope: Scope,
  planned: PlannedProration,
  returned: string,
): Promise<string> {
  const key = changeKeyOf(planned);
  await writeRecords(sql, scope, planned, { key, invoiceId: null, returned, settlement: planned.change.settlement });
  return key;
}

/** The invoice of a difference to pay, not written; a preview shows it. spec: subscriptions-and-invoicing §2.8.3 */
export async function settlementInvoice(
  sql: Sql,
  scope: Scope,
  planned: PlannedProration,
  row: SubscriptionRow,
): Promise<DraftInvoice> {
  const { request, change, facts } = planned;
  const { config, planNames, terms } = await readBillingContext(sql, scope.environmentId, [row]);
  const lines = change.lines.map((line) => ({
    ...line,
    ...(facts.get(line.subscriptionLineItemId as string) as BilledFacts),
  }));
  return draftInvoice(scope, {
    subscription: row,
    planName: planNames.get(row.planId) ?? '',
    reason: 'SUBSCRIPTION_UPDATE',
    period: { start: request.effectiveAt, end: row.currentPeriodEnd },
    lines,
    billingSequence: row.billingSequence,
    config,
    terms: terms.get(row.id),
    at: request.at,
    changeKey: changeKeyOf(planned),
  });
}

/** spec: subscriptions-and-invoicing §2.8.3 Idempotency */
function changeKeyOf({ request, change }: PlannedProration): string {
  const { row, action, effectiveAt } = request;
  const items = change.lines.map((line) => `${line.side} ${line.subscriptionLineItemId}`).sort();
  const parts = [row.id, action, ...items, row.currentPeriodStart, row.currentPeriodEnd, effectiveAt];
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}

const recordColumns: Columns = {
  ...recordColumnTypes,
  subscriptionId: 'text',
  subscriptionLineItemId: 'text',
  changeKey: 'text',
  action: 'text',
  side: 'text',
  currency: 'text',
  amount: 'numeric',
  uncappedAmount: 'numeric',
  periodStart: 'timestamptz',
  periodEnd: 'timestamptz',
  effectiveAt: 'timestamptz',
  settlement: 'text',
  invoiceId: 'text',
  returnedAmount: 'numeric',
};
const insertRecords = insertText('subscription_proration', recordColumns);

async function writeRecords(
  sql: Sql,
  scope: Scope,
  { request, change }: PlannedProration,
  outcome: { key: string; invoiceId: string | null; returned: string; settlement: string },
): Promise<void> {
  const now = new Date().toISOString();
  const record = (line: ProratedLine, time: ProratedTime) => ({
    id: newId('pror'),
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    createdAt: now,
    createdBy: scope.actor,
    updatedAt: now,
    updatedBy: scope.actor,
    subscriptionId: request.row.id,
    subscriptionLineItemId: line.subscriptionLineItemId,
    changeKey: outcome.key,
    action: request.action,
    side: line.side,
    currency: request.row.currency,
    amount: time.amount,
    uncappedAmount: time.uncapped,
    periodStart: time.start,
    periodEnd: time.end,
    effectiveAt: request.effectiveAt,
    settlement: outcome.settlement,
    invoiceId: outcome.invoiceId,
    returnedAmount: outcome.returned,
  });
  const records = change.lines.flatMap((line) => line.times.map((time) => record(line, time)));
  await writeRows(sql, insertRecords, records);
}
