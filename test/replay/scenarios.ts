import pg from 'pg';
import { reconcile } from '../../activities/reconcile.ts';
import { advanceClock, makeCustomer, makePlan, makeSubscription, sendCalls } from '../../bench/account.ts';
import type { BenchPlatform } from '../../bench/platform.ts';
import { poll } from '../../dev/processes.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { invoiceWorkflowId } from '../../workflows/invoice.messages.ts';
import { retry } from '../../workflows/lifecycle.messages.ts';
import { gatewayNotified, paymentWorkflowId, refreshPayment } from '../../workflows/payment.messages.ts';
import { cancelPriceSync, priceSyncWorkflowId } from '../../workflows/price-sync.messages.ts';
import { subscriptionWorkflowId } from '../../workflows/subscription.messages.ts';
import { testClockWorkflowId } from '../../workflows/test-clock.messages.ts';
import { changeScenarios } from './change-scenarios.ts';
import { hierarchyScenarios } from './hierarchy-scenarios.ts';
import { importScenario } from './import-scenario.ts';
import { lifeScenarios } from './life-scenarios.ts';
import { onboardingScenario } from './onboarding-scenario.ts';
import { personal } from './personal.ts';
import { refundScenario } from './refund-scenario.ts';
import { heldBackScenario, usageFeedScenario } from './usage-feed-scenario.ts';
import { meterBuildScenario, rawEventsScenario, retentionScenario, thresholdScenario } from './usage-scenarios.ts';

/** A platform with a plan, and what scenarios do with it. */
export interface Stage {
  platform: BenchPlatform;
  planId: string;
  usagePriceId: string;
}

const eventName = 'call';
const start = '2026-01-15T00:00:00Z';

/** Every scenario by the name its histories get. Together they take every branch of every workflow. */
export const scenarios: Record<string, (stage: Stage) => Promise<void>> = {
  'year-of-renewals': async (stage) => {
    const { clockId, externalId } = await onClock(stage, { card: 'succeeds' });
    const calls = { eventName, externalId, count: 12 };
    for (const month of ['01', '02', '07']) {
      await sendCalls(stage.platform.api, { ...calls, timestamp: `2026-${month}-20T00:00:00Z` });
    }
    await advanceClock(stage.platform.api, clockId, '2026-09-20T00:00:00Z');
  },
  'trial-on-clock': async (stage) => {
    const { clockId } = await onClock(stage, { card: 'succeeds', subscription: { trial_period_days: 14 } });
    await advanceClock(stage.platform.api, clockId, '2026-03-05T00:00:00Z');
  },
  'incomplete-until-paid': async (stage) => {
    const subscription = { payment_behavior: 'allow_incomplete' };
    const { clockId } = await onClock(stage, { card: 'declines_times', count: 1, subscription });
    await advanceClock(stage.platform.api, clockId, '2026-02-20T00:00:00Z');
  },
  'cancelled-at-once': cancelled({ cancellation_type: 'immediate' }),
  'cancelled-at-period-end': cancelled({ cancellation_type: 'end_of_period' }),
  'cancelled-on-a-date': cancelled({ cancellation_type: 'scheduled_date', cancel_at: '2026-02-20T00:00:00Z' }),
  'add-on-attached-and-detached': addonAttached,
  'declined-then-paid': async (stage) => {
    const { clockId } = await onClock(stage, { card: 'declines_times', count: 3 });
    await advanceClock(stage.platform.api, clockId, '2026-02-17T00:00:00Z');
  },
  'declined-until-overdue': async (stage) => {
    const { clockId } = await onClock(stage, { card: 'declines' });
    await advanceClock(stage.platform.api, clockId, '2026-03-01T00:00:00Z');
  },
  'invoices-by-hand': async (stage) => invoicesByHand(stage, '2026-02-15T00:00:00Z'),
  'invoices-made-and-edited': invoicesMade,
  'lost-answer': async (stage) => {
    const { clockId } = await onClock(stage, { card: 'loses_answer' });
    await advanceClock(stage.platform.api, clockId, '2026-02-16T00:00:00Z');
  },
  'late-answer': async (stage) => {
    const { clockId } = await onClock(stage, { card: 'answers_late', count: 2 });
    await advanceClock(stage.platform.api, clockId, '2026-02-16T00:00:00Z');
  },
  'unanswered-for-a-day': async (stage) => {
    const { clockId, subscriptionId } = await onClock(stage, { card: 'never_answers' });
    await advanceClock(stage.platform.api, clockId, '2026-01-17T00:00:00Z');
    const paymentId = await paymentOf(stage, subscriptionId);
    await stage.platform.gateway.operator.confirm(`${paymentId}:1`);
    await stage.platform.temporal.workflow.getHandle(paymentWorkflowId(paymentId)).executeUpdate(retry);
  },
  'payer-asked-on-clock': payerAsked,
  'payment-by-hand': paymentByHand,
  'invoice-parked-and-retried': invoiceParked,
  'period-parked-and-retried': periodParked,
  'creation-refused': async (stage) => {
    const { api } = stage.platform;
    const customerId = await makeCustomer(api, { externalId: newExternalId() });
    await makeSubscription(api, { customer_id: customerId, plan_id: 'plan_unknown' }).catch(() => undefined);
  },
  'real-time-life': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'succeeds' });
    const { api } = stage.platform;
    await until(async () => (await workflowOf(stage, subscriptionId).query('waitingFor')) || undefined);
    await api('PUT', `/subscriptions/${subscriptionId}`, { metadata: { key: 'value' } });
    const cancelAt = new Date(Date.now() + 40 * 86_400_000).toISOString();
    const onDate = { cancellation_type: 'scheduled_date', cancel_at: cancelAt };
    await api('POST', `/subscriptions/${subscriptionId}/cancel`, onDate);
    await api('POST', `/subscriptions/${subscriptionId}/cancel`, { cancellation_type: 'immediate' });
  },
  'real-time-catching-up': async (stage) => {
    const subscription = { start_date: daysAgo(100) };
    const { subscriptionId } = await inRealTime(stage, { card: 'succeeds', subscription });
    await until(async () => (await paidInvoices(stage, subscriptionId)) >= 4 || undefined);
  },
  'real-time-trial': async (stage) => {
    const subscription = { start_date: daysAgo(20), trial_period_days: 14 };
    const { subscriptionId } = await inRealTime(stage, { card: 'succeeds', subscription });
    await until(async () => (await paidInvoices(stage, subscriptionId)) >= 1 || undefined);
  },
  'real-time-decline': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'declines' });
    await until(() => invoiceWorkflowOf(stage, subscriptionId));
  },
  'real-time-lost-answer': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'loses_answer' });
    const workflow = await until(() => paymentWorkflowOf(stage, subscriptionId));
    await workflow.executeUpdate(refreshPayment).catch(() => undefined);
    await until(async () => (await paidInvoices(stage, subscriptionId)) >= 1 || undefined);
  },
  'real-time-late-answer': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'answers_late', count: 1 });
    await until(async () => (await paidInvoices(stage, subscriptionId)) >= 1 || undefined);
  },
  'real-time-notified': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'requires_action' });
    const workflow = await until(() => paymentWorkflowOf(stage, subscriptionId));
    await stage.platform.gateway.operator.confirm(`${await paymentOf(stage, subscriptionId)}:1`);
    await workflow.signal(gatewayNotified);
    await until(async () => (await paidInvoices(stage, subscriptionId)) >= 1 || undefined);
  },
  'real-time-given-up': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'requires_action' });
    await until(() => paymentWorkflowOf(stage, subscriptionId));
    await stage.platform.api('POST', `/payments/${await paymentOf(stage, subscriptionId)}/cancel`);
  },
  reconciled: reconciledLives,
  'clock-parked-and-retried': clockParked,
  'prices-synced': pricesSynced,
  'price-sync-stopped': priceSyncStopped,
  'price-sync-parked-and-retried': priceSyncParked,
  ...changeScenarios,
  ...lifeScenarios,
  ...hierarchyScenarios,
  'files-imported': importScenario,
  'raw-events-reprocessed': rawEventsScenario,
  'events-dropped': retentionScenario,
  'events-held-back': heldBackScenario,
  'meter-built': meterBuildScenario,
  'usage-fed': usageFeedScenario,
  'usage-watched': thresholdScenario,
  'customer-onboarded': onboardingScenario,
  'refunds-refused-and-silent': refundScenario,
};

interface Life {
  card?: SandboxBehaviour;
  count?: number;
  subscription?: Record<string, unknown>;
}

let customers = 0;
function newExternalId(): string {
  customers += 1;
  return `customer-${customers}`;
}

/** A subscribed customer on a test clock of its own. */
async function onClock({ platform, planId }: Stage, life: Life) {
  const clock = await platform.api('POST', '/test-clocks', { frozen_time: start });
  const lived = await subscribed(platform, planId, { ...life, clockId: clock.id });
  return { ...lived, clockId: clock.id };
}

function inRealTime({ platform, planId }: Stage, life: Life) {
  return subscribed(platform, planId, life);
}

async function subscribed({ api }: BenchPlatform, planId: string, life: Life & { clockId?: string }) {
  const externalId = newExternalId();
  const customerId = await makeCustomer(api, {
    externalId,
    name: personal.name,
    email: personal.email,
    ...(life.clockId ? { clockId: life.clockId } : {}),
    ...(life.card ? { card: sandboxCardNumber(life.card, life.count) } : {}),
  });
  const body = { customer_id: customerId, plan_id: planId, ...life.subscription };
  const { id: subscriptionId } = await makeSubscription(api, body);
  return { externalId, customerId, subscriptionId };
}

function cancelled(cancellation: Record<string, unknown>): (stage: Stage) => Promise<void> {
  return async (stage) => {
    const { clockId, subscriptionId } = await onClock(stage, { card: 'succeeds' });
    const { api } = stage.platform;
    await advanceClock(api, clockId, '2026-02-01T00:00:00Z');
    await api('POST', `/subscriptions/${subscriptionId}/cancel`, cancellation);
    await advanceClock(api, clockId, '2026-04-01T00:00:00Z');
  };
}

/** One attachment is billed at once, a second is refused, and the first is detached. */
async function addonAttached(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { clockId, subscriptionId } = await onClock(stage, { card: 'succeeds' });
  const addon = await api('POST', '/addons', { name: 'Seats', lookup_key: newExternalId(), type: 'onetime' });
  await api('POST', '/prices', {
    entity_type: 'ADDON',
    entity_id: addon.id,
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ADVANCE',
    currency: 'usd',
    amount: '20',
    start_date: start,
  });
  await advanceClock(api, clockId, '2026-02-01T00:00:00Z');
  const attachment = { subscription_id: subscriptionId, addon_id: addon.id };
  const { id } = await api('POST', '/subscriptions/addon', attachment);
  await api('POST', '/subscriptions/addon', attachment).catch(() => undefined);
  await api('DELETE', '/subscriptions/addon', { addon_association_id: id });
  await advanceClock(api, clockId, '2026-04-01T00:00:00Z');
}

/** One draft is finalized and paid, the next is voided. */
async function invoicesByHand(stage: Stage, boundary: string): Promise<void> {
  const { api } = stage.platform;
  const { clockId, subscriptionId, customerId } = await onClock(stage, {});
  await advanceClock(api, clockId, boundary);
  const first = await draftOf(stage, subscriptionId);
  await api('POST', `/invoices/${first}/finalize`);
  const card = { gateway: 'sandbox', card_number: sandboxCardNumber('succeeds'), set_default: true };
  await api('POST', `/customers/${customerId}/payment-methods`, card);
  await api('POST', `/invoices/${first}/payment/attempt`);
  await advanceClock(api, clockId, '2026-03-15T00:00:00Z');
  await api('POST', `/invoices/${await draftOf(stage, subscriptionId)}/void`, {});
}

/** A one-off invoice that is edited and settled by hand, and a draft that is computed, issued and made again. */
async function invoicesMade(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { clockId, subscriptionId, customerId } = await onClock(stage, {});
  const oneOff = { customer_id: customerId, currency: 'usd', subtotal: '40', total: '40', amount_due: '40' };
  const { id } = await api('POST', '/invoices', oneOff);
  const items = [{ display_name: 'More', amount: '2', quantity: '1' }];
  await api('POST', `/invoices/${id}/modify/execute`, {
    type: 'line_item',
    line_item_params: { action: 'add', items },
  });
  const other = await api('POST', '/invoices', { ...oneOff, description: 'other' });
  await api('PUT', `/invoices/${other.id}/payment`, { payment_status: 'SUCCEEDED' });
  await advanceClock(api, clockId, '2026-02-15T00:00:00Z');
  const draft = await draftOf(stage, subscriptionId);
  await api('POST', `/invoices/${draft}/compute`);
  await api('POST', `/invoices/${draft}/recalculate-v2?finalize=true`);
  await api('POST', `/invoices/${draft}/recalculate`);
  await advanceClock(api, clockId, '2026-02-15T03:00:00Z');
}

async function payerAsked(stage: Stage): Promise<void> {
  const { clockId, subscriptionId } = await onClock(stage, { card: 'requires_action' });
  const { api, gateway } = stage.platform;
  await advanceClock(api, clockId, '2026-01-15T01:00:00Z');
  await gateway.operator.fail(`${await paymentOf(stage, subscriptionId)}:1`);
  await advanceClock(api, clockId, '2026-01-20T00:00:00Z');
}

/** A card that is saved after the invoice and charged by request. */
async function paymentByHand(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { subscriptionId, customerId } = await onClock(stage, {});
  const text = `select id, amount_remaining from invoice where subscription_id = $1 and invoice_status = 'FINALIZED'`;
  const invoice = await until(() => rowOf(stage, text, [subscriptionId]));
  const card = { gateway: 'sandbox', card_number: sandboxCardNumber('succeeds'), set_default: true };
  await api('POST', `/customers/${customerId}/payment-methods`, card);
  await api('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'CARD',
    amount: invoice.amount_remaining,
    currency: 'usd',
  });
}

/** The second attempt on an invoice fails for a reason that is no outage. */
async function invoiceParked(stage: Stage): Promise<void> {
  const { api, temporal } = stage.platform;
  const { clockId, subscriptionId } = await onClock(stage, { card: 'declines_times', count: 1 });
  await advanceClock(api, clockId, '2026-01-15T12:00:00Z');
  const { workflowId } = await until(() => invoiceWorkflowOf(stage, subscriptionId));
  await asOwner(stage, 'alter table payment add constraint none_now check (false) not valid');
  try {
    await advanceClock(api, clockId, '2026-01-16T12:00:00Z');
  } finally {
    await asOwner(stage, 'alter table payment drop constraint none_now');
  }
  await temporal.workflow.getHandle(workflowId).executeUpdate(retry);
  await advanceClock(api, clockId, '2026-01-20T00:00:00Z');
}

/** A price that nobody can compute stops one subscription until it is mended. */
async function periodParked(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { clockId, subscriptionId } = await onClock(stage, { card: 'succeeds' });
  const setModel = (model: string) =>
    asOwner(stage, `update price set billing_model = '${model}' where id = '${stage.usagePriceId}'`);
  await setModel('UNKNOWN');
  try {
    await advanceClock(api, clockId, '2026-02-16T00:00:00Z');
  } finally {
    await setModel('FLAT_FEE');
  }
  await workflowOf(stage, subscriptionId).executeUpdate(retry);
  await advanceClock(api, clockId, '2026-02-17T00:00:00Z');
}

/** The workflows of a live subscription and a live invoice vanish and are started from their rows. */
async function reconciledLives(stage: Stage): Promise<void> {
  const { database, temporal } = stage.platform;
  const { clockId, subscriptionId } = await onClock(stage, { card: 'declines' });
  await advanceClock(stage.platform.api, clockId, '2026-01-16T12:00:00Z');
  const real = await inRealTime(stage, { card: 'declines' });
  await until(() => invoiceWorkflowOf(stage, real.subscriptionId));
  for (const id of [subscriptionId, real.subscriptionId]) {
    const { workflowId } = await until(() => invoiceWorkflowOf(stage, id));
    await temporal.workflow.getHandle(workflowId).terminate('recorded: storage lost');
    await workflowOf(stage, id).terminate('recorded: storage lost');
  }
  await reconcile({ database, temporal });
  await advanceClock(stage.platform.api, clockId, '2026-02-20T00:00:00Z');
}

/** The clock's own step fails for a reason that is no outage. */
async function clockParked(stage: Stage): Promise<void> {
  const { api, temporal } = stage.platform;
  const { clockId } = await onClock(stage, { card: 'succeeds' });
  const workflow = temporal.workflow.getHandle(testClockWorkflowId(clockId));
  await asOwner(stage, 'alter table agenda_entry rename to agenda_entry_away');
  try {
    await api('POST', `/test-clocks/${clockId}/advance`, { to: '2026-01-16T00:00:00Z' });
    await until(async () => (await workflow.query<{ blockedOn: string | null }>('progress')).blockedOn ?? undefined);
  } finally {
    await asOwner(stage, 'alter table agenda_entry_away rename to agenda_entry');
  }
  await workflow.executeUpdate(retry);
  await advanceClock(api, clockId, '2026-01-16T00:00:00Z');
}

/** A plan of its own with a subscription that lacks a price. */
async function withPriceToSync(stage: Stage) {
  const { api } = stage.platform;
  const plan = await makePlan(api, { fee: personal.fee, perCall: personal.perCall, eventName: newExternalId() });
  await subscribed(stage.platform, plan.planId, { card: 'succeeds' });
  await api('PUT', `/prices/${plan.usagePriceId}`, { amount: '0.5' });
  const sync = () => api('POST', `/plans/${plan.planId}/sync/subscriptions`);
  const run = stage.platform.temporal.workflow.getHandle(priceSyncWorkflowId(plan.planId));
  return { planId: plan.planId, sync, run };
}

async function pricesSynced(stage: Stage): Promise<void> {
  const { sync, run } = await withPriceToSync(stage);
  await sync();
  await run.result();
}

/** A run is stopped while it waits for its plan, which somebody else holds. */
async function priceSyncStopped(stage: Stage): Promise<void> {
  const { planId, sync, run } = await withPriceToSync(stage);
  const holder = new pg.Client({ connectionString: stage.platform.ownerUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select 1 from plan where id = $1 for update', [planId]);
  await sync();
  const stopping = await run.startUpdate(cancelPriceSync, { waitForStage: 'ACCEPTED' });
  await holder.end();
  await stopping.result();
}

/** A run cannot even begin, for a reason that is no outage. */
async function priceSyncParked(stage: Stage): Promise<void> {
  const { sync, run } = await withPriceToSync(stage);
  await asOwner(stage, 'alter table price_sync rename to price_sync_away');
  try {
    await sync();
    await until(async () => (await run.query<{ blockedOn: string | null }>('progress')).blockedOn ?? undefined);
  } finally {
    await asOwner(stage, 'alter table price_sync_away rename to price_sync');
  }
  await run.executeUpdate(retry);
  await run.result();
}

async function rowOf(stage: Stage, text: string, values: unknown[]): Promise<Record<string, string> | undefined> {
  const [row] = await asOwner(stage, text, values);
  return row;
}

async function asOwner({ platform }: Stage, text: string, values: unknown[] = []): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: platform.ownerUrl });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function paymentOf(stage: Stage, subscriptionId: string): Promise<string> {
  const text = `select p.id from payment p join invoice i on i.id = p.destination_id where i.subscription_id = $1 order by p.created_at limit 1`;
  return (await until(async () => (await rowOf(stage, text, [subscriptionId]))?.id)) as string;
}

async function draftOf(stage: Stage, subscriptionId: string): Promise<string> {
  const text = `select id from invoice where subscription_id = $1 and invoice_status = 'DRAFT'`;
  return (await until(async () => (await rowOf(stage, text, [subscriptionId]))?.id)) as string;
}

async function paidInvoices(stage: Stage, subscriptionId: string): Promise<number> {
  const text = `select count(*) as paid from invoice where subscription_id = $1 and payment_status = 'SUCCEEDED' and invoice_status = 'FINALIZED'`;
  return Number((await rowOf(stage, text, [subscriptionId]))?.paid);
}

function workflowOf({ platform }: Stage, subscriptionId: string) {
  return platform.temporal.workflow.getHandle(subscriptionWorkflowId(subscriptionId));
}

/** The running workflow of the subscription's first invoice, as soon as there is one. */
async function invoiceWorkflowOf(stage: Stage, subscriptionId: string) {
  const text = 'select id from invoice where subscription_id = $1 and attended order by billing_sequence limit 1';
  const row = await rowOf(stage, text, [subscriptionId]);
  return row?.id ? runningOrNothing(stage, invoiceWorkflowId(row.id)) : undefined;
}

async function paymentWorkflowOf(stage: Stage, subscriptionId: string) {
  return runningOrNothing(stage, paymentWorkflowId(await paymentOf(stage, subscriptionId)));
}

async function runningOrNothing({ platform }: Stage, workflowId: string) {
  const handle = platform.temporal.workflow.getHandle(workflowId);
  const description = await handle.describe().catch(() => undefined);
  return description ? handle : undefined;
}

async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  const found = await poll(read, 45_000, 100);
  if (found === undefined) throw new Error(`still not so after 45 s: ${read}`);
  return found;
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}
