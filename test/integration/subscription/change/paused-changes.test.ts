import { expect, it, test } from 'vitest';
import {
  clockedCustomer,
  created,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../../support/billing.ts';
import { addonWith } from '../../catalogue/addon.fixture.ts';

const { api } = await testPlatform();
const [plan, other] = [await monthlyPlan(api), await monthlyPlan(api, { fee: '60' })];
const addon = await addonWith(api, [{}]);

interface Paused {
  id: string;
  itemId: string;
  associationId: string;
}

async function pausedWithAddon(): Promise<Paused> {
  const { customerId } = await clockedCustomer(api, { frozenTime: '2026-04-11T00:00:00Z' });
  const { id, line_items } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  const association = await created(api, '/subscriptions/addon', { subscription_id: id, addon_id: addon });
  await created(api, `/subscriptions/${id}/pause`, {});
  const itemId = line_items.find((item) => item.display_name === 'Base')?.id ?? '';
  return { id, itemId, associationId: association.id };
}

const inline = {
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ARREAR',
  currency: 'usd',
  amount: '5',
};
const toOther = { target_plan_id: other.planId, proration_behavior: 'none' };
const monthly = { billing_cadence: 'RECURRING', billing_period: 'MONTHLY', billing_cycle: 'anniversary' };

/** spec: subscriptions-and-invoicing §2.11 While paused */
test.each<[string, (paused: Paused) => [method: 'POST' | 'PUT' | 'DELETE', path: string, body: object]]>([
  ['change of plan in place', ({ id }) => ['POST', `/subscriptions/${id}/change/v2/execute`, toOther]],
  [
    'change of plan by another subscription',
    ({ id }) => ['POST', `/subscriptions/${id}/change/execute`, { ...toOther, ...monthly }],
  ],
  [
    'change of quantity',
    ({ id, itemId }) => [
      'POST',
      `/subscriptions/${id}/modify/execute`,
      { type: 'quantity_change', quantity_change_params: { line_items: [{ id: itemId, quantity: '2' }] } },
    ],
  ],
  ['new line item', ({ id }) => ['POST', `/subscriptions/${id}/lineitems`, { price: inline }]],
  ['new version of a line item', ({ itemId }) => ['PUT', `/subscriptions/lineitems/${itemId}`, { amount: '31' }]],
  ['end of a line item', ({ itemId }) => ['DELETE', `/subscriptions/lineitems/${itemId}`, {}]],
  ['new add-on', ({ id }) => ['POST', '/subscriptions/addon', { subscription_id: id, addon_id: addon }]],
  [
    'end of an add-on',
    ({ associationId }) => ['DELETE', '/subscriptions/addon', { addon_association_id: associationId }],
  ],
])('a paused subscription takes no %s', async (_what, request) => {
  const paused = await pausedWithAddon();
  const before = await subscriptionOf(api, paused.id);
  const answer = await api<{ message: string }>(...request(paused));
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  expect(answer.body.message).toContain('paused');
  expect(await subscriptionOf(api, paused.id)).toEqual(before);
});

it('but metadata, and an end', async () => {
  const { id } = await pausedWithAddon();
  expect(await api('PUT', `/subscriptions/${id}`, { metadata: { season: 'winter' } })).toMatchObject({
    status: 200,
    body: { subscription_status: 'paused', metadata: { season: 'winter' } },
  });
  await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
  expect(await subscriptionOf(api, id)).toMatchObject({ subscription_status: 'cancelled' });
});
