import { describe, expect, it } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../../support/billing.ts';
import { addonWith, associationsOf, attach, detach } from '../../catalogue/addon.fixture.ts';

const { api } = await testPlatform();
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api);

/** A subscription that began on 1 April 2026 and whose customer's present is `now`. */
async function subscribed(now = '2026-04-16T00:00:00Z', fields: object = {}) {
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, ...fields });
  if (now > '2026-04-01T00:00:00Z') await advanceTo(api, clockId, now);
  return { id, clockId, customerId, externalId };
}

describe('attaching is refused', () => {
  const attachTo = (subscription_id: string, addon_id: string, fields: object = {}) =>
    api('POST', '/subscriptions/addon', { subscription_id, addon_id, ...fields });

  it('for what does not exist, is archived or does not fit', async () => {
    const { id } = await subscribed();
    const addon = await addonWith(api);
    const archived = await addonWith(api, []);
    await api('DELETE', `/addons/${archived}`);
    const euros = await addonWith(api, [{ currency: 'eur' }]);
    const longer = await addonWith(api, [{ billing_period_count: 5 }]);
    const cases: [object, number, string][] = [
      [{ subscription_id: 'subs_none' }, 404, 'subs_none'],
      [{ addon_id: 'addon_none' }, 404, 'addon_none'],
      [{ addon_id: archived }, 400, 'archived'],
      [{ addon_id: euros }, 400, 'usd'],
      [{ quantity: 0 }, 400, 'quantity'],
      [{ cadence: 'twice' }, 400, 'cadence'],
      [{ start_date: '2026-03-31T00:00:00Z' }, 400, 'start_date'],
      [{ proration_behavior: 'some' }, 400, 'proration_behavior'],
      [{ override_line_items: [{ price_id: 'x' }] }, 400, 'override_line_items'],
      [{ override_line_items: [{ price_id: 'x', amount: '1' }] }, 400, 'override_line_items[0].price_id'],
      [
        { line_item_commitments: { x: { commitment_amount: '1', overage_factor: '2' } } },
        400,
        'line_item_commitments.x',
      ],
      [{ checkout: { payment_provider: 'x' } }, 400, 'payment_provider'],
    ];
    for (const [fields, status, word] of cases) {
      const answer = await attachTo(id, addon, fields);
      expect([answer.status, answer.body.message], word).toEqual([status, expect.stringContaining(word)]);
    }
    expect(await associationsOf(api, id)).toEqual([]);
    expect((await attachTo(id, longer)).status).toBe(200);
  });

  it('for a second attachment of a onetime add-on, until the first is over', async () => {
    const { id, clockId } = await subscribed();
    const addon = await addonWith(api, [{}], 'onetime');
    const first = await attach(api, id, addon);
    expect(await attachTo(id, addon)).toMatchObject({ status: 409, body: { code: 'already_exists' } });
    await detach(api, { addon_association_id: first.id });
    expect((await attachTo(id, addon)).status).toBe(409);
    await advanceTo(api, clockId, '2026-05-01T00:00:00Z');
    expect((await attachTo(id, addon)).status).toBe(200);
  });

  it('for a subscription that has ended or whose end comes before', async () => {
    const { id } = await subscribed();
    const addon = await addonWith(api);
    await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' });
    const late = await attachTo(id, addon, { start_date: '2026-05-01T00:00:00Z' });
    expect(late).toMatchObject({ status: 400, body: { message: expect.stringContaining('start_date') } });
    const { id: association } = await attach(api, id, addon);
    await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
    expect(await attachTo(id, addon)).toMatchObject({
      status: 400,
      body: { code: 'validation_error', message: expect.stringContaining('cancelled') },
    });
    expect(await associationsOf(api, id)).toEqual([]);
    expect(await detach(api, { addon_association_id: association })).toMatchObject({ status: 400 });
  });
});
