import { describe, expect, it } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { applyGrants } from '../../../services/subscription/period/credit-grant-apply.ts';
import { advanceTo, clockedCustomer, created, monthlyPlan, testPlatform } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;

const monthly = { name: 'Monthly credits', cadence: 'RECURRING', credits: '100', period: 'MONTHLY', period_count: 1 };

async function offer(grants: Record<string, unknown>[] = []): Promise<Wire> {
  const { planId } = await monthlyPlan(api);
  const made: Wire[] = [];
  for (const grant of grants)
    made.push(await created<Wire>(api, '/creditgrants', { ...grant, scope: 'PLAN', plan_id: planId }));
  const clocked = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
  return { planId, ...clocked, grants: made };
}
async function subscribed({ planId, customerId }: Wire, terms: Record<string, unknown> = {}): Promise<Wire> {
  const terms_ = { customer_id: customerId, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY', ...terms };
  return created<Wire>(api, '/subscriptions', terms_);
}
async function lots(customerId: string): Promise<Wire[]> {
  const { database, scope } = platform.base;
  return inSqlTransaction(database, scope, (sql) =>
    sql.rows<Wire>(
      `select t.credit_amount::float as credits, t.transaction_reason as reason, t.expiry_date as expiry, t.metadata, t.priority
     from wallet_transaction t join wallet w on w.id = t.wallet_id where w.customer_id = $1 and t.transaction_reason = 'SUBSCRIPTION_CREDIT_GRANT' order by t.position`,
      [customerId],
    ),
  );
}
/** Day and status of each period's application, the first one first. */
async function statesOf(subscriptionId: string): Promise<string[][]> {
  const { database, scope } = platform.base;
  const rows = await inSqlTransaction(database, scope, (sql) =>
    sql.rows<Record<'day' | 'status', string>>(
      `select to_char(period_start at time zone 'UTC', 'YYYY-MM-DD') as day, application_status as status
       from credit_grant_application where subscription_id = $1 order by period_start`,
      [subscriptionId],
    ),
  );
  return rows.map(({ day, status }) => [day, status]);
}
const upcoming = async (path: string) => (await api<Wire>('GET', `${path}/grants/upcoming`)).body;

describe('credit grants of a plan', () => {
  it('are copied to a subscription, applied when it begins and in every period, at the instant', async () => {
    const on = await offer([{ ...monthly, priority: 3, expiration_type: 'BILLING_CYCLE' }]);
    const subscription = await subscribed(on);
    expect(subscription.credit_grants).toMatchObject([
      {
        id: expect.stringMatching(/^cg_/),
        name: 'Monthly credits',
        scope: 'SUBSCRIPTION',
        subscription_id: subscription.id,
        plan_id: null,
        credits: '100',
        start_date: '2026-01-15T00:00:00.000Z',
        credit_grant_anchor: '2026-01-15T00:00:00.000Z',
        end_date: null,
      },
    ]);
    const [first] = await lots(on.customerId);
    expect(first).toMatchObject({
      credits: 100,
      reason: 'SUBSCRIPTION_CREDIT_GRANT',
      priority: 3,
      metadata: { grant_id: subscription.credit_grants[0].id, subscription_id: subscription.id },
    });
    expect(new Date(first!.expiry).toISOString()).toBe('2026-02-15T00:00:00.000Z');
    const { items, pagination } = await upcoming(`/subscriptions/${subscription.id}`);
    expect(pagination.total).toBe(1);
    expect(items).toMatchObject([
      {
        scheduled_for: '2026-02-15T00:00:00.000Z',
        period_start: '2026-02-15T00:00:00.000Z',
        period_end: '2026-03-15T00:00:00.000Z',
        application_status: 'pending',
        application_reason: 'recurring_credit_grant',
        credits: 100,
        retry_count: 0,
        applied_at: null,
      },
    ]);
    expect((await upcoming(`/customers/${on.customerId}`)).items).toEqual(items);
    await advanceTo(api, on.clockId, '2026-04-16T00:00:00Z');
    expect((await lots(on.customerId)).filter(({ reason }) => reason === 'SUBSCRIPTION_CREDIT_GRANT')).toHaveLength(4);
  });

  it('begin when a trial ends, and a onetime one comes once', async () => {
    const on = await offer([{ name: 'Welcome', cadence: 'ONETIME', credits: 5 }]);
    const subscription = await subscribed(on, { trial_period_days: 10 });
    expect(await lots(on.customerId)).toEqual([]);
    expect((await upcoming(`/subscriptions/${subscription.id}`)).items).toMatchObject([
      { scheduled_for: '2026-01-25T00:00:00.000Z', period_end: null, application_reason: 'onetime_credit_grant' },
    ]);
    await advanceTo(api, on.clockId, '2026-04-01T00:00:00Z');
    expect(await lots(on.customerId)).toMatchObject([{ credits: 5 }]);
  });

  it('of a draft begin when it does', async () => {
    const on = await offer([monthly]);
    const draft = await subscribed(on, { subscription_status: 'draft' });
    expect(draft.credit_grants).toHaveLength(1);
    expect(await lots(on.customerId)).toEqual([]);
    await advanceTo(api, on.clockId, '2026-01-20T00:00:00Z');
    const start_date = '2026-01-20T00:00:00Z';
    expect(await api('POST', `/subscriptions/${draft.id}/activate`, { start_date })).toMatchObject({ status: 200 });
    expect(await lots(on.customerId)).toHaveLength(1);
    expect((await upcoming(`/subscriptions/${draft.id}`)).items).toMatchObject([
      { scheduled_for: '2026-02-20T00:00:00.000Z' },
    ]);
  });

  it('give way to those of the request', async () => {
    const on = await offer([monthly]);
    const credit_grants = [{ name: 'Own', cadence: 'ONETIME', credits: 7, start_date: '2026-02-01T00:00:00Z' }];
    const subscription = await subscribed(on, { credit_grants });
    expect(subscription.credit_grants).toMatchObject([{ name: 'Own', start_date: '2026-02-01T00:00:00.000Z' }]);
    await advanceTo(api, on.clockId, '2026-02-02T00:00:00Z');
    expect(await lots(on.customerId)).toMatchObject([{ credits: 7 }]);
  });

  it('grant-pause: skip a period that begins in a pause, and end with the subscription', async () => {
    const on = await offer([monthly]);
    const { id } = await subscribed(on);
    expect(await api('POST', `/subscriptions/${id}/pause`, {})).toMatchObject({ status: 200 });
    await advanceTo(api, on.clockId, '2026-02-20T00:00:00Z');
    expect(await api('POST', `/subscriptions/${id}/resume`, {})).toMatchObject({ status: 200 });
    await advanceTo(api, on.clockId, '2026-03-20T00:00:00Z');
    expect(await lots(on.customerId)).toHaveLength(2);
    expect(await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' })).toMatchObject({
      status: 200,
    });
    await advanceTo(api, on.clockId, '2026-06-01T00:00:00Z');
    expect(await lots(on.customerId)).toHaveLength(2);
    expect((await api('GET', `/subscriptions/${id}/grants/upcoming`)).status).toBe(404);
    expect((await upcoming(`/customers/${on.customerId}`)).pagination.total).toBe(0);
  });

  it('are replaced as a whole by a plan update; what subscriptions have stays', async () => {
    const on = await offer([monthly, { ...monthly, name: 'Second' }]);
    const subscription = await subscribed(on);
    const [first] = on.grants;
    const credit_grants = [
      { id: first.id, name: 'Renamed' },
      { name: 'Third', cadence: 'ONETIME', credits: 1 },
    ];
    const { status, body } = await api<Wire>('PUT', `/plans/${on.planId}`, { credit_grants });
    expect([status, body.credit_grants.map(({ name }: Wire) => name)]).toEqual([200, ['Renamed', 'Third']]);
    const { body: list } = await api<Wire>('GET', `/plans/${on.planId}/creditgrants`);
    expect(list.pagination.total).toBe(2);
    const { body: after } = await api<Wire>('GET', `/subscriptions/${subscription.id}`);
    expect(after.credit_grants.map(({ name }: Wire) => name)).toEqual(['Monthly credits', 'Second']);
    const { body: kept } = await api<Wire>('PUT', `/plans/${on.planId}`, { name: 'Other name' });
    expect(kept.credit_grants).toHaveLength(2);
  });
});

describe('credit grants that come late, or not at once', () => {
  it('grant-catch-up: come in order for every period since the subscription began, without those that would have expired', async () => {
    const on = await offer([
      { ...monthly, expiration_type: 'DURATION', expiration_duration: 2, expiration_duration_unit: 'MONTH' },
    ]);
    const subscription = await subscribed(on, { start_date: '2025-08-15T00:00:00Z' });
    const kept = (await lots(on.customerId)).map(({ expiry }) => new Date(expiry).toISOString().slice(0, 10));
    expect(kept).toEqual(['2026-01-15', '2026-02-15', '2026-03-15']);
    expect(await statesOf(subscription.id)).toEqual([
      ...['08', '09', '10'].map((month) => [`2025-${month}-15`, 'skipped']),
      ...['2025-11-15', '2025-12-15', '2026-01-15'].map((day) => [day, 'applied']),
      ['2026-02-15', 'pending'],
    ]);
  });

  it('grant-wallet-missing: open the wallet with the rates of the grant, and are tried again where one of other rates is in the way', async () => {
    const on = await offer([{ ...monthly, conversion_rate: 2 }]);
    await subscribed(on);
    const wallets = async (customerId: string) => (await api<Wire>('GET', `/customers/${customerId}/wallets`)).body;
    expect(await wallets(on.customerId)).toMatchObject([{ conversion_rate: '2', credit_balance: '100' }]);
    const other = { planId: on.planId, ...(await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' })) };
    const own = await created<Wire>(api, '/wallets', { customer_id: other.customerId, currency: 'usd' });
    const { id } = await subscribed(other);
    expect((await upcoming(`/subscriptions/${id}`)).items).toMatchObject([
      { application_status: 'failed', retry_count: 1, failure_reason: expect.stringContaining('other rates') },
    ]);
    expect((await api('POST', `/wallets/${own.id}/terminate`)).status).toBe(200);
    await advanceTo(api, other.clockId, '2026-01-15T01:00:00Z');
    expect(await lots(other.customerId)).toMatchObject([{ credits: 100 }]);
    expect(await statesOf(id)).toEqual([
      ['2026-01-15', 'applied'],
      ['2026-02-15', 'pending'],
    ]);
  });

  it('grant-double-tick: come once when the same period is granted twice at once', async () => {
    const on = await offer([monthly]);
    const { id: subscriptionId } = await subscribed(on);
    const [{ id: ref }] = (await upcoming(`/subscriptions/${subscriptionId}`)).items;
    const { database, scope } = platform.base;
    const tick = () =>
      inSqlTransaction(database, scope, (sql) =>
        applyGrants(sql, scope, [{ subscriptionId, at: '2026-02-15T00:00:00.000Z', ref }]),
      );
    await Promise.all([tick(), tick(), tick()]);
    await tick();
    expect(await lots(on.customerId)).toHaveLength(2);
    await advanceTo(api, on.clockId, '2026-02-20T00:00:00Z');
    expect(await lots(on.customerId)).toHaveLength(2);
    expect((await upcoming(`/subscriptions/${subscriptionId}`)).items).toMatchObject([
      { scheduled_for: '2026-03-15T00:00:00.000Z' },
    ]);
  });
});

describe('the operations on credit grants', () => {
  it('grant to one subscription at once, change its end, and delete it', async () => {
    const on = await offer();
    const { id: subscription_id } = await subscribed(on);
    const start_date = '2026-01-15T00:00:00Z';
    const grant = await created<Wire>(api, '/creditgrants', {
      ...monthly,
      scope: 'SUBSCRIPTION',
      subscription_id,
      start_date,
    });
    expect(await lots(on.customerId)).toMatchObject([{ credits: 100 }]);
    await advanceTo(api, on.clockId, '2026-02-16T00:00:00Z');
    expect(await lots(on.customerId)).toHaveLength(2);
    const changed = await api<Wire>('PUT', `/creditgrants/${grant.id}`, {
      name: 'Less',
      end_date: '2026-03-01T00:00:00Z',
    });
    expect(changed.body).toMatchObject({ name: 'Less', end_date: '2026-03-01T00:00:00.000Z' });
    expect((await upcoming(`/subscriptions/${subscription_id}`)).items).toEqual([]);
    expect((await api<Wire>('GET', `/creditgrants?subscription_ids=${subscription_id}`)).body.items).toHaveLength(1);
    expect(await api('DELETE', `/creditgrants/${grant.id}`)).toMatchObject({ status: 200 });
    await advanceTo(api, on.clockId, '2026-05-01T00:00:00Z');
    expect(await lots(on.customerId)).toHaveLength(2);
  });

  it('archive a template once', async () => {
    const on = await offer([monthly]);
    const path = `/creditgrants/${on.grants[0].id}`;
    expect(await api('DELETE', path, {})).toMatchObject({ status: 200 });
    expect((await api<Wire>('GET', path)).body.status).toBe('archived');
    const again = await api<Wire>('DELETE', path, {});
    expect([again.status, again.body.code]).toEqual([400, 'invalid_operation']);
  });

  it.each([
    ['without a name', { name: '' }, 'name'],
    ['without credits', { credits: '0' }, 'credits'],
    ['recurring without a period', { period: null }, 'period'],
    ['recurring without a count', { period_count: 0 }, 'period_count'],
    ['expiring after no time', { expiration_type: 'DURATION' }, 'expiration_duration'],
    ['expiring without a unit', { expiration_type: 'DURATION', expiration_duration: 1 }, 'expiration_duration_unit'],
    ['with a rate of 0', { conversion_rate: 0 }, 'conversion_rate'],
    ['with dates on a template', { start_date: '2026-01-15T00:00:00Z' }, 'start_date'],
    ['without the id of its scope', { plan_id: null }, 'plan_id'],
    ['with the id of another scope', { addon_id: 'addon_1' }, 'addon_id'],
    ['of an unknown scope', { scope: 'TENANT' }, 'scope'],
    ['with a negative priority', { priority: -1 }, 'priority'],
  ])('refuse one %s', async (_what, change, field) => {
    const { planId } = await monthlyPlan(api);
    const answer = await api<Wire>('POST', '/creditgrants', { ...monthly, scope: 'PLAN', plan_id: planId, ...change });
    expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([400, 'validation_error']);
    expect(answer.body.message).toContain(field);
  });

  it('refuse differing rates, unknown owners and dates outside the subscription', async () => {
    const on = await offer([{ ...monthly, conversion_rate: 2 }]);
    const post = (fields: Record<string, unknown>) => api<Wire>('POST', '/creditgrants', { ...monthly, ...fields });
    const plan = { scope: 'PLAN', plan_id: on.planId };
    expect((await post({ ...plan, conversion_rate: 2 })).status).toBe(201);
    expect((await post({ ...plan, conversion_rate: 3 })).status).toBe(400);
    expect((await post({ scope: 'PLAN', plan_id: 'plan_no' })).status).toBe(404);
    const { id } = await subscribed(on, { end_date: '2026-12-31T00:00:00Z' });
    const own = { scope: 'SUBSCRIPTION', subscription_id: id, start_date: '2026-02-01T00:00:00Z', conversion_rate: 2 };
    expect((await post({ ...own, start_date: '2026-01-01T00:00:00Z' })).status).toBe(400);
    expect((await post({ ...own, end_date: '2026-01-20T00:00:00Z' })).status).toBe(400);
    expect((await post({ ...own, end_date: '2027-01-20T00:00:00Z' })).status).toBe(400);
    expect((await post({ ...own, start_date: null })).status).toBe(400);
    const past = await api<Wire>('PUT', `/creditgrants/${on.grants[0].id}`, { end_date: '2020-01-01T00:00:00Z' });
    expect([past.status, past.body.message]).toEqual([400, expect.stringContaining('end_date')]);
  });
});
