import { Flexprice } from '@flexprice/sdk';
import {
  DtoEntitlementResponse$inboundSchema,
  DtoFeatureResponse$inboundSchema,
  DtoMeterResponse$inboundSchema,
  DtoPlanResponse$inboundSchema,
  DtoPriceResponse$inboundSchema,
} from '@flexprice/sdk/sdk/models';
import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { catalogue } from './catalogue.fixture.ts';

const api = await testApi();
const { call } = api;
const { createPlan, createPrice, createFeature, createEntitlement } = catalogue(api);
const address = await api.app.listen({ port: 0, host: '127.0.0.1' });
const client = new Flexprice({ serverURL: `${address}/v1`, apiKeyAuth: api.apiKey });

describe('the published client', () => {
  it('walks through the catalogue', async () => {
    const plan = await client.plans.createPlan({ name: 'Client', lookupKey: 'client' });
    const feature = await client.features.createFeature({
      name: 'Client calls',
      type: 'metered',
      meter: { name: 'Calls', eventName: 'call', aggregation: { type: 'COUNT' }, resetUsage: 'BILLING_PERIOD' },
    });
    const price = await client.prices.createPrice({
      entityType: 'PLAN',
      entityId: plan.id!,
      type: 'USAGE',
      priceUnitType: 'FIAT',
      billingModel: 'TIERED',
      billingCadence: 'RECURRING',
      billingPeriod: 'MONTHLY',
      invoiceCadence: 'ARREAR',
      currency: 'usd',
      meterId: feature.meterId!,
      tierMode: 'SLAB',
      tiers: [{ upTo: 100, unitAmount: '0.02' }, { unitAmount: '0.01' }],
    });
    const entitlement = await client.entitlements.createEntitlement({
      planId: plan.id!,
      featureId: feature.id!,
      featureType: 'metered',
      usageLimit: 50,
      usageResetPeriod: 'MONTHLY',
    });
    expect(price).toMatchObject({
      meterId: feature.meterId,
      tierMode: 'SLAB',
      tiers: [{ upTo: 100, unitAmount: '0.02' }, { unitAmount: '0.01' }],
    });
    expect(entitlement).toMatchObject({ usageLimit: 50, feature: { id: feature.id } });

    const read = await client.plans.getPlan(plan.id!);
    expect(read).toMatchObject({ id: plan.id, prices: [{ id: price.id }], entitlements: [{ id: entitlement.id }] });
    const found = await client.plans.queryPlan({ lookupKey: 'client', expand: 'prices,entitlements' });
    expect(found).toMatchObject({ items: [{ id: plan.id }], pagination: { total: 1 } });
    const updated = await client.plans.updatePlan(plan.id!, { description: 'changed' });
    expect(updated).toMatchObject({ description: 'changed' });
    const renamed = await client.prices.updatePrice(price.id!, { description: 'usage' });
    expect(renamed).toMatchObject({ id: price.id, description: 'usage' });
    await client.prices.deletePrice(price.id!, {});
    await client.entitlements.deleteEntitlement(entitlement.id!);
    await client.features.deleteFeature(feature.id!);
    expect(await client.plans.deletePlan(plan.id!)).toMatchObject({ message: expect.any(String) });
  });

  it('gets its typed error', async () => {
    await expect(
      client.prices.createPrice({
        entityType: 'PLAN',
        entityId: 'plan_x',
        type: 'FIXED',
        priceUnitType: 'FIAT',
        billingModel: 'FLAT_FEE',
        billingCadence: 'RECURRING',
        billingPeriod: 'MONTHLY',
        invoiceCadence: 'ADVANCE',
        currency: 'us',
        amount: '1',
      }),
    ).rejects.toThrow(/currency/);
  });
});

it('answers every shape the client parses, empty and full', async () => {
  const plan = await createPlan();
  const feature = await createFeature({
    unit_singular: 'call',
    unit_plural: 'calls',
    reporting_unit: { unit_singular: 'k', unit_plural: 'ks', conversion_rate: '0.001' },
    alert_settings: { alert_enabled: true, critical: { threshold: '10' } },
  });
  const price = await createPrice(plan, {
    billing_model: 'PACKAGE',
    transform_quantity: { divide_by: 10 },
    min_quantity: '3',
  });
  const entitlement = await createEntitlement(plan, feature, { usage_limit: 3 });
  const config = await createFeature({ type: 'config' });
  const bare = await createEntitlement(plan, config, { config_value: { a: { b: [1] } } });
  const whole = (await call('GET', `/v1/plans/${plan.id}`)).body;
  const inNumbers = (await call('PUT', `/v1/plans/${plan.id}`, { body: {} })).body;
  const found = (await call('POST', '/v1/plans/search', { body: { plan_ids: [plan.id] } })).body.items[0];
  for (const [schema, body] of [
    [DtoPlanResponse$inboundSchema, plan],
    [DtoPlanResponse$inboundSchema, whole],
    [DtoPlanResponse$inboundSchema, inNumbers],
    [DtoPlanResponse$inboundSchema, found],
    [DtoPriceResponse$inboundSchema, price],
    [DtoFeatureResponse$inboundSchema, feature],
    [DtoFeatureResponse$inboundSchema, config],
    [DtoMeterResponse$inboundSchema, feature.meter],
    [DtoEntitlementResponse$inboundSchema, entitlement],
    [DtoEntitlementResponse$inboundSchema, bare],
  ] as const) {
    const parsed = schema.safeParse(body);
    expect(parsed.error?.issues ?? []).toEqual([]);
  }
});
