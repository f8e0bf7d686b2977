import { afterAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../../api/app.ts';
import { accountWithRoles } from '../../support/account.ts';
import { many, type Refused, refusalWorld } from '../catalogue/catalogue-errors.fixture.ts';

/*
 * Chapter 13 of catalogue-and-metering, row by row: the answer, the field and the remedy in the message, and that nothing was
 * written. Rows 28 and after, and those that hold for every row.
 */

const {
  plan,
  feature,
  archivedFeature,
  statics,
  attachedAddon,
  granted,
  customer,
  livePrice,
  deletedCostsheet,
  price,
  usage,
  metered,
  meter,
  event,
  granting,
  usageQuery,
  span,
  at,
  app,
  call,
  database,
  scope,
  api,
  stored,
  endByHand,
  expectRefusal,
} = await refusalWorld();
afterAll(endByHand);

// biome-ignore format: a table, a case a line
const cases: Refused[] = [
  [28, 'a group of plans', 'POST', '/groups', { name: 'x', entity_type: 'plan', lookup_key: 'x' }, 400, 'entity_type'],
  [28, 'a group without a name', 'POST', '/groups', { entity_type: 'price', lookup_key: 'x' }, 400, 'name'],
  [28, 'a group without a type', 'POST', '/groups', { name: 'x', lookup_key: 'x' }, 400, 'entity_type'],
  [28, 'a group without a lookup key', 'POST', '/groups', { name: 'x', entity_type: 'price' }, 400, 'lookup_key'],
  [28, 'a group with blanks', 'POST', '/groups', { name: ' ', entity_type: 'price', lookup_key: 'x' }, 400, 'name'],
  [29, 'a metered feature without a meter', 'POST', '/features', { name: 'x', type: 'metered' }, 400, 'meter'],
  [29, 'a meter twice', 'POST', '/features', { name: 'x', type: 'metered', meter, meter_id: feature.meter_id }, 400, 'meter'],
  [29, 'a meter on a boolean feature', 'POST', '/features', { name: 'x', type: 'boolean', meter }, 400, 'meter'],
  [29, 'half of the unit pair', 'POST', '/features', { name: 'x', type: 'boolean', unit_plural: 'xs' }, 400, 'unit_singular'],
  [29, 'a reporting rate of 0', 'POST', '/features', { name: 'x', type: 'boolean', reporting_unit: { unit_singular: 'a', unit_plural: 'b', conversion_rate: 0 } }, 400, 'conversion_rate'],
  [29, 'a SUM meter without a field', 'POST', '/features', { name: 'x', type: 'metered', meter: { ...meter, aggregation: { type: 'SUM' } } }, 400, 'meter.aggregation.field'],
  [29, 'an unknown meter', 'POST', '/features', { name: 'x', type: 'metered', meter_id: 'meter_none' }, 404, 'meter_none'],
  [29, 'alerts without a threshold', 'POST', '/features', { name: 'x', type: 'boolean', alert_settings: { alert_enabled: true } }, 400, 'alert_settings'],
  [30, 'another type', 'PUT', `/features/${feature.id}`, { type: 'boolean' }, 400, 'type'],
  [30, 'another meter', 'PUT', `/features/${feature.id}`, { meter_id: granted.meter_id }, 400, 'meter_id'],
  [30, 'another lookup key', 'PUT', `/features/${feature.id}`, { lookup_key: 'other' }, 400, 'lookup_key'],
  [31, 'a granted feature', 'DELETE', `/features/${granted.id}`, undefined, 400, 'entitlement', 'invalid_operation'],
  [32, 'no event name', 'POST', '/meters', { ...meter, event_name: ' ' }, 400, 'event_name'],
  [32, 'buckets with COUNT', 'POST', '/meters', { ...meter, aggregation: { type: 'COUNT', bucket_size: 'HOUR' } }, 400, 'bucket_size'],
  [32, 'groups without buckets', 'POST', '/meters', { ...meter, aggregation: { type: 'MAX', field: 'n', group_by: 'k' } }, 400, 'group_by'],
  [32, 'a multiplier of 0', 'POST', '/meters', { ...meter, aggregation: { type: 'SUM_WITH_MULTIPLIER', field: 'n', multiplier: '0' } }, 400, 'multiplier'],
  [32, 'a multiplier that has no use', 'POST', '/meters', { ...meter, aggregation: { type: 'SUM', field: 'n', multiplier: '2' } }, 400, 'multiplier'],
  [32, 'an expression with COUNT', 'POST', '/meters', { ...meter, aggregation: { type: 'COUNT', expression: 'a' } }, 400, 'expression'],
  [32, 'an expression beside a field', 'POST', '/meters', { ...meter, aggregation: { type: 'SUM', field: 'n', expression: 'a' } }, 400, 'aggregation.expression'],
  [32, 'an expression that does not parse', 'POST', '/meters', { ...meter, aggregation: { type: 'SUM', expression: 'a +' } }, 400, 'aggregation.expression'],
  [32, 'an expression of numbers alone', 'POST', '/meters', { ...meter, aggregation: { type: 'SUM', expression: '1 + 2' } }, 400, 'aggregation.expression'],
  [32, 'an expression without end', 'POST', '/meters', { ...meter, aggregation: { type: 'SUM', expression: `a${' + a'.repeat(500)}` } }, 400, 'aggregation.expression'],
  [32, 'an unknown bucket', 'POST', '/meters', { ...meter, aggregation: { type: 'SUM', field: 'n', bucket_size: '2HOUR' } }, 400, 'bucket_size'],
  [32, 'a bucket on a price of a counting meter', 'POST', '/prices', { ...usage, bucket_size: 'HOUR' }, 400, 'bucket_size'],
  [32, 'a filter without values', 'POST', '/meters', { ...meter, filters: [{ key: 'a', values: [] }] }, 400, 'filters[0].values'],
  [
    32,
    'a filter twice',
    'POST',
    '/meters',
    {
      ...meter,
      filters: [
        { key: 'a', values: ['1'] },
        { key: 'a', values: ['2'] },
      ],
    },
    400,
    'filters[1].key',
  ],
  [33, 'no event name', 'POST', '/events', { external_customer_id: 'known' }, 400, 'event_name'],
  [33, 'a blank event name', 'POST', '/events', { ...event, event_name: ' ' }, 400, 'event_name'],
  [33, 'no customer', 'POST', '/events', { event_name: 'e' }, 400, 'external_customer_id'],
  [33, 'a blank customer', 'POST', '/events', { ...event, external_customer_id: '' }, 400, 'external_customer_id'],
  [33, 'properties that are a list', 'POST', '/events', { ...event, properties: [1] }, 400, 'properties'],
  [33, 'properties that are text', 'POST', '/events', { ...event, properties: 'a=1' }, 400, 'properties'],
  [33, 'a bad timestamp', 'POST', '/events', { ...event, timestamp: 'yesterday' }, 400, 'timestamp'],
  [33, 'a day that does not exist', 'POST', '/events', { ...event, timestamp: '2026-02-30T00:00:00Z' }, 400, 'timestamp'],
  [33, 'an id of 256 characters', 'POST', '/events', { ...event, event_id: 'x'.repeat(256) }, 400, 'event_id'],
  [35, 'no event', 'POST', '/events/bulk', { events: [] }, 400, 'events'],
  [35, 'too many events', 'POST', '/events/bulk', { events: many(1001, () => event) }, 400, 'events'],
  [35, 'a bad second event', 'POST', '/events/bulk', { events: [event, { ...event, event_name: '' }] }, 400, 'events[1].event_name'],
  [35, 'a second event without a customer', 'POST', '/events/bulk', { events: [event, { event_name: 'e' }] }, 400, 'events[1].external_customer_id'],
  [37, 'a malformed cursor', 'POST', '/events/query', { iter_last_key: 'here' }, 400, 'iter_last_key'],
  [37, 'two cursors', 'POST', '/events/query', { iter_last_key: '1::a', iter_first_key: '1::b' }, 400, 'iter_'],
  [37, 'an end before the start', 'POST', '/events/query', span, 400, 'end_time'],
  [37, 'a bad sort', 'POST', '/events/query', { sort: 'source' }, 400, 'sort'],
  [37, 'a bad order', 'POST', '/events/query', { order: 'up' }, 400, 'order'],
  [38, 'an unknown event', 'GET', '/events/none', undefined, 404, 'none'],
  [38, 'a lookup of nothing', 'GET', '/events/lookup', undefined, 400, 'id'],
  [39, 'usage of no event', 'POST', '/events/usage', { aggregation_type: 'COUNT' }, 400, 'event_name'],
  [39, 'usage without an aggregation', 'POST', '/events/usage', { event_name: 'e' }, 400, 'aggregation_type'],
  [39, 'an unknown aggregation', 'POST', '/events/usage', { ...usageQuery, aggregation_type: 'MEDIAN' }, 400, 'aggregation_type'],
  [39, 'a multiplier that has no use', 'POST', '/events/usage', { ...usageQuery, multiplier: '2' }, 400, 'multiplier'],
  [39, 'a multiplier of 0', 'POST', '/events/usage', { ...usageQuery, aggregation_type: 'SUM_WITH_MULTIPLIER', multiplier: '0' }, 400, 'multiplier'],
  [39, 'no multiplier', 'POST', '/events/usage', { ...usageQuery, aggregation_type: 'SUM_WITH_MULTIPLIER' }, 400, 'multiplier'],
  [39, 'a bad window', 'POST', '/events/usage', { ...usageQuery, window_size: 'FORTNIGHT' }, 400, 'window_size'],
  [39, 'a bad group key', 'POST', '/events/usage', { ...usageQuery, group_by: 'region; drop' }, 400, 'group_by'],
  [39, 'an end before the start', 'POST', '/events/usage', { ...usageQuery, ...span }, 400, 'end_time'],
  [40, 'an unknown meter', 'POST', '/events/usage/meter', { meter_id: 'meter_none' }, 404, 'meter_none'],
  [41, 'a bad grouping', 'POST', '/events/analytics', { external_customer_id: 'known', group_by: ['mood'] }, 400, 'group_by'],
  [41, 'a bad expansion', 'POST', '/events/analytics', { external_customer_id: 'known', expand: ['secret'] }, 400, 'expand'],
  [41, 'nobody', 'POST', '/events/analytics', {}, 400, 'external_customer_id'],
  [41, 'an unknown customer', 'POST', '/events/analytics', { external_customer_id: 'nobody' }, 404, 'nobody'],
  [41, 'an end before the start, whose customer is unknown', 'POST', '/events/analytics', { external_customer_id: 'nobody', ...span }, 400, 'end_time'],
  [42, 'another feature type', 'POST', '/entitlements', { ...metered, feature_type: 'boolean' }, 400, 'feature_type'],
  [42, 'a static feature without a value', 'POST', '/entitlements', { ...metered, feature_id: statics.id, feature_type: 'static' }, 400, 'static_value'],
  [42, 'a configuration on another type', 'POST', '/entitlements', { ...metered, config_value: { a: 1 } }, 400, 'config_value'],
  [42, 'a bad reset period', 'POST', '/entitlements', { ...metered, usage_reset_period: 'HOURLY' }, 400, 'usage_reset_period'],
  [42, 'a negative limit', 'POST', '/entitlements', { ...metered, usage_limit: -1 }, 400, 'usage_limit'],
  [42, 'no owner', 'POST', '/entitlements', { ...metered, plan_id: undefined }, 400, 'plan_id'],
  [42, 'an end before the start', 'POST', '/entitlements', { ...metered, start_date: '2026-02-01T00:00:00Z', end_date: '2026-01-01T00:00:00Z' }, 400, 'end_date'],
  [43, 'an unknown add-on', 'POST', '/entitlements', { ...metered, plan_id: undefined, entity_type: 'ADDON', entity_id: 'addon_none' }, 404, 'addon_none'],
  [43, 'an unknown plan', 'POST', '/entitlements', { ...metered, plan_id: 'plan_none' }, 404, 'plan_none'],
  [43, 'an unknown feature', 'POST', '/entitlements', { ...metered, feature_id: 'feat_none' }, 404, 'feat_none'],
  [43, 'an archived feature', 'POST', '/entitlements', { ...metered, feature_id: archivedFeature.id, feature_type: 'boolean' }, 400, archivedFeature.id, 'invalid_operation'],
  [43, 'an unknown plan in bulk', 'POST', '/entitlements/bulk', { items: [{ ...metered, plan_id: 'plan_none' }] }, 400, 'items[0]'],
  [44, 'a second grant', 'POST', '/entitlements', { ...metered, feature_id: granted.id }, 409, granted.id, 'already_exists'],
  [45, 'parallel without a grant', 'POST', '/entitlements', { ...metered, aggregation_mode: 'parallel' }, 400, 'aggregation_mode'],
  [45, 'a part of a grant', 'POST', '/entitlements', { ...metered, grant_quota: '10' }, 400, 'grant_measure'],
  [45, 'a grant without a duration', 'POST', '/entitlements', { ...metered, ...granting, grant_duration_value: null }, 400, 'grant_duration_value'],
  [45, 'a grant of a static feature', 'POST', '/entitlements', { ...metered, feature_id: statics.id, feature_type: 'static', static_value: 'a', ...granting }, 400, 'grant_measure'],
  [45, 'a grant shorter than an hour', 'POST', '/entitlements', { ...metered, ...granting, grant_duration_value: 0 }, 400, 'grant_duration_value'],
  [45, 'a grant of nothing', 'POST', '/entitlements', { ...metered, ...granting, grant_quota: '0' }, 400, 'grant_quota'],
  [45, 'a whole period with a length', 'POST', '/entitlements', { ...metered, ...granting, grant_duration_unit: 'subscription_period' }, 400, 'grant_duration_value'],
  [45, 'a whole period with a behaviour', 'POST', '/entitlements', { ...metered, ...granting, grant_duration_unit: 'subscription_period', grant_duration_value: null, grant_allocation_behavior: 'unit_start' }, 400, 'grant_allocation_behavior'],
  [46, 'an attached add-on', 'DELETE', `/addons/${attachedAddon.id}`, undefined, 400, attachedAddon.id],
  [47, 'a cost sheet without a name', 'POST', '/costs', { name: '' }, 400, 'name'],
  [47, 'a cost sheet with a long name', 'POST', '/costs', { name: 'x'.repeat(256) }, 400, 'name'],
  [47, 'a cost sheet of a taken name', 'POST', '/costs', { name: 'taken' }, 409, 'taken', 'already_exists'],
  [47, 'a cost sheet of a taken lookup key', 'POST', '/costs', { name: 'x', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [48, 'a start without an end', 'POST', '/costs/analytics', { start_time: '2026-01-01T00:00:00Z' }, 400, 'end_time'],
  [48, 'an end without a start', 'POST', '/costs/analytics', { end_time: '2026-01-01T00:00:00Z' }, 400, 'start_time'],
  [48, 'an end before the start, whose customer is unknown', 'POST', '/costs/analytics', { external_customer_id: 'nobody', ...span }, 400, 'end_time'],
  [49, 'a cost sheet deleted before', 'DELETE', `/costs/${deletedCostsheet}`, undefined, 400, deletedCostsheet],
  [50, 'usage of nobody', 'GET', '/customers/usage', undefined, 400, 'customer_id'],
  [50, 'usage of an unknown customer', 'GET', '/customers/usage?customer_id=cust_none', undefined, 404, 'cust_none'],
  [50, 'usage of an unknown lookup key', 'GET', '/customers/usage?customer_lookup_key=nobody', undefined, 404, 'nobody'],
  [53, 'a workflow engine that is down', 'POST', '/subscriptions', { customer_id: customer.id, plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY' }, 503, 'again', 'service_unavailable'],
];

describe('the error table', () => {
  it.each(cases)('row %i refuses %s', async (...refused) => expectRefusal(...refused));

  it('row 1 refuses a call without a key, and with a wrong one', async () => {
    const before = await stored();
    const nouns = ['plans', 'prices', 'features', 'meters', 'entitlements', 'addons', 'events'];
    const requests = [...nouns.map((noun) => ['GET', `/v1/${noun}`] as const), ['POST', '/v1/groups/search'] as const];
    for (const [method, path] of requests) {
      for (const apiKey of [null, 'sk_wrong']) {
        expect(await call(method, path, { apiKey }), path).toMatchObject({
          status: 401,
          body: { code: 'permission_denied', http_status_code: 401 },
        });
      }
    }
    expect(await stored()).toBe(before);
  });

  it('row 34 accepts an unknown customer and an unknown event name', async () => {
    const body = { event_name: 'unheard-of', external_customer_id: 'unknown' };
    expect((await call('POST', '/v1/events', { body })).status).toBe(202);
  });

  it('row 36 refuses a body that is too large', async () => {
    const before = await stored();
    const properties = { text: 'x'.repeat(33 * 1024 * 1024) };
    const tooLarge = await call('POST', '/v1/events', { body: { ...event, properties } });
    expect(tooLarge).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(tooLarge.body.message).toMatch(/larger.*32 MiB.*Send less/);
    const description = 'x'.repeat(6 * 1024 * 1024);
    const plain = await call('POST', '/v1/plans', { body: { name: 'x', description } });
    expect(plain).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(await stored()).toBe(before);
  });

  it('row 51 refuses what the role does not allow', async () => {
    const { apiKey } = await accountWithRoles(database, scope, ['event_ingestor'], 'service_account');
    const unchanged = await stored();
    const requests = [
      ['POST', '/v1/plans', { name: 'x' }],
      ['POST', '/v1/prices', price],
      ['POST', '/v1/prices/estimate', { price_id: livePrice.id, quantity: 1 }],
      ['POST', `/v1/plans/${plan.id}/simulate`, { current_plan_id: plan.id, start_time: at, end_time: at }],
      ['DELETE', `/v1/features/${feature.id}`, undefined],
      ['GET', `/v1/plans/${plan.id}`, undefined],
    ] as const;
    for (const [method, path, body] of requests) {
      const answer = await call(method, path, { body, apiKey });
      expect(answer, path).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
      expect(answer.body.message).toContain('permission');
    }
    expect(await stored()).toBe(unchanged);
  });

  it('row 52 refuses more requests than the limit', async () => {
    const { dependencies } = app;
    const limited = await buildApp({ ...dependencies, config: { ...dependencies.config, rateLimitPerSecond: 1 } });
    const request = { method: 'GET', url: '/v1/plans', headers: { 'x-api-key': api.apiKey } } as const;
    const answers = await Promise.all(many(5, () => limited.inject(request)));
    const refused = answers.filter((answer) => answer.statusCode === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]!.json()).toMatchObject({ code: 'too_many_requests', http_status_code: 429 });
    expect(refused[0]!.headers['retry-after']).toBeDefined();
    await limited.close();
  });
});
