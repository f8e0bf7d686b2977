import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const { api } = await testPlatform();
const monthly = {
  name: 'Monthly credits',
  scope: 'PLAN',
  cadence: 'RECURRING',
  credits: '10',
  period: 'MONTHLY',
  period_count: 1,
  expiration_type: 'BILLING_CYCLE',
};

/** Usage of 20.00 in January and of 4.00 in February, under a plan that grants ten credits a month. */
async function lived(pays: Record<string, unknown>) {
  const plan = await monthlyPlan(api, { perCall: '1' });
  const grant = await created<Wire>(api, '/creditgrants', { ...monthly, plan_id: plan.planId, ...pays });
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  const subscription = await subscribe(api, { customer_id: customerId, plan_id: plan.planId });
  const used = (count: number, timestamp: string) =>
    Array.from({ length: count }, () => ({
      event_name: plan.eventName,
      external_customer_id: externalId,
      event_id: randomUUID(),
      timestamp,
    }));
  const events = [...used(20, '2026-01-10T00:00:00Z'), ...used(4, '2026-02-10T00:00:00Z')];
  await created(api, '/events/bulk', { events });
  await advanceTo(api, clockId, '2026-03-02T00:00:00Z');
  const cycles = (await invoicesOf(api, subscription.id)).filter(
    ({ billing_reason }) => billing_reason === 'SUBSCRIPTION_CYCLE',
  );
  const { body: transactions } = await api<Wire>('POST', '/wallets/transactions/search', { type: 'credit' });
  const granted = transactions.items.filter((one: Wire) => one.customer_id === customerId);
  return { grant, customerId, applied: cycles.map((invoice) => invoice.total_prepaid_credits_applied), granted };
}

/** docs/credit-grants.md has the same figures. spec: wallets-and-payments §2.4, README decision 49 */
describe('the credits of a new period', () => {
  it('pay the usage of the one before, too, unless told otherwise', async () => {
    const { grant, applied, granted } = await lived({});
    expect(grant.pays).toBe('any_open_invoice');
    expect(applied).toEqual(['20', '4']);
    for (const lot of granted) expect(lot.pays_from).toBeNull();
  });

  it('pay only from their grant on, where the grant says so', async () => {
    const { grant, applied, granted } = await lived({ pays: 'from_grant_on' });
    expect(grant.pays).toBe('from_grant_on');
    expect(applied).toEqual(['10', '4']);
    expect(granted.map((lot: Wire) => lot.pays_from).sort()).toEqual([
      '2026-01-01T00:00:00.000Z',
      '2026-02-01T00:00:00.000Z',
      '2026-03-01T00:00:00.000Z',
    ]);
  });

  it('follow the choice of a grant that is asked for with the subscription', async () => {
    const plan = await monthlyPlan(api);
    const { customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
    const { scope: _scope, ...own } = monthly;
    const body = { customer_id: customerId, plan_id: plan.planId, credit_grants: [{ ...own, pays: 'from_grant_on' }] };
    const made = (await subscribe(api, body)) as unknown as Wire;
    expect(made.credit_grants).toMatchObject([{ pays: 'from_grant_on' }]);
  });
});

it('any other choice is refused by name', async () => {
  const { planId } = await monthlyPlan(api);
  expect(await api('POST', '/creditgrants', { ...monthly, plan_id: planId, pays: 'later' })).toMatchObject({
    status: 400,
    body: { code: 'validation_error', message: expect.stringContaining('pays') },
  });
});
