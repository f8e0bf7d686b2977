import { expect, test } from 'vitest';
import { clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';

const { api, base } = await testPlatform();

interface Told {
  event_type: string;
  subscription: { customer_id: string; customer: { id: string; name: string } | null };
}

/** Bodies of the events of a subscription in the feed, in order. */
async function bodiesOf(id: string): Promise<Told[]> {
  const { body } = await api<{ items: { entity_id: string; payload: Told }[] }>(
    'GET',
    '/outbound-events?limit=1000&wait=5',
  );
  return body.items.filter(({ entity_id: entityId }) => entityId === id).map(({ payload }) => payload);
}

test('events of a subscription show its customer as it was when each was written', async () => {
  const { planId } = await monthlyPlan(api);
  const { customerId } = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
  const { body: before } = await api<Record<string, unknown>>('GET', `/customers/${customerId}`);
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  const renamed = { name: 'Renamed', address_city: 'Lisbon', metadata: { subscription: 'gold' } };
  expect((await api('PUT', `/customers/${customerId}`, renamed)).status).toBe(200);
  await created(api, `/subscriptions/${id}/pause`, { pause_mode: 'immediate', pause_days: 5 });

  const [first, ...later] = await bodiesOf(id);
  expect(first).toMatchObject({ event_type: 'subscription.created', subscription: { customer_id: customerId } });
  expect(first?.subscription.customer).toEqual({
    id: customerId,
    external_id: before.external_id,
    environment_id: base.scope.environmentId,
    name: before.name,
    email: before.email,
    address_line1: null,
    address_line2: null,
    address_city: null,
    address_state: null,
    address_postal_code: null,
    address_country: null,
    timezone: 'UTC',
    metadata: {},
  });
  expect(later.map(({ event_type: type }) => type)).toEqual(['subscription.updated', 'subscription.paused']);
  for (const { subscription } of later) expect(subscription.customer).toMatchObject({ id: customerId, ...renamed });
});
