import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../../support/billing.ts';
import { assertInvariants } from '../../../support/invariants.ts';

const { api, base } = await testPlatform();
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api);

interface Item {
  id: string;
  display_name: string;
  quantity: string;
}

/** The fee as it is now. */
const feesOf = async (id: string): Promise<Item[]> => {
  const { body } = await api<{ items: Item[] }>('POST', '/subscriptions/lineitems/search', {
    subscription_ids: [id],
    limit: 1000,
  });
  return body.items.filter((item) => item.display_name === 'Base');
};

test('32 changes of quantity and the close of the period at once: one history, each caller a true answer', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  await advanceTo(api, clockId, '2026-04-30T23:00:00Z');
  const [fee] = await feesOf(id);
  const wanted = Array.from({ length: 32 }, (_, index) => String(index + 2));
  const [answers] = await Promise.all([
    Promise.all(
      wanted.map((quantity) =>
        api<{ message?: string }>('POST', `/subscriptions/${id}/modify/execute`, {
          type: 'quantity_change',
          quantity_change_params: { line_items: [{ id: fee!.id, quantity }] },
        }),
      ),
    ),
    advanceTo(api, clockId, '2026-05-01T00:00:00Z'),
  ]);

  // All name the item as it was: one of them changes it, and to the others it has ended.
  const done = answers.flatMap(({ status }, index) => (status === 200 ? [wanted[index]] : []));
  expect(done).toHaveLength(1);
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { status, body } of refused)
    expect([status, body.message], JSON.stringify(body)).toEqual([400, expect.any(String)]);
  const fees = await feesOf(id);
  expect(fees.map(({ quantity }) => quantity)).toEqual(done);

  const row = await subscriptionOf(api, id);
  expect(row.current_period_start).toBe('2026-05-01T00:00:00.000Z');
  const invoices = await invoicesOf(api, id);
  expect(invoices.filter(({ billing_reason }) => billing_reason === 'SUBSCRIPTION_CYCLE')).toHaveLength(1);
  expect(invoices.filter(({ billing_reason }) => billing_reason === 'SUBSCRIPTION_UPDATE')).toHaveLength(1);
  await assertInvariants(base);
});

test('a change of quantity, a pause, and two ends with the close of the period: each answer is what happened', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  await advanceTo(api, clockId, '2026-04-30T23:00:00Z');
  const [fee] = await feesOf(id);
  const post = (command: string, body: object) => api('POST', `/subscriptions/${id}/${command}`, body);
  const [change, pause, end, later] = await Promise.all([
    post('modify/execute', {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: fee!.id, quantity: '3' }] },
    }),
    post('pause', {}),
    post('cancel', { cancellation_type: 'immediate' }),
    post('cancel', { cancellation_type: 'end_of_period' }),
    advanceTo(api, clockId, '2026-05-01T00:00:00Z'),
  ]);
  for (const { status, body } of [change, pause, end, later])
    expect([200, 400], JSON.stringify(body)).toContain(status);
  // Nothing in this list forbids an end now but an end that came before.
  const row = await subscriptionOf(api, id);
  expect(row.subscription_status).toBe('cancelled');
  expect(end.status === 200 || later.status === 200).toBe(true);
  const { body } = await api<[{ items: object[] }]>('GET', `/subscriptions/${id}/pauses`);
  expect(body[0].items).toHaveLength(pause.status === 200 ? 1 : 0);
  const cycles = (await invoicesOf(api, id)).filter(({ billing_reason }) => billing_reason === 'SUBSCRIPTION_CYCLE');
  expect(new Set(cycles.map(({ period_start }) => period_start)).size).toBe(cycles.length);
  await assertInvariants(base);
});
