import { expect } from 'vitest';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { accountWithRoles } from '../../support/account.ts';
import type { Api } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import type { TestDatabase } from '../../support/database.ts';
import type { TestTemporal } from '../../support/temporal.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
export type Wire = any;

/** An environment of the tenant and calls in it. */
export interface Place {
  id: string;
  api: Api;
  /** The records of a list, the oldest first. */
  all(path: string): Promise<Wire[]>;
}

export const monthly = {
  billing_period: 'MONTHLY',
  currency: 'usd',
  billing_model: 'FLAT_FEE',
  start_date: '2020-01-01T00:00:00Z',
};
export const flat = { ...monthly, type: 'FIXED', invoice_cadence: 'ADVANCE', amount: '30' };
export const usage = { ...monthly, type: 'USAGE', invoice_cadence: 'ARREAR', amount: '0.10' };
export const countOf = (event_name: string) => ({
  name: event_name,
  event_name,
  aggregation: { type: 'COUNT' },
  reset_usage: 'BILLING_PERIOD',
});

/** Environments of the file's tenant, and clones between them. */
export function cloning(api: Api, base: TestDatabase, temporal: TestTemporal) {
  const rows = (text: string, values: unknown[] = []): Promise<Wire[]> =>
    inSqlTransaction(base.database, systemScope, (tx) => tx.rows(text, values));
  /** An environment as it is called from. */
  const at = async (id: string): Promise<Place> => {
    const { apiKey } = await accountWithRoles(base.database, { ...base.scope, environmentId: id }, ['super_admin']);
    const here: Api = (method, path, body, headers) => api(method, path, body, { 'x-api-key': apiKey, ...headers });
    return {
      id,
      api: here,
      all: async (path) =>
        (await here<Wire>('GET', `${path}${path.includes('?') ? '&' : '?'}limit=1000&order=asc`)).body.items,
    };
  };
  const environment = async (name = 'Staging') =>
    at((await created(api, '/environments', { name, type: 'development' })).id);
  const begin = (source: Place, body: object) => api<Wire>('POST', `/environments/${source.id}/clone`, body);
  const latest = async (source: Place, target: string) =>
    (await api<Wire>('GET', `/environments/${source.id}/clone?target_environment_id=${target}`)).body;
  return {
    rows,
    at,
    environment,
    begin,
    latest,
    /** Lets the tenant have as many environments as a test makes. */
    allow: () => api('PUT', '/settings/tenant_config', { value: { development: 100, production: 5 } }),
    /** Clones, and answers the view of the run when it has ended; its workflow says the same. */
    async clone(source: Place, body: object): Promise<Wire> {
      const { status, body: answer } = await begin(source, body);
      expect([status, Object.keys(answer).sort()], JSON.stringify(answer)).toEqual([
        202,
        ['message', 'run_id', 'workflow_id'],
      ]);
      const result = await temporal.client.workflow.getHandle(answer.workflow_id, answer.run_id).result();
      const view = await latest(source, result.target_environment_id);
      expect(view).toMatchObject({ ...result, workflow_id: answer.workflow_id, source_environment_id: source.id });
      return view;
    },
  };
}

/** What a copy says of where it comes from. */
export const marks = (noun: string, source: { id: string }, from: Place) => ({
  [`source_environment_${noun}_id`]: source.id,
  source_environment_id: from.id,
});

/** A catalogue with one of everything that a clone copies. */
export async function catalogue(api: Api) {
  const group = await created<Wire>(api, '/groups', { name: 'Use', lookup_key: 'use', entity_type: 'feature' });
  const priceGroup = await created<Wire>(api, '/groups', { name: 'Pay', lookup_key: 'pay', entity_type: 'price' });
  const unit = await created<Wire>(api, '/prices/units', {
    name: 'Token',
    code: 't0k',
    symbol: 'T',
    base_currency: 'usd',
    conversion_rate: '0.02',
    metadata: { kind: 'token' },
  });
  const calls = await created<Wire>(api, '/features', {
    name: 'API calls',
    type: 'metered',
    lookup_key: 'calls',
    description: 'Every call',
    unit_singular: 'call',
    unit_plural: 'calls',
    reporting_unit: { unit_singular: 'kcall', unit_plural: 'kcalls', conversion_rate: '0.001' },
    alert_settings: { alert_enabled: true, critical: { condition: 'above', threshold: '100' } },
    group_id: group.id,
    metadata: { tier: 'a', source_environment_id: 'env_elsewhere' },
    meter: { ...countOf('call'), filters: [{ key: 'region', values: ['eu', 'us'] }] },
  });
  const support = await created<Wire>(api, '/features', { name: 'Support', type: 'static', lookup_key: 'support' });
  const plan = await created<Wire>(api, '/plans', {
    name: 'Pro',
    lookup_key: 'pro',
    description: 'For professionals',
    display_order: 3,
    metadata: { colour: 'blue' },
  });
  const ofPlan = { entity_type: 'PLAN', entity_id: plan.id };
  const fee = await created<Wire>(api, '/prices', { ...flat, ...ofPlan, lookup_key: 'pro-fee', metadata: { a: '1' } });
  const perCall = await created<Wire>(api, '/prices', {
    ...usage,
    ...ofPlan,
    amount: undefined,
    billing_model: 'TIERED',
    tier_mode: 'SLAB',
    tiers: [
      { up_to: 10, unit_amount: '0.10' },
      { up_to: null, unit_amount: '0.05', flat_amount: '1' },
    ],
    meter_id: calls.meter_id,
    group_id: priceGroup.id,
    filter_values: { region: ['eu'] },
  });
  const inTokens = await created<Wire>(api, '/prices', {
    ...flat,
    ...ofPlan,
    amount: undefined,
    price_unit_type: 'CUSTOM',
    price_unit_config: { price_unit: 't0k', amount: '100' },
  });
  const entitled = { plan_id: plan.id };
  const allowance = await created<Wire>(api, '/entitlements', {
    ...entitled,
    feature_id: calls.id,
    feature_type: 'metered',
    usage_limit: 500,
    usage_reset_period: 'MONTHLY',
    is_soft_limit: true,
  });
  await created(api, '/entitlements', {
    ...entitled,
    feature_id: support.id,
    feature_type: 'static',
    static_value: 'gold',
  });
  const grant = await created<Wire>(api, '/creditgrants', {
    name: 'Welcome',
    scope: 'PLAN',
    plan_id: plan.id,
    cadence: 'RECURRING',
    credits: '25.5',
    period: 'MONTHLY',
    period_count: 1,
    expiration_type: 'BILLING_CYCLE',
    priority: 2,
    metadata: { reason: 'welcome' },
  });
  return { group, priceGroup, unit, calls, support, plan, fee, perCall, inTokens, allowance, grant };
}
