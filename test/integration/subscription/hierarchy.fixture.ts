import type { Api } from '../../support/app.ts';
import { clockedCustomer, created, monthlyPlan, type TestPlan } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

export interface Member {
  customerId: string;
  externalId: string;
  clockId: string;
}

export interface Family {
  plan: TestPlan;
  parent: Member;
  children: Member[];
  clockId: string;
  subscriptionId: string;
}

const start = '2026-01-15T00:00:00Z';
const heirs = 'external_customer_ids_to_inherit_subscription';

/** A customer on the family's clock, or on a new one at 2026-01-15. */
export async function member(api: Api, clockId?: string): Promise<Member> {
  return clockedCustomer(api, { frozenTime: start, ...(clockId ? { clockId } : {}), card: '4000000000000002' });
}

/** Creates a monthly subscription whatever comes of it. */
export function attemptSubscription(api: Api, body: Record<string, unknown>) {
  return api<Wire>('POST', '/subscriptions', { currency: 'usd', billing_period: 'MONTHLY', ...body });
}

/** A monthly subscription of 30 in advance and 0.10 a call that `children` customers inherit from its creation on. */
export async function family(
  api: Api,
  options: { children: number; subscription?: Record<string, unknown> },
): Promise<Family> {
  const plan = await monthlyPlan(api);
  const parent = await member(api);
  const { clockId } = parent;
  const children = await Promise.all(Array.from({ length: options.children }, () => member(api, clockId)));
  const { body, status } = await attemptSubscription(api, {
    customer_id: parent.customerId,
    plan_id: plan.planId,
    inheritance: { [heirs]: children.map(({ externalId }) => externalId) },
    ...options.subscription,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return { plan, parent, children, clockId, subscriptionId: body.id };
}

/** Sends `count` calls of a customer at one instant. */
export async function calls(api: Api, plan: TestPlan, member: Member, count: number, timestamp: string) {
  const events = Array.from({ length: count }, (_, index) => ({
    event_id: `${member.externalId}-${timestamp}-${index}`,
    event_name: plan.eventName,
    external_customer_id: member.externalId,
    timestamp,
    properties: {},
  }));
  await created(api, '/events/bulk', { events });
}

/** Asks for a modification of the hierarchy, by default to carry it out. */
export function modify(api: Api, id: string, body: Record<string, unknown>, how: 'execute' | 'preview' = 'execute') {
  return api<Wire>('POST', `/subscriptions/${id}/modify/${how}`, body);
}

/** Lets customers inherit from now on. */
export function inherit(api: Api, id: string, externalIds: string[]) {
  return modify(api, id, { type: 'inheritance', inheritance_params: { [heirs]: externalIds } });
}

/** Has customers no longer inherit from the end of the period on. */
export function disinherit(api: Api, id: string, externalIds: string[]) {
  return modify(api, id, {
    type: 'inheritance',
    inheritance_params: { action: 'remove', external_customer_ids_to_remove: externalIds },
  });
}

/** The subscriptions a customer has or had. */
export async function subscriptionsOf(api: Api, { customerId }: Member): Promise<Wire[]> {
  return (await api<Wire>('POST', '/subscriptions/search', { customer_id: customerId })).body.items;
}

/** The only one. */
export async function ownOf(api: Api, member: Member): Promise<Wire> {
  return (await subscriptionsOf(api, member))[0];
}
