import { advanceClock, makeCustomer, makePlan, makeSubscription } from '../../bench/account.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { personal } from './personal.ts';
import type { Stage } from './stage.ts';

const start = '2026-01-15T00:00:00Z';

interface Subscription {
  id: string;
  clockId: string;
  /** The recurring fixed charge of its plan. */
  feeItemId: string;
}

let subscribers = 0;

async function subscribed({ platform: { api }, planId }: Stage, terms: object = {}): Promise<Subscription> {
  subscribers += 1;
  const { id: clockId } = await api('POST', '/test-clocks', { frozen_time: start });
  const customer_id = await makeCustomer(api, {
    externalId: `changing-${subscribers}`,
    name: personal.name,
    email: personal.email,
    clockId,
    card: sandboxCardNumber('succeeds'),
  });
  const { id } = await makeSubscription(api, { customer_id, plan_id: planId, ...terms });
  await advanceClock(api, clockId, '2026-01-20T00:00:00Z');
  type Items = { line_items: { id: string; price_type: string }[] };
  const { line_items } = await api<Items>('GET', `/subscriptions/${id}`);
  return { id, clockId, feeItemId: line_items.find(({ price_type }) => price_type === 'FIXED')!.id };
}

const until = (stage: Stage, { clockId }: Subscription, to: string) => advanceClock(stage.platform.api, clockId, to);

/** A draft begins; it is paused over a boundary and resumed; its end is scheduled and taken back. */
async function interruptedLife(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const draft = await subscribed(stage, { subscription_status: 'draft' });
  await api('POST', `/subscriptions/${draft.id}/activate`, { start_date: '2026-01-20T00:00:00Z' });
  await until(stage, draft, '2026-02-10T00:00:00Z');
  await api('POST', `/subscriptions/${draft.id}/pause`, { reason: personal.reason, metadata: { note: personal.note } });
  await until(stage, draft, '2026-03-01T00:00:00Z');
  await api('POST', `/subscriptions/${draft.id}/resume`, { metadata: { note: personal.note } });
  await api('POST', `/subscriptions/${draft.id}/resume`, {}).catch(() => undefined);
  await api('POST', `/subscriptions/${draft.id}/cancel`, {
    cancellation_type: 'end_of_period',
    reason: personal.reason,
  });
  const schedule = { subscription_id: draft.id, schedule_type: 'cancellation' };
  await api('POST', '/subscriptions/schedules/cancel', schedule);
  await until(stage, draft, '2026-04-01T00:00:00Z');
}

/** A line item is added, changed and ended; the quantity of another rises and falls. */
async function itemsChanged(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const one = await subscribed(stage);
  const price = {
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ADVANCE',
    currency: 'usd',
    amount: personal.amount,
    display_name: personal.text,
  };
  const item = await api('POST', `/subscriptions/${one.id}/lineitems`, {
    price,
    quantity: 3,
    metadata: { note: personal.note },
  });
  await until(stage, one, '2026-01-25T00:00:00Z');
  const dearer = await api('PUT', `/subscriptions/lineitems/${item.id}`, { amount: '30' });
  await until(stage, one, '2026-01-28T00:00:00Z');
  await api('DELETE', `/subscriptions/lineitems/${dearer.id}`, {});
  for (const quantity of ['4', '1']) {
    type Items = { line_items: { id: string; price_type: string; end_date: string | null }[] };
    const { line_items } = await api<Items>('GET', `/subscriptions/${one.id}`);
    const fee = line_items.find(({ price_type, end_date }) => price_type === 'FIXED' && end_date === null)!;
    await modify(stage, one.id, {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: fee.id, quantity }] },
    });
    await until(stage, one, quantity === '4' ? '2026-02-01T00:00:00Z' : '2026-03-01T00:00:00Z');
  }
}

const modify = ({ platform: { api } }: Stage, id: string, body: object) =>
  api<Record<string, unknown>>('POST', `/subscriptions/${id}/modify/execute`, body);

/** A coupon, a tax and an add-on come and go, and a trial is ended early. */
async function termsChanged(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const one = await subscribed(stage);
  const half = { name: 'Half', type: 'percentage', percentage_off: '50', cadence: 'forever' };
  const { coupon_code } = await api<{ coupon_code: string }>('POST', '/coupons', half);
  await modify(stage, one.id, { type: 'coupon', coupon_params: { action: 'add', coupon_code } });
  const rate = await api('POST', '/taxes/rates', { name: 'VAT', code: 'vat-of-changes', percentage_value: '10' });
  await modify(stage, one.id, { type: 'tax', tax_params: { action: 'add', tax_rate_id: rate.id } });
  const addon = await api('POST', '/addons', { name: 'Seats', lookup_key: 'seats-of-changes', type: 'onetime' });
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
  await modify(stage, one.id, { type: 'addon', addon_params: { action: 'add', add: { addon_id: addon.id } } });
  await until(stage, one, '2026-03-01T00:00:00Z');

  const trial = await subscribed(stage, { trial_period_days: 14 });
  await modify(stage, trial.id, { type: 'trial_end', trial_end_params: { action: 'immediate' } });
  await until(stage, trial, '2026-02-25T00:00:00Z');
}

/** In place and by another subscription, each at once and at the end of the period. */
async function plansChanged(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const dearer = { fee: '8319.37', perCall: '0.0713', eventName: 'call-dearer' };
  const { planId: target_plan_id } = await makePlan(api, dearer);
  for (const [change_at, proration_behavior] of [
    ['immediate', 'create_prorations'],
    ['end_of_period', 'none'],
  ]) {
    const order = { target_plan_id, proration_behavior };
    const one = await subscribed(stage);
    await api('POST', `/subscriptions/${one.id}/change/v2/execute`, { ...order, change_at });
    await until(stage, one, '2026-03-01T00:00:00Z');
    const other = await subscribed(stage);
    const cycle = { billing_cadence: 'RECURRING', billing_period: 'MONTHLY', billing_cycle: 'anniversary' };
    await api('POST', `/subscriptions/${other.id}/change/execute`, { ...order, ...cycle, change_at });
    await until(stage, other, '2026-03-01T00:00:00Z');
  }
}

/** Credits are granted every month. */
async function creditsGranted(stage: Stage): Promise<void> {
  const grant = {
    name: 'Monthly credits',
    scope: 'SUBSCRIPTION',
    credits: '100',
    cadence: 'RECURRING',
    period: 'MONTHLY',
    period_count: 1,
    expiration_type: 'NEVER',
  };
  const one = await subscribed(stage, { credit_grants: [grant] });
  await until(stage, one, '2026-04-01T00:00:00Z');
}

/** A phase begins inside a period and the last one ends, after which the plan holds again. */
async function phased(stage: Stage): Promise<void> {
  const middle = '2026-02-01T00:00:00Z';
  const phases = [
    { start_date: start, end_date: middle },
    { start_date: middle, end_date: '2026-02-20T00:00:00Z', metadata: { note: personal.note } },
  ];
  const one = await subscribed(stage, { start_date: start, phases });
  await until(stage, one, '2026-03-10T00:00:00Z');
}

/** What people change of subscriptions, by the names of the histories. */
export const changeScenarios: Record<string, (stage: Stage) => Promise<void>> = {
  'drafted-paused-and-resumed': interruptedLife,
  'items-changed': itemsChanged,
  'terms-changed': termsChanged,
  'plans-changed': plansChanged,
  'credits-granted': creditsGranted,
  phased,
};
