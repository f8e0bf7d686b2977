import { afterAll, describe, expect, it, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { usageReader } from '../../../metering/usage-reader.ts';
import { runningCosts } from '../../../services/charging/running-cost.ts';
import { recordGrants } from '../../../services/usage/entitlement-grant.ts';
import { grantedSubscriptions } from '../../../services/usage/entitlement-grant-evaluate.ts';
import { advanceTo, created, testPlatform } from '../../support/billing.ts';
import { grantFixture, hours, type Metered, made, wholePeriod } from '../wallet/grant.fixture.ts';

const { api, base } = await testPlatform();
const metering = openPostgresUsageStore(base.database);
afterAll(() => metering.close());
const { metered, grantBody, grant, call, subscribed, use } = grantFixture(api);

describe('records of budgets', () => {
  const sqlRows = (text: string, id: string) =>
    inSqlTransaction(base.database, base.scope, (tx) => tx.rows<Record<string, string>>(text, [id]));
  const recordsOf = (id: string) =>
    sqlRows(
      `select id, valid_from::text, usage::text, overage::text, grant_status, quota_crossed_at::text as crossed from entitlement_grant
       where subscription_id = $1 order by valid_from`,
      id,
    );
  const reportsOf = async (id: string) =>
    (
      await sqlRows(
        `select payload ->> 'entitlement_grant_id' as grant, payload ->> 'triggered_at' as at, payload ->> 'usage_ratio' as ratio
         from outbox_event where event_name = 'entitlement.grant.exhausted' and payload -> 'alert' ->> 'subscription_id' = $1`,
        id,
      )
    ).map(({ grant, at, ratio }) => ({ grant, at, ratio }));

  test('follow what is billed, and each that is used up is reported once when alerts are on', async () => {
    await call('PUT', '/settings/entitlement_alert_config', { value: { alert_enabled: true } });
    const on = await metered();
    await grant(on, hours('10'));
    const { id, clockId, externalId } = await subscribed(on);
    await use(on, externalId, ['04-03T01:00:00', 4], ['04-03T02:00:00.250', 11], ['04-20T00:00:00', 9]);
    const [subscription] = await inSqlTransaction(base.database, base.scope, (tx) =>
      tx.rows<{ customer_id: string }>('select customer_id from subscription where id = $1', [id]),
    );
    await advanceTo(api, clockId, '2026-04-21T00:00:00Z');
    const evaluate = () =>
      inSqlTransaction(base.database, base.scope, async (tx) => {
        const granted = await grantedSubscriptions(tx, base.scope, [subscription!.customer_id]);
        const ids = granted.map(({ subscriptionId }) => subscriptionId);
        const costs = await runningCosts(tx, base.scope, ids, usageReader(metering));
        await recordGrants(tx, base.scope, [...costs.values()]);
        return ids;
      });
    expect(await evaluate()).toEqual([id]);
    const open = await recordsOf(id);
    expect(open).toMatchObject([
      { usage: '15', overage: '5', grant_status: 'exhausted', crossed: '2026-04-03 02:00:00.25+00' },
      { usage: '9', overage: '0', grant_status: 'active', crossed: null },
    ]);
    expect(open[0]!.id).toMatch(/^eg_/);
    const reported = [{ grant: open[0]!.id, at: '2026-04-03T02:00:00.250Z', ratio: '1.5' }];
    expect(await reportsOf(id)).toEqual(reported);
    await evaluate();
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await recordsOf(id)).toEqual(open);
    expect(await reportsOf(id)).toEqual(reported);
    await call('PUT', '/settings/entitlement_alert_config', { value: { alert_enabled: false } });
    expect(await evaluate()).toEqual([]);
  });

  test('move with a late event while the period is open', async () => {
    const on = await metered();
    await grant(on, hours('10'));
    const { id, clockId, externalId } = await subscribed(on);
    await use(on, externalId, ['04-03T04:00:00', 11]);
    await advanceTo(api, clockId, '2026-05-01T01:00:00Z');
    expect(await recordsOf(id)).toMatchObject([{ valid_from: '2026-04-03 04:00:00+00', grant_status: 'exhausted' }]);
    await use(on, externalId, ['04-03T03:29:00.000007', -2]);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await recordsOf(id)).toMatchObject([
      { valid_from: '2026-04-03 03:29:00.000007+00', usage: '9', grant_status: 'active', crossed: null },
    ]);
    expect(await reportsOf(id)).toEqual([]);
  });
});

test('the usage summary shows the budget that holds now', async () => {
  const on = await metered();
  await grant(on, hours('10', 2, { grant_duration_unit: 'day' }));
  const { customerId, clockId, externalId } = await subscribed(on);
  const summary = async () => (await call('GET', `/customers/${customerId}/usage`)).body.features[0];
  expect(await summary()).toMatchObject({
    total_limit: 10,
    is_unlimited: false,
    current_usage: '0',
    next_usage_reset_at: null,
  });
  await use(on, externalId, ['04-03T01:00:00', 30], ['04-06T01:00:00', 4]);
  await advanceTo(api, clockId, '2026-04-07T00:00:00Z');
  expect(await summary()).toMatchObject({
    total_limit: 10,
    current_usage: '4',
    usage_percent: '0.4',
    next_usage_reset_at: '2026-04-08T01:00:00.000Z',
  });
});

describe('a grant configuration', () => {
  it('is changed in parts, taken away whole, and copied with its plan', async () => {
    const on = await metered();
    const { id } = await grant(on, hours('10'));
    const put = (body: object) => call('PUT', `/entitlements/${id}`, body);
    expect((await put({ grant_quota: '12.5', grant_duration_unit: 'day' })).body).toMatchObject({
      grant_measure: 'quantity',
      grant_quota: '12.5',
      grant_duration_unit: 'day',
      grant_duration_value: 5,
      grant_allocation_behavior: 'first_usage',
    });
    const clone = await created(api, `/plans/${on.planId}/clone`, { name: 'Copy', lookup_key: `copy-${made()}` });
    const [copied] = (await call('GET', `/plans/${clone.id}/entitlements`)).body.items;
    expect(copied).toMatchObject({ grant_quota: '12.5', grant_duration_unit: 'day' });
    expect((await put({ grant_duration_unit: 'subscription_period' })).body).toMatchObject({
      grant_duration_value: null,
      grant_allocation_behavior: null,
    });
    const found = async () =>
      (await call('POST', '/entitlements/search', { plan_ids: [on.planId], has_grant_config: true })).body.items.length;
    expect(await found()).toBe(1);
    expect(await put({ clear_grant_config: true, grant_quota: '1' })).toMatchObject({ status: 400 });
    expect((await put({ clear_grant_config: true })).body).toMatchObject({ grant_measure: null, grant_quota: null });
    expect(await found()).toBe(0);
  });

  it('is refused where its meter or price cannot have it', async () => {
    const refused = async (on: Metered, fields: object) => {
      const { status, body } = await call('POST', '/entitlements', grantBody(on, fields));
      return [status, Object.keys(body.details?.fields ?? {})];
    };
    const wrong = [400, ['grant_measure']];
    expect(await refused(await metered({ type: 'MAX', field: 'n' }), hours('1'))).toEqual(wrong);
    expect(await refused(await metered({ type: 'SUM', field: 'n', bucket_size: 'HOUR' }), hours('1'))).toEqual(wrong);
    const tiers = [{ up_to: null, unit_amount: '1' }];
    const tiered = await metered(undefined, { billing_model: 'TIERED', amount: undefined, tiers, tier_mode: 'SLAB' });
    expect(await refused(tiered, hours('1', 5, { grant_measure: 'amount' }))).toEqual(wrong);
    expect((await refused(tiered, hours('1')))[0]).toBe(201);
  });

  it('agrees with the others of its feature: on one owner, and on a subscription with an add-on', async () => {
    const on = await metered();
    await grant(on, hours('10', 5, { aggregation_mode: 'parallel' }));
    const refused = async (fields: object, owner?: object) => {
      const { status, body } = await call('POST', '/entitlements', grantBody(on, fields, owner));
      return [status, Object.keys(body.details?.fields ?? {})];
    };
    expect(await refused(hours('10'))).toEqual([400, ['aggregation_mode']]);
    expect(await refused(wholePeriod('5', { aggregation_mode: 'parallel', grant_measure: 'amount' }))).toEqual([
      400,
      ['grant_measure'],
    ]);
    const { id } = await subscribed(on);
    const own = { entity_type: 'SUBSCRIPTION', entity_id: id };
    expect(await refused({ usage_limit: 5 }, own)).toEqual([400, ['aggregation_mode']]);
    const addon = await created(api, '/addons', { name: 'More', lookup_key: `more-${made()}` });
    await grant(on, { usage_limit: 5 }, { entity_type: 'ADDON', entity_id: addon.id });
    const attach = await call('POST', '/subscriptions/addon', { subscription_id: id, addon_id: addon.id });
    expect(attach).toMatchObject({ status: 400, body: { message: expect.stringContaining('aggregation_mode') } });
  });
});
