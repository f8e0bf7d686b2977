import { expect } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { testApi } from '../../support/api.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Row of the chapter, what is wrong, the request, the status, and a word of the message (the field). */
export type Refused = [
  row: number,
  name: string,
  method: Method,
  path: string,
  body: unknown,
  status: number,
  word: string,
  code?: string,
];

const codes: Record<number, string> = { 400: 'validation_error', 404: 'not_found' };

/** What a message says to do about it: what is accepted instead, or what to send, leave out or choose. */
const remedy =
  /must |required|expected|send|use |leave|choose|create|change |accepted with|accepts|belongs? to|cannot be|end some|needs |put |once|again|permission|only|first$/i;

export const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

export const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

/** One record of each kind in each state that a request may name, and what requests are made of. */
export async function refusalWorld() {
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
  const granting = {
    grant_measure: 'quantity',
    grant_quota: '10',
    grant_duration_unit: 'hour',
    grant_duration_value: 5,
  };
  const usageQuery = { event_name: 'e', aggregation_type: 'SUM', property_name: 'n' };
  const span = { start_time: '2026-02-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' };

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

  const tables = await inSqlTransaction(database, scope, (sql) =>
    sql.rows<{ name: string }>(
      `select distinct table_schema || '.' || table_name as name from information_schema.columns
       where (table_schema, column_name) in (('public', 'environment_id'), ('usage', 'env'))
         -- A key notes when it was used last.
         and table_name <> 'api_key'
         and has_table_privilege(table_schema || '.' || table_name, 'select') order by 1`,
    ),
  );

  /** Every row of the environment and of the usage engine, as digests; those of one table may be left out. */
  async function stored(except = ''): Promise<string> {
    const compared = tables.filter(({ name }) => name !== except);
    const digests = compared.map(
      ({ name }) => `(select md5(coalesce(string_agg(r::text, ';' order by r::text), '')) from ${name} r)`,
    );
    const [row] = await inSqlTransaction(database, scope, (sql) =>
      sql.rows(`select array[${digests.join(', ')}] as rows`),
    );
    return JSON.stringify(row);
  }

  /** The answer names code, field and remedy, and nothing was written. */
  async function expectRefusal(
    ...[, , method, path, body, status, word, code = codes[status]]: Refused
  ): Promise<void> {
    // A command that nobody answered may still be carried out, so its content stays.
    const except = status === 503 ? 'public.kept_command' : '';
    const before = await stored(except);
    const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
    const answer = await call(method, `/v1${path}`, { body, headers });
    expect(answer.body).toMatchObject({ code, http_status_code: status, success: false });
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(word);
    // Of what does not exist, and of what is not built, the name says all.
    const names = status === 404 || status === 501 || answer.body.message.includes('was not found');
    if (!names) expect(answer.body.message).toMatch(remedy);
    expect(await stored(except)).toBe(before);
  }

  /** Ends what was put into tables by hand, so that the invariants hold at the end. */
  async function endByHand(): Promise<void> {
    await inSqlTransaction(database, scope, (sql) =>
      sql.rows(`with ended as (update addon_association set addon_status = 'cancelled', end_date = start_date, cancelled_at = start_date where id = 'addon_assoc_x')
          update subscription set subscription_status = 'cancelled' where id = 'subs_draft'`),
    );
  }
  return {
    plan,
    archivedPlan,
    feature,
    archivedFeature,
    statics,
    attachedAddon,
    granted,
    archivedMeter,
    theirs,
    usedPlan,
    customer,
    livePrice,
    endedPrice,
    featureGroup,
    archivedGroup,
    deletedCostsheet,
    credits,
    inUnit,
    customPrice,
    price,
    usage,
    tiered,
    metered,
    meter,
    condition,
    priceUnit,
    event,
    slabs,
    granting,
    usageQuery,
    span,
    at,
    app,
    call,
    database,
    scope,
    api,
    createPrice,
    stored,
    expectRefusal,
    endByHand,
  };
}
