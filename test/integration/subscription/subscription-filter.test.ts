import { beforeAll, describe, expect, it } from 'vitest';
import { created, monthlyPlan, testPlatform } from '../../support/billing.ts';
import { billedCustomer, type Wire } from '../invoice/invoice.fixture.ts';

/* Filters and parts of lists of subscriptions, in a query string and in a body. spec: subscriptions-and-invoicing §1.1.1 */

const { api } = await testPlatform();

/** Of one customer: a monthly one with a coupon, an annual one, a draft, and one that was cancelled. */
const made: Record<string, string> = {};
let customer: Wire;

beforeAll(async () => {
  const coupon = await created<Wire>(api, '/coupons', {
    name: 'Ten',
    coupon_code: 'FILTER10',
    cadence: 'forever',
    type: 'percentage',
    percentage_off: '10',
  });
  const subscription = { subscription_coupons: [{ coupon_code: coupon.coupon_code }] };
  customer = await billedCustomer({ api }, { subscription });
  made.monthly = customer.subscriptionId;
  const { planId } = await monthlyPlan(api);
  const terms = { customer_id: customer.customerId, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' };
  made.later = (await created(api, '/subscriptions', { ...terms, start_date: '2026-01-10T00:00:00Z' })).id;
  made.draft = (await created(api, '/subscriptions', { ...terms, subscription_status: 'draft' })).id;
  made.cancelled = (await created(api, '/subscriptions', terms)).id;
  const end = { cancellation_type: 'immediate' };
  expect((await api('POST', `/subscriptions/${made.cancelled}/cancel`, end)).status).toBe(200);
});

const lists = [
  {
    by: 'GET /subscriptions',
    ask: (filter: Record<string, string>) =>
      api<Wire>('GET', `/subscriptions?${new URLSearchParams({ customer_id: customer.customerId, ...filter })}`),
  },
  {
    by: 'POST /subscriptions/search',
    ask: ({ with_coupon_associations: coupons, with_line_items: items, billing_cadence, ...rest }: Wire) =>
      api<Wire>('POST', '/subscriptions/search', {
        customer_id: customer.customerId,
        ...rest,
        ...(coupons && { with_coupon_associations: coupons === 'true' }),
        ...(items && { with_line_items: items === 'true' }),
        ...(billing_cadence && { billing_cadence: billing_cadence.split(',') }),
      }),
  },
];

describe.each(lists)('$by', ({ ask }) => {
  const found = async (filter: Record<string, string>) => {
    const { status, body } = await ask(filter);
    expect(status, JSON.stringify(body)).toBe(200);
    const named = new Map(Object.entries(made).map(([name, id]) => [id, name]));
    return body.items.map(({ id }: Wire) => named.get(id)).sort();
  };

  it('by the cadence, which is RECURRING for every subscription', async () => {
    const all = ['cancelled', 'draft', 'later', 'monthly'];
    expect(await found({ billing_cadence: 'RECURRING' })).toEqual(all);
    expect(await found({ billing_cadence: 'RECURRING,ONETIME' })).toEqual(all);
    expect(await found({ billing_cadence: 'ONETIME' })).toEqual([]);
  });

  it('by the end of the current period, as an instant that belongs to it', async () => {
    expect(await found({ effective_date_for_update: '2026-02-09T23:59:59Z' })).toEqual([]);
    expect(await found({ effective_date_for_update: '2026-02-10T00:00:00Z' })).toEqual(['later']);
    expect(await found({ effective_date_for_update: '2026-02-15T00:00:00Z' })).toEqual(['later', 'monthly']);
    // Neither a draft nor what was cancelled has a next period.
    expect(await found({ effective_date_for_update: '2027-01-01T00:00:00Z' })).toEqual(['later', 'monthly']);
  });

  it('with the coupons they redeemed and with their items, unless these are refused', async () => {
    const monthly = async (filter: Record<string, string>) =>
      (await ask(filter)).body.items.find(({ id }: Wire) => id === made.monthly);
    const shown = { coupon_associations: [{ coupon: { coupon_code: 'FILTER10' } }] };
    expect(await monthly({})).toMatchObject(shown);
    expect(await monthly({ with_coupon_associations: 'true' })).toMatchObject(shown);
    const without = await monthly({ with_coupon_associations: 'false' });
    expect([without.coupon_associations, without.line_items.length]).toEqual([[], 2]);
    const bare = await monthly({ with_line_items: 'false' });
    expect([bare.line_items, bare.coupon_associations.length]).toEqual([[], 1]);
  });

  it.each([
    ['billing_cadence', 'WEEKLY', 'billing_cadence'],
    ['effective_date_for_update', 'tomorrow', 'effective_date_for_update'],
  ])('refuses a %s of %s', async (name, value, field) => {
    const { status, body } = await ask({ [name]: value });
    expect([status, body.code]).toEqual([400, 'validation_error']);
    expect(body.message).toContain(field);
  });
});
