import type { Api } from '../../support/app.ts';
import { advanceTo, clockedCustomer, created, monthlyPlan, type TestPlatform } from '../../support/billing.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
export type Wire = any;

export interface BilledCustomer {
  customerId: string;
  externalId: string;
  clockId: string;
  subscriptionId: string;
  eventName: string;
}

/** A customer on a clock at 2026-01-15 with a monthly subscription of 30 in advance and 0.10 a call in arrear. */
export async function billedCustomer(
  { api }: Pick<TestPlatform, 'api'>,
  options: { card?: string; subscription?: Record<string, unknown> } = {},
): Promise<BilledCustomer> {
  const { planId, meterId } = await monthlyPlan(api);
  const customer = await clockedCustomer(api, {
    frozenTime: '2026-01-15T00:00:00Z',
    ...(options.card ? { card: options.card } : {}),
  });
  const subscription = await created(api, '/subscriptions', {
    customer_id: customer.customerId,
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    ...options.subscription,
  });
  const { body: meter } = await api<Wire>('GET', `/meters/${meterId}`);
  return { ...customer, subscriptionId: subscription.id, eventName: meter.event_name };
}

/** Sends `count` events of the customer's meter at one instant of its clock. */
export async function countCalls(api: Api, customer: BilledCustomer, count: number, timestamp: string): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    event_id: `${customer.externalId}-${timestamp}-${index}`,
    event_name: customer.eventName,
    external_customer_id: customer.externalId,
    timestamp,
    properties: {},
  }));
  await created(api, '/events/bulk', { events });
}

/** The customer's invoices, the oldest first. */
export async function invoicesOf(api: Api, customerId: string): Promise<Wire[]> {
  const { body } = await api<Wire>('POST', '/invoices/search', {
    customer_id: customerId,
    sort: [{ field: 'billing_sequence', direction: 'asc' }],
  });
  return body.items;
}

/** The draft of the first period, which ended at 2026-02-15. */
export async function firstDraft(api: Api, customer: BilledCustomer): Promise<Wire> {
  await advanceTo(api, customer.clockId, '2026-02-15T00:00:00Z');
  const drafts = (await invoicesOf(api, customer.customerId)).filter((invoice) => invoice.invoice_status === 'DRAFT');
  return drafts[0];
}
