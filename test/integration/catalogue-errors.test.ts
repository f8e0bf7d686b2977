import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { buildApp } from '../../api/app.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { accountWithRoles } from '../support/account.ts';
import { testApi } from '../support/api.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';

/*
 * Chapter 13 of catalogue-and-metering, row by row: the answer, the field and the remedy in the message, and that nothing was
 * written. Row 0 is what no row of the chapter names: hostile and enormous input.
 */

// A draft subscription is put into its table to have a plan in use.
const api = await testApi({}, { breaks: ['I11', 'I15'] });
const { app, call, database, scope, otherTenant } = api;
const { createPlan, createPrice, createFeature, createEntitlement } = catalogue(api);

const plan = await createPlan({ lookup_key: 'taken' });
const archivedPlan = await createPlan();
await call('DELETE', `/v1/plans/${archivedPlan.id}`);
const feature = await createFeature({ lookup_key: 'taken' });
const archivedFeature = await createFeature({ type: 'boolean' });
await call('DELETE', `/v1/features/${archivedFeature.id}`);
const statics = await createFeature({ type: 'static' });
await call('POST', '/v1/addons', { body: { name: 'Taken', lookup_key: 'taken' } });
const attachedAddon = (await call('POST', '/v1/addons', { body: { name: 'Attached', lookup_key: 'attached' } })).body;
const granted = await createFeature();
await createEntitlement(plan, granted);
await createPrice(plan, { lookup_key: 'taken' });
const archivedMeter = (await createFeature()).meter_id;
await call('DELETE', `/v1/meters/${archivedMeter}`);

const { apiKey: otherKey } = await otherTenant();
const theirs = (await call('POST', '/v1/plans', { body: { name: 'Theirs' }, apiKey: otherKey })).body;
const usedPlan = await createPlan();
const customer = (await call('POST', '/v1/customers', { body: { external_id: 'known', name: 'Known' } })).body;
const livePrice = await createPrice(plan, { start_date: '2026-01-01T00:00:00Z' });
const endedPrice = await createPrice(plan, { lookup_key: 'ended', start_date: '2026-01-01T00:00:00Z' });
await call('DELETE', `/v1/prices/${endedPrice.id}`);
const makeGroup = async (entity_type: string, lookup_key: string) =>
  (await call('POST', '/v1/groups', { body: { name: lookup_key, entity_type, lookup_key } })).body.id;
const featureGroup = await makeGroup('feature', 'taken');
const archivedGroup = await makeGroup('price', 'gone');
await call('DELETE', `/v1/groups/${archivedGroup}`);
const makeCostsheet = async (name: string) =>
  (await call('POST', '/v1/costs', { body: { name, lookup_key: name } })).body.costsheet.id;
await makeCostsheet('taken');
const deletedCostsheet = await makeCostsheet('gone');
await call('DELETE', `/v1/costs/${deletedCostsheet}`);

const credits = { name: 'Credits', symbol: 'C', base_currency: 'usd', conversion_rate: '0.5' };
const makeUnit = async (code: string) =>
  (await call('POST', '/v1/prices/units', { body: { ...credits, code } })).body.id;
await makeUnit('cru');
await call('DELETE', `/v1/prices/units/${await makeUnit('old')}`);
const inUnit = (price_unit_config: object) => ({ amount: undefined, price_unit_type: 'CUSTOM', price_unit_config });
const customPrice = await createPrice(plan, {
  ...inUnit({ price_unit: 'cru', amount: '1' }),
  start_date: '2026-01-01T00:00:00Z',
});

const price = { ...flatPrice, plan_id: plan.id };
const usage = { ...price, type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: feature.meter_id };
const tiered = { ...price, billing_model: 'TIERED', amount: undefined };
const metered = { plan_id: plan.id, feature_id: feature.id, feature_type: 'metered' };
const meter = { name: 'm', event_name: 'e', reset_usage: 'BILLING_PERIOD', aggregation: { type: 'COUNT' } };
const condition = { field: 'name', operator: 'eq', data_type: 'string', value: { string: 'x' } };
const priceUnit = { price_unit_type: 'CUSTOM', price_unit_config: { price_unit: 'tok', amount: '1' } };

const event = { event_name: 'e', external_customer_id: 'known' };
const slabs = (...tiers: object[]) => ({ ...tiered, tiers });
const granting = { grant_measure: 'quantity', grant_quota: '10', grant_duration_unit: 'hour', grant_duration_value: 5 };
const usageQuery = { event_name: 'e', aggregation_type: 'SUM', property_name: 'n' };
const span = { start_time: '2026-02-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' };
const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

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
  [0, 'an unknown aggregation', 'POST', '/meters', { ...meter, aggregation: { type: 'MEDIAN', field: 'n' } }, 400, 'aggregation.type'],
  [0, 'a tier that is no whole number', 'POST', '/prices', slabs({ up_to: 10.5, unit_amount: '1' }, { up_to: null, unit_amount: '2' }), 400, 'tiers[0].up_to'],
  [0, 'tiers that overlap', 'POST', '/prices', slabs({ up_to: 10, unit_amount: '1' }, { up_to: 10, unit_amount: '2' }, { unit_amount: '3' }), 400, 'tiers'],
  [0, 'a price without bound', 'POST', '/prices', { ...price, amount: '1e400' }, 400, 'amount'],
  [0, 'an amount of 61 digits', 'POST', '/prices', { ...price, amount: '9'.repeat(61) }, 400, 'amount'],
  [0, 'an amount that is no number', 'POST', '/prices', { ...price, amount: 'NaN' }, 400, 'amount'],
  [0, 'a negative minimum', 'POST', '/prices', { ...price, min_quantity: '-1' }, 400, 'min_quantity'],
  [0, 'a negative rate', 'POST', '/prices', { ...price, billing_model: 'PERCENTAGE', amount: undefined, percentage_rate: '-1' }, 400, 'percentage_rate'],
  [0, 'another currency for a price that has one', 'PUT', `/plans/${plan.id}`, { prices: [{ id: livePrice.id, currency: 'eur' }] }, 400, 'currency', 'invalid_operation'],
  [0, 'another amount in a plan update', 'PUT', `/plans/${plan.id}`, { prices: [{ id: livePrice.id, amount: '2' }] }, 400, 'prices[0].amount', 'invalid_operation'],
  [0, 'a price of another plan', 'PUT', `/plans/${usedPlan.id}`, { prices: [{ id: livePrice.id }] }, 404, livePrice.id],
  [0, 'a bad element of three', 'PUT', `/plans/${plan.id}`, { prices: [{ ...flatPrice }, { ...flatPrice }, { ...flatPrice, currency: 'e' }] }, 400, 'prices[2].currency'],
  [0, 'an operator that text does not have', 'POST', '/plans/search', { filters: [{ ...condition, operator: 'gt' }] }, 400, 'operator'],
  [0, 'an operator that dates do not have', 'POST', '/plans/search', { filters: [{ field: 'created_at', operator: 'contains', data_type: 'date', value: { date: '2026-01-01T00:00:00Z' } }] }, 400, 'operator'],
  [0, 'a data type its column does not have', 'POST', '/plans/search', { filters: [{ field: 'name', operator: 'gt', data_type: 'number', value: { number: 1 } }] }, 400, 'data_type'],
  [0, 'a field of SQL', 'POST', '/plans/search', { filters: [{ ...condition, field: "name'; drop table plan; --" }] }, 400, 'field'],
  [0, 'deep metadata', 'POST', '/plans', { name: 'x', metadata: nested(60) }, 400, 'metadata.a'],
  [0, 'a body of a thousand levels', 'POST', '/plans', { name: 'x', metadata: nested(1000) }, 400, 'levels'],
  [0, 'a deep name', 'POST', '/plans', { name: nested(60) }, 400, 'name'],
  [0, 'deep conditions', 'POST', '/plans/search', { filters: nested(60) }, 400, 'filters'],
  [0, 'a deep amount', 'POST', '/prices', { ...price, amount: nested(60) }, 400, 'amount'],
  [0, 'an array of tiers without end', 'POST', '/prices', slabs(...many(1001, (index) => ({ up_to: index + 1, unit_amount: '1' }))), 400, 'tiers'],
  [0, 'ids without end', 'POST', '/plans/search', { plan_ids: many(1001, String) }, 400, 'plan_ids'],
  [0, 'conditions without end', 'POST', '/plans/search', { filters: many(1001, () => condition) }, 400, 'filters'],
  [0, 'values of a condition without end', 'POST', '/plans/search', { filters: [{ field: 'name', operator: 'in', data_type: 'array', value: { array: many(10_001, String) } }] }, 400, 'value'],
  [0, 'filter values without end', 'POST', '/prices', { ...usage, filter_values: { region: many(1001, String) } }, 400, 'filter_values'],
  [0, 'filter keys without end', 'POST', '/prices', { ...usage, filter_values: Object.fromEntries(many(1001, (index) => [`k${index}`, ['1']])) }, 400, 'filter_values'],
  [0, 'filters of a meter without end', 'POST', '/meters', { ...meter, filters: many(101, (index) => ({ key: `k${index}`, values: ['1'] })) }, 400, 'filters'],
  [0, 'entitlements without end', 'POST', '/entitlements/bulk', { items: many(101, () => metered) }, 400, 'items'],
  [0, 'elements of a plan update without end', 'PUT', `/plans/${plan.id}`, { prices: many(5001, () => flatPrice) }, 400, 'prices'],
  [0, 'an archived plan changed', 'PUT', `/plans/${archivedPlan.id}`, { name: 'x' }, 400, archivedPlan.id, 'invalid_operation'],
  [0, 'an archived feature changed', 'PUT', `/features/${archivedFeature.id}`, { name: 'x' }, 400, archivedFeature.id, 'invalid_operation'],
  [0, 'an archived meter changed', 'PUT', `/meters/${archivedMeter}`, { filters: [{ key: 'a', values: ['1'] }] }, 400, archivedMeter, 'invalid_operation'],
  [2, 'a wrong JSON type', 'POST', '/plans', { name: 5 }, 400, 'name'],
  [2, 'an unknown enumeration value', 'POST', '/prices', { ...price, type: 'SOMETIMES' }, 400, 'type'],
  [2, 'a bad timestamp', 'POST', '/prices', { ...price, start_date: '2026-01-01' }, 400, 'start_date'],
  [2, 'a bad decimal', 'POST', '/prices', { ...price, amount: 'ten' }, 400, 'amount'],
  [2, 'metadata that is not text', 'POST', '/plans', { name: 'x', metadata: { a: 1 } }, 400, 'metadata.a'],
  [2, 'no body', 'POST', '/plans', undefined, 400, 'body'],
  [2, 'a body that is no JSON', 'POST', '/plans', '{"name": ', 400, 'JSON'],
  [2, 'a body that is an array', 'POST', '/plans', [{ name: 'x' }], 400, 'body'],
  [2, 'a prototype in the body', 'POST', '/plans', '{"name": "x", "metadata": {"__proto__": {"a": "b"}}}', 400, 'JSON'],
  ...['plans', 'prices', 'features', 'meters', 'entitlements', 'addons'].map((noun): Case => [3, `an unknown id of ${noun}`, 'GET', `/${noun}/none`, undefined, 404, 'none']),
  ...['groups', 'costs', 'prices/units'].map((noun): Case => [3, `an unknown id of ${noun}`, 'GET', `/${noun}/none`, undefined, 404, 'none']),
  [3, 'a plan of another tenant', 'GET', `/plans/${theirs.id}`, undefined, 404, theirs.id],
  [3, 'a change of a plan of another tenant', 'PUT', `/plans/${theirs.id}`, { name: 'x' }, 404, theirs.id],
  [3, 'a clone of a plan of another tenant', 'POST', `/plans/${theirs.id}/clone`, { name: 'x', lookup_key: 'x' }, 404, theirs.id],
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
  ...['groups', 'costs', 'prices/units'].flatMap((noun): Case[] => [
    [4, `a limit above 1000 on ${noun}`, 'POST', `/${noun}/search`, { limit: 1001 }, 400, 'limit'],
    [4, `a negative offset on ${noun}`, 'POST', `/${noun}/search`, { offset: -1 }, 400, 'offset'],
    [4, `a bad order on ${noun}`, 'POST', `/${noun}/search`, { order: 'up' }, 400, 'order'],
    [4, `a bad sort on ${noun}`, 'POST', `/${noun}/search`, { sort: [{ field: 'secret', direction: 'asc' }] }, 400, 'sort'],
    [5, `an unknown field on ${noun}`, 'POST', `/${noun}/search`, { filters: [{ ...condition, field: 'tenant_id' }] }, 400, 'field'],
    [5, `an unknown operator on ${noun}`, 'POST', `/${noun}/search`, { filters: [{ ...condition, operator: 'like' }] }, 400, 'operator'],
  ]),
  [4, 'a negative limit on meters', 'GET', '/meters?limit=-1', undefined, 400, 'limit'],
  [4, 'a bad sort on meters', 'GET', '/meters?sort=secret', undefined, 400, 'sort'],
  [6, 'a missing name', 'POST', '/plans', {}, 400, 'name'],
  [6, 'a blank name', 'POST', '/plans', { name: ' ' }, 400, 'name'],
  [7, 'a taken lookup key of a plan', 'POST', '/plans', { name: 'x', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [7, 'a taken lookup key of a feature', 'POST', '/features', { name: 'x', type: 'boolean', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [7, 'a taken lookup key of an add-on', 'POST', '/addons', { name: 'x', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [7, 'a taken lookup key of a clone', 'POST', `/plans/${plan.id}/clone`, { name: 'x', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [7, 'a taken lookup key of a feature clone', 'POST', `/features/${feature.id}/clone`, { name: 'x', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [7, 'a taken lookup key of a group', 'POST', '/groups', { name: 'x', entity_type: 'feature', lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [7, 'a taken lookup key in an update', 'PUT', `/plans/${usedPlan.id}`, { lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [8, 'a plan in use', 'DELETE', `/plans/${usedPlan.id}`, undefined, 400, usedPlan.id, 'invalid_operation'],
  [8, 'an unknown plan', 'DELETE', '/plans/plan_none', undefined, 404, 'plan_none'],
  [9, 'a clone without a name', 'POST', `/plans/${plan.id}/clone`, { lookup_key: 'x' }, 400, 'name'],
  [9, 'a clone without a lookup key', 'POST', `/plans/${plan.id}/clone`, { name: 'x' }, 400, 'lookup_key'],
  [10, 'a sync of an unknown plan', 'POST', '/plans/plan_none/sync/subscriptions', {}, 404, 'plan_none'],
  [10, 'a sync without a workflow engine', 'POST', `/plans/${plan.id}/sync/subscriptions`, {}, 503, 'again', 'service_unavailable'],
  [11, 'a currency of two letters', 'POST', '/prices', { ...price, currency: 'us' }, 400, 'currency'],
  [11, 'a currency of digits', 'POST', '/prices', { ...price, currency: '123' }, 400, 'currency'],
  [11, 'no currency', 'POST', '/prices', { ...price, currency: undefined }, 400, 'currency'],
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
  [18, 'an unknown custom unit', 'POST', '/prices', { ...price, amount: undefined, ...priceUnit }, 404, 'tok'],
  [18, 'an archived custom unit', 'POST', '/prices', { ...price, ...inUnit({ price_unit: 'old', amount: '1' }) }, 400, 'old', 'invalid_operation'],
  [18, 'a custom unit of another currency', 'POST', '/prices', { ...price, currency: 'eur', ...inUnit({ price_unit: 'cru', amount: '1' }) }, 400, 'currency must be usd'],
  [18, 'a custom unit without an amount', 'POST', '/prices', { ...price, ...inUnit({ price_unit: 'cru' }) }, 400, 'price_unit_config.amount'],
  [18, 'tiers of a custom unit without tiers', 'POST', '/prices', { ...tiered, ...inUnit({ price_unit: 'cru' }) }, 400, 'price_unit_tiers'],
  [18, 'a negative amount of a custom unit', 'POST', '/prices', { ...price, ...inUnit({ price_unit: 'cru', amount: '-1' }) }, 400, 'price_unit_config.amount'],
  [19, 'a minimum on usage', 'POST', '/prices', { ...usage, min_quantity: '1' }, 400, 'min_quantity'],
  [19, 'a trial on usage', 'POST', '/prices', { ...usage, trial_period: 7 }, 400, 'trial_period'],
  [19, 'a trial on a one-time price', 'POST', '/prices', { ...price, billing_period: 'ONETIME', trial_period_days: 7 }, 400, 'trial_period'],
  [19, 'a negative trial', 'POST', '/prices', { ...price, trial_period_days: -1 }, 400, 'trial_period_days'],
  [19, 'two trials', 'POST', '/prices', { ...price, trial_period_days: 1, trial_period: 2 }, 400, 'trial_period_days'],
  [19, 'a count of 0', 'POST', '/prices', { ...price, billing_period_count: 0 }, 400, 'billing_period_count'],
  [20, 'an end before the start', 'POST', '/prices', { ...price, start_date: '2026-02-01T00:00:00Z', end_date: '2026-01-01T00:00:00Z' }, 400, 'end_date'],
  [21, 'a missing group', 'POST', '/prices', { ...price, group_id: 'grp_none' }, 400, 'group_id'],
  [21, 'an archived group', 'POST', '/prices', { ...price, group_id: archivedGroup }, 400, 'group_id'],
  [21, 'a group of features', 'POST', '/prices', { ...price, group_id: featureGroup }, 400, 'group_id'],
  [22, 'a lookup key held by a live price', 'POST', '/prices', { ...price, lookup_key: 'taken' }, 409, 'taken', 'already_exists'],
  [23, 'no item', 'POST', '/prices/bulk', { items: [] }, 400, 'items'],
  [23, 'too many items', 'POST', '/prices/bulk', { items: Array.from({ length: 101 }, () => price) }, 400, 'items'],
  [23, 'a bad second item', 'POST', '/prices/bulk', { items: [price, { ...price, currency: 'x' }] }, 400, 'items[1].currency'],
  [23, 'a second item without owner', 'POST', '/prices/bulk', { items: [price, { ...price, plan_id: 'plan_none' }] }, 404, 'items[1]'],
  [24, 'a date without an amount', 'PUT', `/prices/${livePrice.id}`, { effective_from: '2026-03-01T00:00:00Z' }, 400, 'effective_from'],
  [24, 'a date before the start', 'PUT', `/prices/${livePrice.id}`, { amount: '2', effective_from: '2025-12-01T00:00:00Z' }, 400, 'effective_from'],
  [24, 'a new amount of an ended price', 'PUT', `/prices/${endedPrice.id}`, { amount: '2' }, 400, endedPrice.id],
  [24, 'an amount of a custom unit', 'PUT', `/prices/${livePrice.id}`, { price_unit_amount: '2' }, 400, 'price_unit_amount'],
  [24, 'tiers of a custom unit', 'PUT', `/prices/${livePrice.id}`, { price_unit_tiers: [] }, 400, 'price_unit_tiers'],
  [24, 'a fiat amount of a custom price', 'PUT', `/prices/${customPrice.id}`, { amount: '2' }, 400, 'amount'],
  [24, 'fiat tiers of a custom price', 'PUT', `/prices/${customPrice.id}`, { billing_model: 'TIERED', tiers: [{ unit_amount: '1' }] }, 400, 'tiers'],
  [24, 'tiers for a flat fee', 'PUT', `/prices/${livePrice.id}`, { tiers: [{ unit_amount: '1' }] }, 400, 'tiers'],
  [24, 'an unknown price', 'PUT', '/prices/price_none', { amount: '2' }, 404, 'price_none'],
  [25, 'an end of an ended price', 'DELETE', `/prices/${endedPrice.id}`, undefined, 400, endedPrice.id],
  [25, 'an end before the start', 'DELETE', `/prices/${livePrice.id}`, { end_date: '2025-12-01T00:00:00Z' }, 400, 'end_date'],
  [25, 'an end of an unknown price', 'DELETE', '/prices/price_none', undefined, 404, 'price_none'],
  [26, 'an unknown lookup key', 'GET', '/prices/lookup/nothing', undefined, 404, 'nothing'],
  [26, 'the lookup key of an ended price', 'GET', '/prices/lookup/ended', undefined, 404, 'ended'],
  [27, 'a rate of 0', 'POST', '/prices/units', { ...credits, code: 'new', conversion_rate: '0' }, 400, 'conversion_rate'],
  [27, 'a negative rate', 'POST', '/prices/units', { ...credits, code: 'new', conversion_rate: '-1' }, 400, 'conversion_rate'],
  [27, 'a code of two characters', 'POST', '/prices/units', { ...credits, code: 'cr' }, 400, 'code'],
  [27, 'a code that is a currency', 'POST', '/prices/units', { ...credits, code: 'eur' }, 400, 'code'],
  [27, 'a taken code', 'POST', '/prices/units', { ...credits, code: 'CRU' }, 409, 'cru', 'already_exists'],
  [27, 'a unit without a symbol', 'POST', '/prices/units', { ...credits, code: 'new', symbol: undefined }, 400, 'symbol'],
  [27, 'a base currency of two letters', 'POST', '/prices/units', { ...credits, code: 'new', base_currency: 'us' }, 400, 'base_currency'],
  [27, 'nine decimals', 'POST', '/prices/units', { ...credits, code: 'new', precision: 9 }, 400, 'precision'],
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
  [49, 'a cost sheet deleted before', 'DELETE', `/costs/${deletedCostsheet}`, undefined, 400, deletedCostsheet],
  [50, 'usage of nobody', 'GET', '/customers/usage', undefined, 400, 'customer_id'],
  [50, 'usage of an unknown customer', 'GET', '/customers/usage?customer_id=cust_none', undefined, 404, 'cust_none'],
  [50, 'usage of an unknown lookup key', 'GET', '/customers/usage?customer_lookup_key=nobody', undefined, 404, 'nobody'],
  [53, 'a workflow engine that is down', 'POST', '/subscriptions', { customer_id: customer.id, plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY' }, 503, 'again', 'service_unavailable'],
];

const codes: Record<number, string> = { 400: 'validation_error', 404: 'not_found' };

/** What a message says to do about it: what is accepted instead, or what to send, leave out or choose. */
const remedy =
  /must |required|expected|send|use |leave|choose|create|change |accepted with|accepts|belongs? to|cannot be|end some|needs |put |once|again|permission|only|first$/i;

const tables = await inSqlTransaction(database, scope, (sql) =>
  sql.rows<{ name: string }>(
    `select distinct table_schema || '.' || table_name as name from information_schema.columns
     where (table_schema, column_name) in (('public', 'environment_id'), ('usage', 'env'))
       -- A key notes when it was used last.
       and table_name <> 'api_key'
       and has_table_privilege(table_schema || '.' || table_name, 'select') order by 1`,
  ),
);

/** Every row of the environment and of the usage engine, as digests. */
async function stored(): Promise<string> {
  const digests = tables.map(
    ({ name }) => `(select md5(coalesce(string_agg(r::text, ';' order by r::text), '')) from ${name} r)`,
  );
  const [row] = await inSqlTransaction(database, scope, (sql) =>
    sql.rows(`select jsonb_build_array(${digests.join(', ')}) as rows`),
  );
  return JSON.stringify(row);
}

const at = '2026-01-01T00:00:00Z';
await inSqlTransaction(database, scope, (sql) =>
  sql.rows(
    `insert into subscription (id, tenant_id, environment_id, customer_id, invoicing_customer_id, plan_id, subscription_status, currency,
       billing_period, billing_cycle, billing_anchor, timezone, start_date, current_period_start, current_period_end, collection_method,
       payment_behavior, proration_behavior, created_at, updated_at)
     values ('subs_draft', $1, $2, $3, $3, $4, 'draft', 'usd', 'MONTHLY', 'anniversary', $5, 'UTC', $5, $5, $5, 'send_invoice', 'default_active', 'none', $5, $5)`,
    [scope.tenantId, scope.environmentId, customer.id, usedPlan.id, at],
  ),
);
await inSqlTransaction(database, scope, (sql) =>
  sql.rows(
    `insert into addon_association (id, tenant_id, environment_id, addon_id, entity_id, addon_status, cadence, start_date, created_at, updated_at)
     values ('addon_assoc_x', $1, $2, $3, 'subs_draft', 'active', 'recurring', $4, $4, $4)`,
    [scope.tenantId, scope.environmentId, attachedAddon.id, at],
  ),
);

describe('the error table', () => {
  let before = '';
  beforeEach(async () => {
    before = await stored();
  });

  it.each(cases)('row %i refuses %s', async (_row, _name, method, path, body, status, word, code = codes[status]) => {
    const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
    const answer = await call(method, `/v1${path}`, { body, headers });
    expect(answer.body).toMatchObject({ code, http_status_code: status, success: false });
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(word);
    // Of what does not exist, and of what is not built, the name says all.
    const names = status === 404 || status === 501 || answer.body.message.includes('was not found');
    if (!names) expect(answer.body.message).toMatch(remedy);
    expect(await stored()).toBe(before);
  });

  it('row 1 refuses a call without a key, and with a wrong one', async () => {
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

describe('more decimals than are kept', () => {
  it('are rounded half away from zero to 15, as §1.1 N3 has it, wherever a price takes an amount', async () => {
    const sixteen = '0.0000000000000005';
    const flat = await createPrice(plan, { amount: sixteen });
    expect(flat.amount).toBe('0.000000000000001');
    const tiers = [{ up_to: null, unit_amount: '0.1234567890123444', flat_amount: sixteen }];
    const slab = await createPrice(plan, { billing_model: 'TIERED', amount: undefined, tiers });
    expect(slab.tiers).toEqual([{ up_to: null, unit_amount: '0.123456789012344', flat_amount: '0.000000000000001' }]);
  });
});

afterAll(async () => {
  await inSqlTransaction(database, scope, (sql) =>
    sql.rows(`with ended as (update addon_association set addon_status = 'cancelled', end_date = start_date, cancelled_at = start_date where id = 'addon_assoc_x')
      update subscription set subscription_status = 'cancelled' where id = 'subs_draft'`),
  );
});
