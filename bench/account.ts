import { inSqlTransaction } from '../db/transaction.ts';
import { sandboxCardNumber } from '../integrations/sandbox-gateway/card.ts';
import type { BenchPlatform } from './platform.ts';

type Api = BenchPlatform['api'];

export interface PlanTerms {
  fee: string;
  perCall: string;
  eventName: string;
  /** In advance when absent. */
  feeCadence?: 'ADVANCE' | 'ARREAR';
}

/** A plan with a monthly fee and a price per call in arrear. */
export async function makePlan(api: Api, terms: PlanTerms): Promise<{ planId: string; usagePriceId: string }> {
  const plan = await api('POST', '/plans', { name: `Plan ${terms.eventName}` });
  const feature = await api<{ meter_id: string }>('POST', '/features', {
    name: `Calls ${terms.eventName}`,
    type: 'metered',
    meter: {
      name: 'Calls',
      event_name: terms.eventName,
      aggregation: { type: 'COUNT' },
      reset_usage: 'BILLING_PERIOD',
    },
  });
  const common = {
    entity_type: 'PLAN',
    entity_id: plan.id,
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    currency: 'usd',
    start_date: '2020-01-01T00:00:00Z',
  };
  const fee = {
    type: 'FIXED',
    amount: terms.fee,
    invoice_cadence: terms.feeCadence ?? 'ADVANCE',
    display_name: 'Base',
  };
  const usage = { type: 'USAGE', amount: terms.perCall, invoice_cadence: 'ARREAR', display_name: 'Calls' };
  await api('POST', '/prices', { ...common, ...fee });
  const price = await api('POST', '/prices', { ...common, ...usage, meter_id: feature.meter_id });
  return { planId: plan.id, usagePriceId: price.id };
}

export interface NewCustomer {
  externalId: string;
  /** Without one the customer lives in real time. */
  clockId?: string;
  card?: string;
  name?: string;
  email?: string;
}

/** A customer, with a saved card when one is given. */
export async function makeCustomer(api: Api, customer: NewCustomer): Promise<string> {
  const { id } = await api('POST', '/customers', {
    external_id: customer.externalId,
    name: customer.name ?? customer.externalId,
    ...(customer.email ? { email: customer.email } : {}),
    ...(customer.clockId ? { test_clock_id: customer.clockId } : {}),
  });
  if (customer.card) {
    const card = { gateway: 'sandbox', card_number: customer.card, set_default: true };
    await api('POST', `/customers/${id}/payment-methods`, card);
  }
  return id;
}

/** A monthly subscription in usd. */
export function makeSubscription(api: Api, body: Record<string, unknown>): Promise<{ id: string }> {
  return api('POST', '/subscriptions', { currency: 'usd', billing_period: 'MONTHLY', ...body });
}

/** Customers on a clock, each with a card that succeeds and a subscription to one plan: 30 a month in advance and 0.10 a call. */
export async function subscribeMany(api: Api, clockId: string, count: number): Promise<void> {
  const { planId } = await makePlan(api, { fee: '30', perCall: '0.10', eventName: 'call' });
  const waiting = Array.from({ length: count }, (_, index) => `customer-${index}`).values();
  const worker = async () => {
    for (const externalId of waiting) {
      const customerId = await makeCustomer(api, { externalId, clockId, card: sandboxCardNumber('succeeds') });
      await makeSubscription(api, { customer_id: customerId, plan_id: planId });
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** Advances a test clock and returns when everything due until then is done. A clock that needs longer is an error. */
export async function advanceClock(api: Api, clockId: string, to: string, limitMs = 120_000): Promise<void> {
  await api('POST', `/test-clocks/${clockId}/advance`, { to });
  const end = performance.now() + limitMs;
  for (;;) {
    const clock = await api<{ clock_status: string; frozen_time: string }>('GET', `/test-clocks/${clockId}?wait=10`);
    if (clock.clock_status === 'ready') return;
    if (performance.now() > end) throw new Error(`the clock stands at ${clock.frozen_time} on its way to ${to}`);
  }
}

/** Sends `count` calls of a customer at one instant. */
export async function sendCalls(
  api: Api,
  calls: { eventName: string; externalId: string; count: number; timestamp: string },
): Promise<void> {
  const events = Array.from({ length: calls.count }, (_, index) => ({
    event_id: `${calls.externalId}-${calls.timestamp}-${index}`,
    event_name: calls.eventName,
    external_customer_id: calls.externalId,
    timestamp: calls.timestamp,
    properties: {},
  }));
  await api('POST', '/events/bulk', { events });
}

/** Fails unless those of `subscribeMany` have so many cycle invoices, one a period, all paid. */
export async function checkCycleInvoices({ database, scope }: BenchPlatform, expected: number): Promise<object> {
  const [found] = await inSqlTransaction(database, scope, (tx) =>
    tx.rows(
      `select count(*)::int as invoices, count(distinct (subscription_id, period_start))::int as periods,
         count(*) filter (where payment_status = 'SUCCEEDED' and total = 30)::int as paid
       from invoice where billing_reason = 'SUBSCRIPTION_CYCLE'`,
    ),
  );
  if (found?.invoices !== expected || found.periods !== expected || found.paid !== expected) {
    throw new Error(`wrong closes, expected ${expected}: ${JSON.stringify(found)}`);
  }
  return found;
}
