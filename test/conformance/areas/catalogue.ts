import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Features, plans, prices and entitlements. What other areas bill with is kept; the rest is deleted again. */
export function catalogueCalls(talk: Conversation): Record<string, AreaCalls> {
  const spare = { featureId: '', planId: '', priceId: '', entitlementId: '' };
  return {
    features: featureCalls(talk, spare),
    plans: planCalls(talk, spare),
    prices: priceCalls(talk, spare),
    entitlements: entitlementCalls(talk, spare),
  };
}

interface Spare {
  featureId: string;
  planId: string;
  priceId: string;
  entitlementId: string;
}

function featureCalls({ client, made }: Conversation, spare: Spare): AreaCalls {
  return {
    async createFeature() {
      const feature = await client.features.createFeature({
        name: 'API calls',
        type: 'metered',
        unitSingular: 'call',
        unitPlural: 'calls',
        meter: {
          name: 'API calls',
          eventName: 'api_call',
          aggregation: { type: 'SUM', field: 'units' },
          filters: [{ key: 'region', values: ['eu', 'us'] }],
          resetUsage: 'BILLING_PERIOD',
        },
      });
      expect(feature).toMatchObject({ name: 'API calls', type: 'metered', unitPlural: 'calls' });
      made.featureId = present(feature.id);
      made.meterId = present(feature.meterId);
      made.eventName = 'api_call';
      const other = await client.features.createFeature({ name: 'Support', type: 'boolean' });
      spare.featureId = present(other.id);
    },
    async queryFeature() {
      const found = await client.features.queryFeature({ featureIds: [made.featureId], expand: 'meters' });
      expect(found).toMatchObject({
        items: [{ id: made.featureId, meter: { id: made.meterId, aggregation: { type: 'SUM', field: 'units' } } }],
      });
    },
    async updateFeature() {
      const updated = await client.features.updateFeature(spare.featureId, { description: 'Answers within a day' });
      expect(updated).toMatchObject({ id: spare.featureId, description: 'Answers within a day' });
    },
    async deleteFeature() {
      const unused = await client.features.createFeature({ name: 'Unused', type: 'boolean' });
      await client.features.deleteFeature(present(unused.id));
      const left = await client.features.queryFeature({ featureIds: [present(unused.id)], status: 'published' });
      expect(left).toMatchObject({ items: [] });
    },
  };
}

function planCalls({ client, made }: Conversation, spare: Spare): AreaCalls {
  return {
    async createPlan() {
      const plan = await client.plans.createPlan({ name: 'Pro', lookupKey: 'pro', metadata: { family: 'pro' } });
      expect(plan).toMatchObject({ name: 'Pro', lookupKey: 'pro', metadata: { family: 'pro' } });
      made.planId = present(plan.id);
    },
    async getPlan() {
      expect(await client.plans.getPlan(made.planId)).toMatchObject({ id: made.planId, name: 'Pro' });
    },
    async updatePlan() {
      const updated = await client.plans.updatePlan(made.planId, { description: 'For teams' });
      expect(updated).toMatchObject({ id: made.planId, description: 'For teams', lookupKey: 'pro' });
    },
    async queryPlan() {
      const found = await client.plans.queryPlan({ lookupKey: 'pro' });
      expect(found).toMatchObject({ items: [{ id: made.planId }], pagination: { total: 1 } });
    },
    async clonePlan() {
      const clone = await client.plans.postPlansIdClone(made.planId, { name: 'Pro copy', lookupKey: 'pro-copy' });
      expect(clone).toMatchObject({ name: 'Pro copy', lookupKey: 'pro-copy', description: 'For teams' });
      spare.planId = present(clone.id);
    },
    async syncPlanPrices() {
      const started = await client.plans.syncPlanPrices(spare.planId);
      expect(started).toMatchObject({ workflowId: `price-sync/${spare.planId}`, runId: expect.any(String) });
    },
    async getPlanEntitlements() {
      await client.entitlements.getPlanEntitlements(made.planId);
    },
    async getPlanCreditGrants() {
      await client.creditGrants.getPlanCreditGrants(made.planId);
    },
    async deletePlan() {
      const unused = await client.plans.createPlan({ name: 'Unused' });
      await client.plans.deletePlan(present(unused.id));
      const left = await client.plans.queryPlan({ planIds: [present(unused.id)], status: 'published' });
      expect(left).toMatchObject({ items: [] });
    },
  };
}

const monthly = {
  priceUnitType: 'FIAT',
  billingCadence: 'RECURRING',
  billingPeriod: 'MONTHLY',
  currency: 'usd',
  startDate: '2025-01-01T00:00:00Z',
} as const;

function priceCalls({ client, made }: Conversation, spare: Spare): AreaCalls {
  const ofPlan = () => ({ ...monthly, entityType: 'PLAN', entityId: made.planId }) as const;
  return {
    async createPrice() {
      const price = await client.prices.createPrice({
        ...ofPlan(),
        type: 'FIXED',
        billingModel: 'FLAT_FEE',
        amount: '29.90',
        invoiceCadence: 'ADVANCE',
        displayName: 'Base fee',
      });
      expect(price).toMatchObject({ amount: '29.9', currency: 'usd', type: 'FIXED', invoiceCadence: 'ADVANCE' });
    },
    async createPricesBulk() {
      const { items } = await client.prices.createPricesBulk({
        items: [
          {
            ...ofPlan(),
            type: 'USAGE',
            billingModel: 'TIERED',
            tierMode: 'SLAB',
            tiers: [
              { upTo: 100, unitAmount: '0.02' },
              { unitAmount: '0.01', flatAmount: '1' },
            ],
            invoiceCadence: 'ARREAR',
            meterId: made.meterId,
          },
          {
            ...ofPlan(),
            type: 'FIXED',
            billingModel: 'FLAT_FEE',
            amount: '5',
            billingPeriod: 'ANNUAL',
            invoiceCadence: 'ADVANCE',
            lookupKey: 'spare',
          },
        ],
      });
      expect(items).toMatchObject([
        {
          tierMode: 'SLAB',
          tiers: [
            { upTo: 100, unitAmount: '0.02' },
            { unitAmount: '0.01', flatAmount: '1' },
          ],
        },
        { amount: '5', billingPeriod: 'ANNUAL' },
      ]);
      spare.priceId = present(items?.[1]?.id);
    },
    async getPrice() {
      expect(await client.prices.getPrice(spare.priceId)).toMatchObject({ id: spare.priceId, amount: '5' });
    },
    async getPriceByLookupKey() {
      expect(await client.prices.getPriceByLookupKey('spare')).toMatchObject({ id: spare.priceId });
    },
    async updatePrice() {
      const updated = await client.prices.updatePrice(spare.priceId, { description: 'Per year' });
      expect(updated).toMatchObject({ id: spare.priceId, description: 'Per year' });
    },
    async queryPrice() {
      const found = await client.prices.queryPrice({ planIds: [made.planId] });
      expect(found.pagination).toMatchObject({ total: 3 });
    },
    async deletePrice() {
      await client.prices.deletePrice(spare.priceId, { endDate: '2026-01-01T00:00:00Z' });
      expect(await client.prices.getPrice(spare.priceId)).toMatchObject({ endDate: expect.any(String) });
    },
  };
}

function entitlementCalls({ client, made }: Conversation, spare: Spare): AreaCalls {
  return {
    async createEntitlement() {
      const entitlement = await client.entitlements.createEntitlement({
        planId: made.planId,
        featureId: made.featureId,
        featureType: 'metered',
        usageLimit: 50,
        usageResetPeriod: 'MONTHLY',
        isEnabled: true,
      });
      expect(entitlement).toMatchObject({ usageLimit: 50, usageResetPeriod: 'MONTHLY', featureId: made.featureId });
    },
    async createEntitlementsBulk() {
      const { items } = await client.entitlements.createEntitlementsBulk({
        items: [{ planId: made.planId, featureId: spare.featureId, featureType: 'boolean', isEnabled: true }],
      });
      expect(items).toMatchObject([{ featureId: spare.featureId, isEnabled: true }]);
      spare.entitlementId = present(items?.[0]?.id);
    },
    async getEntitlement() {
      expect(await client.entitlements.getEntitlement(spare.entitlementId)).toMatchObject({ id: spare.entitlementId });
    },
    async updateEntitlement() {
      const updated = await client.entitlements.updateEntitlement(spare.entitlementId, { isEnabled: false });
      expect(updated).toMatchObject({ id: spare.entitlementId, isEnabled: false });
    },
    async queryEntitlement() {
      const found = await client.entitlements.queryEntitlement({ planIds: [made.planId] });
      expect(found.pagination).toMatchObject({ total: 2 });
    },
    async deleteEntitlement() {
      await client.entitlements.deleteEntitlement(spare.entitlementId);
      const left = await client.entitlements.queryEntitlement({ planIds: [made.planId] });
      expect(left.pagination).toMatchObject({ total: 1 });
    },
  };
}
