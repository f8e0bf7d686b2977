import { beforeEach, describe, expect, it } from 'vitest';
import { inSqlTransaction } from '../../db/transaction.ts';
import { testApi } from '../support/api.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';

/* Chapter 13 of catalogue-and-metering, row by row: the answer, the field in the message, and that nothing was written. */

const api = await testApi();
const { call, database, scope } = api;
const { createPlan, createPrice, createFeature, createEntitlement } = catalogue(api);

const plan = await createPlan({ lookup_key: 'taken' });
const archivedPlan = await createPlan();
await call('DELETE', `/v1/plans/${archivedPlan.id}`);
const feature = await createFeature({ lookup_key: 'taken' });
const archivedFeature = await createFeature({ type: 'boolean' });
await call('DELETE', `/v1/features/${archivedFeature.id}`);
const statics = await createFeature({ type: 'static' });
await call('POST', '/v1/addons', { body: { name: 'Taken', lookup_key: 'taken' } });
const granted = await createFeature();
await createEntitlement(plan, granted);
await createPrice(plan, { lookup_key: 'taken' });
const archivedMeter = (await createFeature()).meter_id;
await call('DELETE', `/v1/meters/${archivedMeter}`);

const price = { ...flatPrice, plan_id: plan.id };
const usage = { ...price, type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: feature.meter_id };
const tiered = { ...price, billing_model: 'TIERED', amount: undefined };
const metered = { plan_id: plan.id, feature_id: feature.id, feature_type: 'metered' };
const meter = { name: 'm', event_name: 'e', reset_usage: 'BILLING_PERIOD', aggregation: { type: 'COUNT' } };
const condition = { field: 'name', operator: 'eq', data_type: 'string', value: { string: 'x' } };
const priceUnit = { price_unit_type: 'CUSTOM', price_unit_config: { price_unit: 'tok', amount: '1' } };

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** Row of the chapter, what is wrong, the request, the status, and a word of the message (the field). */
type Case = [
  row: number,
  name: string,
  method: Method,
  path: string,
  body: unknown,
  status: number,
  word: string,
  code?: string,
];

// biome-ignore format: a table, a case a line
const cases: Case[] = [
  [2, 'a wrong JSON type', 'POST', '/plans', { name: 5 }, 400, 'name'],
  [2, 'an unknown enumeration value', 'POST', '/prices', { ...price, type: 'SOMETIMES' }, 400, 'type'],
  [2, 'a bad timestamp', 'POST', '/prices', { ...price, start_date: '2026-01-01' }, 400, 'start_date'],
  [2, 'a bad decimal', 'POST', '/prices', { ...price, amount: 'ten' }, 400, 'amount'],
  [2, 'metadata that is not text', 'POST', '/plans', { name: 'x', metadata: { a: 1 } }, 400, 'metadata.a'],
  [2, 'no body', 'POST', '/plans', undefined, 400, 'body'],
  ...['plans', 'prices', 'features', 'meters', 'entitlements', 'addons'].map((noun): Case => [3, `an unknown id of ${noun}`, 'GET', `/${noun}/none`, undefined, 404, 'none']),
  ...['plans', 'prices', 'features', 'entitlements', 'addons'].flatMap((noun): Case[] => [
    [4, `a limit above 1000 on ${noun}`, 'POST', `/${noun}/search`, { limit: 1001 }, 400, 'limit'],
    [4, `a negative limit on ${noun}`, 'GET', `/${noun}?limit=-1`, undefined, 400, 'limit'],
    [4, `a negative offset on ${noun}`, 'POST', `/${noun}/search`, { offset: -1 }, 400, 'offset'],
    [4, `a bad order on ${noun}`, 'POST', `/${noun}/search`, { order: 'up' }, 400, 'order'],
    [4, `a bad sort on ${noun}`, 'POST', `/${noun}/search`, { sort: 'secret' }, 400, 'sort'],
    [4, `a bad expand on ${noun}`, 'GET', `/${noun}?expand=secret`, undefined, 400, 'expand'],
    [4, `an empty id on ${noun}`, 'POST', `/${noun}/search`, { [`${noun.slice(0, -1)}_ids`]: [''], feature_ids: [''] }, 400, '_ids'],
    [4, `an end before the start on ${noun}`, 'POST', `/${noun}/search`, { start_time: '2026-02-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' }, 400, 'end_time'],
    [5, `a condition without a member on ${noun}`, 'POST', `/${noun}/search`, { filters: [{ ...condition, operator: undefined }] }, 400, 'operator'],
    [5, `an unknown field on ${noun}`, 'POST', `/${noun}/search`, { filters: [{ ...condition, field: 'tenant_id' }] }, 400, 'field'],
    [5, `an unknown operator on ${noun}`, 'POST', `/${noun}/search`, { filters: [{ ...condition, operator: 'like' }] }, 400, 'operator'],
    [5, `a mismatching value on ${noun}`, 'POST', `/${noun}/search`, { filters: [{ ...condition, field: 'id', value: { number: 3 } }] }, 400, 'value'],
  ]),
  [6, 'a missing name', 'POST', '/plans', {}, 400, 'name'],
  [6, 'a blank name', 'POST', '/plans', { name: ' ' }, 400, 'name'],
  [7, 'a taken lookup key of a plan', 'POST', '/plans', { name: 'x', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [7, 'a taken lookup key of a feature', 'POST', '/features', { name: 'x', type: 'boolean', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [7, 'a taken lookup key of an add-on', 'POST', '/addons', { name: 'x', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [7, 'a taken lookup key of a clone', 'POST', `/plans/${plan.id}/clone`, { name: 'x', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [7, 'a taken lookup key of a feature clone', 'POST', `/features/${feature.id}/clone`, { name: 'x', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [9, 'a clone without a name', 'POST', `/plans/${plan.id}/clone`, { lookup_key: 'x' }, 400, 'name'],
  [9, 'a clone without a lookup key', 'POST', `/plans/${plan.id}/clone`, { name: 'x' }, 400, 'lookup_key'],
  [11, 'a currency of two letters', 'POST', '/prices', { ...price, currency: 'us' }, 400, 'currency'],
  [12, 'an unknown owner', 'POST', '/prices', { ...price, plan_id: 'plan_none' }, 404, 'plan_none'],
  [12, 'an archived owner', 'POST', '/prices', { ...price, plan_id: archivedPlan.id }, 400, archivedPlan.id, 'invalid_operation'],
  [12, 'no owner', 'POST', '/prices', flatPrice, 400, 'entity_type'],
  [12, 'an owner without id', 'POST', '/prices', { ...flatPrice, entity_type: 'PLAN' }, 400, 'entity_id'],
  [12, 'a price as owner', 'POST', '/prices', { ...flatPrice, entity_type: 'PRICE', entity_id: 'price_x' }, 400, 'entity_type'],
  [12, 'two owners', 'POST', '/prices', { ...price, entity_type: 'SUBSCRIPTION', entity_id: 'subs_x' }, 400, 'plan_id'],
  [13, 'usage without a meter', 'POST', '/prices', { ...usage, meter_id: undefined }, 400, 'meter_id'],
  [13, 'an unknown meter', 'POST', '/prices', { ...usage, meter_id: 'meter_none' }, 404, 'meter_none'],
  [13, 'an archived meter', 'POST', '/prices', { ...usage, meter_id: archivedMeter }, 404, archivedMeter],
  [14, 'usage in advance', 'POST', '/prices', { ...usage, invoice_cadence: 'ADVANCE' }, 400, 'invoice_cadence'],
  [14, 'one-time in arrears', 'POST', '/prices', { ...price, billing_period: 'ONETIME', invoice_cadence: 'ARREAR' }, 400, 'invoice_cadence'],
  [15, 'a package without a size', 'POST', '/prices', { ...price, billing_model: 'PACKAGE' }, 400, 'transform_quantity'],
  [15, 'a package of zero', 'POST', '/prices', { ...price, billing_model: 'PACKAGE', transform_quantity: { divide_by: 0 } }, 400, 'divide_by'],
  [15, 'a package rounded sideways', 'POST', '/prices', { ...price, billing_model: 'PACKAGE', transform_quantity: { divide_by: 1, round: 'near' } }, 400, 'round'],
  [16, 'no tiers', 'POST', '/prices', tiered, 400, 'tiers'],
  [16, 'an empty tier table', 'POST', '/prices', { ...tiered, tiers: [] }, 400, 'tiers'],
  [
    16,
    'a limit twice',
    'POST',
    '/prices',
    {
      ...tiered,
      tiers: [
        { up_to: 1, unit_amount: '1' },
        { up_to: 1, unit_amount: '2' },
      ],
    },
    400,
    'up_to',
  ],
  [16, 'two open tiers', 'POST', '/prices', { ...tiered, tiers: [{ up_to: null, unit_amount: '1' }, { unit_amount: '2' }] }, 400, 'up_to'],
  [16, 'a limit of 0', 'POST', '/prices', { ...tiered, tiers: [{ up_to: 0, unit_amount: '1' }] }, 400, 'tiers[0].up_to'],
  [16, 'a tier without an amount', 'POST', '/prices', { ...tiered, tiers: [{ up_to: 1 }] }, 400, 'tiers[0].unit_amount'],
  [16, 'a negative unit amount', 'POST', '/prices', { ...tiered, tiers: [{ unit_amount: '-1' }] }, 400, 'tiers[0].unit_amount'],
  [16, 'a negative flat amount', 'POST', '/prices', { ...tiered, tiers: [{ unit_amount: '1', flat_amount: '-1' }] }, 400, 'tiers[0].flat_amount'],
  [16, 'tiers on a flat fee', 'POST', '/prices', { ...price, tiers: [{ unit_amount: '1' }] }, 400, 'tiers'],
  [17, 'a flat fee without an amount', 'POST', '/prices', { ...price, amount: null }, 400, 'amount'],
  [17, 'a negative amount', 'POST', '/prices', { ...price, amount: '-0.01' }, 400, 'amount'],
  [17, 'a percentage with an amount', 'POST', '/prices', { ...price, billing_model: 'PERCENTAGE', percentage_rate: '1' }, 400, 'amount'],
  [17, 'a percentage without a rate', 'POST', '/prices', { ...price, billing_model: 'PERCENTAGE', amount: null }, 400, 'percentage_rate'],
  [18, 'a custom unit without its terms', 'POST', '/prices', { ...price, price_unit_type: 'CUSTOM' }, 400, 'price_unit_config'],
  [18, 'a fiat price with custom terms', 'POST', '/prices', { ...price, ...priceUnit, price_unit_type: 'FIAT' }, 400, 'price_unit_config'],
  [18, 'tiers given twice', 'POST', '/prices', { ...tiered, ...priceUnit, tiers: [{ unit_amount: '1' }] }, 400, 'tiers'],
  [18, 'a custom unit', 'POST', '/prices', { ...price, ...priceUnit }, 501, 'price_unit_type', 'not_implemented'],
  [19, 'a minimum on usage', 'POST', '/prices', { ...usage, min_quantity: '1' }, 400, 'min_quantity'],
  [19, 'a trial on usage', 'POST', '/prices', { ...usage, trial_period: 7 }, 400, 'trial_period'],
  [19, 'a trial on a one-time price', 'POST', '/prices', { ...price, billing_period: 'ONETIME', trial_period_days: 7 }, 400, 'trial_period'],
  [19, 'a negative trial', 'POST', '/prices', { ...price, trial_period_days: -1 }, 400, 'trial_period_days'],
  [19, 'two trials', 'POST', '/prices', { ...price, trial_period_days: 1, trial_period: 2 }, 400, 'trial_period_days'],
  [19, 'a count of 0', 'POST', '/prices', { ...price, billing_period_count: 0 }, 400, 'billing_period_count'],
  [20, 'an end before the start', 'POST', '/prices', { ...price, start_date: '2026-02-01T00:00:00Z', end_date: '2026-01-01T00:00:00Z' }, 400, 'end_date'],
  [21, 'a missing group', 'POST', '/prices', { ...price, group_id: 'grp_none' }, 400, 'group_id'],
  [22, 'a lookup key held by a live price', 'POST', '/prices', { ...price, lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [23, 'no item', 'POST', '/prices/bulk', { items: [] }, 400, 'items'],
  [23, 'too many items', 'POST', '/prices/bulk', { items: Array.from({ length: 101 }, () => price) }, 400, 'items'],
  [23, 'a bad second item', 'POST', '/prices/bulk', { items: [price, { ...price, currency: 'x' }] }, 400, 'items[1].currency'],
  [23, 'a second item without owner', 'POST', '/prices/bulk', { items: [price, { ...price, plan_id: 'plan_none' }] }, 404, 'items[1]'],
  [26, 'an unknown lookup key', 'GET', '/prices/lookup/nothing', undefined, 404, 'nothing'],
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
  [31, 'a granted feature', 'DELETE', `/features/${granted.id}`, undefined, 400, 'entitlement', 'invalid_operation'],
  [32, 'no event name', 'POST', '/meters', { ...meter, event_name: ' ' }, 400, 'event_name'],
  [32, 'buckets with COUNT', 'POST', '/meters', { ...meter, aggregation: { type: 'COUNT', bucket_size: 'HOUR' } }, 400, 'bucket_size'],
  [32, 'groups without buckets', 'POST', '/meters', { ...meter, aggregation: { type: 'MAX', field: 'n', group_by: 'k' } }, 400, 'group_by'],
  [32, 'a multiplier of 0', 'POST', '/meters', { ...meter, aggregation: { type: 'SUM_WITH_MULTIPLIER', field: 'n', multiplier: '0' } }, 400, 'multiplier'],
  [32, 'a multiplier that has no use', 'POST', '/meters', { ...meter, aggregation: { type: 'SUM', field: 'n', multiplier: '2' } }, 400, 'multiplier'],
  [32, 'an expression with COUNT', 'POST', '/meters', { ...meter, aggregation: { type: 'COUNT', expression: 'a' } }, 400, 'expression'],
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
  [45, 'a grant', 'POST', '/entitlements', { ...metered, grant_quota: '10' }, 501, 'grant_quota', 'not_implemented'],
];

const codes: Record<number, string> = { 400: 'validation_error', 404: 'not_found' };

/** Everything the catalogue holds, as one text. */
async function stored(): Promise<string> {
  const tables = ['plan', 'price', 'feature', 'meter', 'entitlement', 'outbox_event', 'audit_entry'];
  const parts = tables.map(
    (table) => `(select coalesce(jsonb_agg(to_jsonb(r) order by r.id), '[]') from ${table} r) as ${table}`,
  );
  const [row] = await inSqlTransaction(database, scope, (sql) => sql.rows(`select ${parts.join(', ')}`));
  return JSON.stringify(row);
}

describe('the error table', () => {
  let before = '';
  beforeEach(async () => {
    before = await stored();
  });

  it.each(cases)('row %i refuses %s', async (_row, _name, method, path, body, status, word, code = codes[status]) => {
    const answer = await call(method, `/v1${path}`, { body });
    expect(answer.body).toMatchObject({ code, http_status_code: status, success: false });
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(word);
    expect(await stored()).toBe(before);
  });

  it('row 1 refuses a call without a key', async () => {
    for (const path of ['/v1/plans', '/v1/prices', '/v1/features', '/v1/meters', '/v1/entitlements', '/v1/addons']) {
      expect(await call('GET', path, { apiKey: null })).toMatchObject({
        status: 401,
        body: { code: 'permission_denied' },
      });
    }
  });
});
