import type { Addon } from '../../../db/entities/catalogue/addon.ts';
import type { Entitlement } from '../../../db/entities/catalogue/entitlement.ts';
import type { Feature } from '../../../db/entities/catalogue/feature.ts';
import type { Meter } from '../../../db/entities/catalogue/meter.ts';
import type { Plan } from '../../../db/entities/catalogue/plan.ts';
import type { Price } from '../../../db/entities/catalogue/price.ts';
import type { CreditGrant } from '../../../db/entities/wallet/credit-grant.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { grantsOf } from '../../ledger/grant-record.ts';
import { addonsById } from '../addon.ts';
import { publishedEntitlements } from '../entitlement/entitlement.ts';
import { featuresById } from '../feature.ts';
import { metersById } from '../meter.ts';
import { pricesOfPlans } from '../price/price.ts';
import { type PriceContent, priceContents } from '../price/price-parts.ts';
import { plansById } from './plan.ts';

export interface EntitlementWithFeature {
  entitlement: Entitlement;
  feature: Feature | null;
  meter: Meter | null;
  plan: Plan | null;
  addon: Addon | null;
}
/** A plan with what hangs on it; null for what was not asked for. */
export interface PlanContent {
  plan: Plan;
  prices: PriceContent[] | null;
  entitlements: EntitlementWithFeature[] | null;
  /** Grants do not exist yet: an empty list where they were asked for. */
  creditGrants: CreditGrant[] | null;
}

/** What to read beside plans. */
export interface PlanParts {
  prices: boolean;
  meters: boolean;
  groups: boolean;
  priceUnits: boolean;
  entitlements: boolean;
  features: boolean;
  creditGrants: boolean;
}
export const wholePlan: PlanParts = {
  prices: true,
  meters: true,
  groups: true,
  priceUnits: true,
  entitlements: true,
  features: true,
  creditGrants: true,
};

/** Plans with their prices (ended ones too) and published entitlements, in as many statements for a hundred as for one. */
export async function planContents(tx: Transaction, plans: readonly Plan[], parts: PlanParts): Promise<PlanContent[]> {
  const ids = plans.map((plan) => plan.id);
  const prices = parts.prices ? await pricesOfPlans(tx, ids) : new Map<string, Price[]>();
  const entitlements = parts.entitlements ? await publishedEntitlements(tx, ids) : new Map<string, Entitlement[]>();
  const priced = await priceContents(tx, [...prices.values()].flat(), parts);
  const granted = await entitlementsWithParts(tx, [...entitlements.values()].flat(), {
    features: parts.features,
    plans: false,
    addons: false,
  });
  const pricedOf = Map.groupBy(priced, ({ price }) => price.entityId);
  const grantedOf = Map.groupBy(granted, ({ entitlement }) => entitlement.entityId);
  const grants = parts.creditGrants ? await grantsOf(tx, 'planId', ids) : new Map<string, CreditGrant[]>();
  return plans.map((plan) => ({
    plan,
    prices: parts.prices ? (pricedOf.get(plan.id) ?? []) : null,
    entitlements: parts.entitlements ? (grantedOf.get(plan.id) ?? []) : null,
    creditGrants: parts.creditGrants ? (grants.get(plan.id) ?? []) : null,
  }));
}

/** Entitlements, each with its feature (and through it the meter) and its plan or add-on when they are asked for. */
export async function entitlementsWithParts(
  tx: Transaction,
  entitlements: readonly Entitlement[],
  parts: { features: boolean; plans: boolean; addons: boolean },
): Promise<EntitlementWithFeature[]> {
  const features = parts.features
    ? await featuresById(
        tx,
        entitlements.map((row) => row.featureId),
      )
    : new Map<string, Feature>();
  const meters = await metersById(
    tx,
    [...features.values()].map((feature) => feature.meterId ?? null),
  );
  const plans = parts.plans
    ? await plansById(
        tx,
        entitlements.map((row) => row.entityId),
      )
    : new Map<string, Plan>();
  const addons = parts.addons
    ? await addonsById(
        tx,
        entitlements.map((row) => row.entityId),
      )
    : new Map<string, Addon>();
  return entitlements.map((entitlement) => {
    const feature = features.get(entitlement.featureId) ?? null;
    return {
      entitlement,
      feature,
      meter: meters.get(feature?.meterId ?? '') ?? null,
      plan: plans.get(entitlement.entityId) ?? null,
      addon: addons.get(entitlement.entityId) ?? null,
    };
  });
}
