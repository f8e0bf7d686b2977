import { Entitlement } from '../../db/entities/catalogue/entitlement.ts';
import { Feature } from '../../db/entities/catalogue/feature.ts';
import { Meter } from '../../db/entities/catalogue/meter.ts';
import { Plan } from '../../db/entities/catalogue/plan.ts';
import { Price } from '../../db/entities/catalogue/price.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import type { Transaction } from '../../db/transaction.ts';

/*
 * What `filters[]` and `sort[]` of the catalogue's lists may name: the scalar columns of each record, by wire name.
 * spec: catalogue-and-metering §2.1–2.3
 */

const planList: ListDefinition<Plan> = {
  entity: Plan,
  columns: { name: 'string', description: 'string', lookup_key: 'string', display_order: 'integer' },
};

const priceList: ListDefinition<Price> = {
  entity: Price,
  columns: {
    entity_type: 'string',
    entity_id: 'string',
    parent_price_id: 'string',
    type: 'string',
    billing_model: 'string',
    billing_cadence: 'string',
    billing_period: 'string',
    billing_period_count: 'integer',
    invoice_cadence: 'string',
    currency: 'string',
    amount: 'decimal',
    tier_mode: 'string',
    price_unit_type: 'string',
    price_unit: 'string',
    price_unit_id: 'string',
    price_unit_amount: 'decimal',
    conversion_rate: 'decimal',
    percentage_rate: 'decimal',
    meter_id: 'string',
    bucket_size: 'string',
    min_quantity: 'decimal',
    trial_period_days: 'integer',
    group_id: 'string',
    start_date: 'date',
    end_date: 'date',
    display_name: 'string',
    description: 'string',
    lookup_key: 'string',
    sequence: 'integer',
  },
};

/** Archived features stay listed. */
const featureList: ListDefinition<Feature> = {
  entity: Feature,
  columns: {
    name: 'string',
    description: 'string',
    lookup_key: 'string',
    type: 'string',
    meter_id: 'string',
    group_id: 'string',
    unit_singular: 'string',
    unit_plural: 'string',
  },
  statuses: ['published', 'archived'],
};

/** Archived meters stay listed. */
const meterList: ListDefinition<Meter> = {
  entity: Meter,
  columns: { name: 'string', event_name: 'string', reset_usage: 'string' },
  statuses: ['published', 'archived'],
};

const entitlementList: ListDefinition<Entitlement> = {
  entity: Entitlement,
  columns: {
    entity_type: 'string',
    entity_id: 'string',
    feature_id: 'string',
    feature_type: 'string',
    is_enabled: 'boolean',
    is_soft_limit: 'boolean',
    static_value: 'string',
    usage_limit: 'decimal',
    usage_reset_period: 'string',
    aggregation_mode: 'string',
    parent_entitlement_id: 'string',
    display_order: 'integer',
    start_date: 'date',
    end_date: 'date',
  },
};

type Ids = readonly string[] | null | undefined;
type Text = string | null | undefined;

export interface PlanFilters {
  planIds?: Ids;
  lookupKey?: Text;
}

/** One page of plans. spec: catalogue-and-metering §2.3 */
export function listPlans(tx: Transaction, query: ListQuery, filters: PlanFilters): Promise<ListPage<Plan>> {
  return listPage(tx, planList, query, { ...anyOf('id', filters.planIds), ...equal('lookupKey', filters.lookupKey) });
}

export interface PriceFilters {
  priceIds?: Ids;
  planIds?: Ids;
  entityType?: Text;
  entityIds?: Ids;
  meterIds?: Ids;
  billingPeriods?: Ids;
  subscriptionId?: Text;
  parentPriceId?: Text;
  lookupKeys?: Ids;
  startDateBefore?: Text;
  allowExpiredPrices?: boolean | null | undefined;
}

/** One page of prices; those that have ended are hidden unless they are asked for. spec: catalogue-and-metering §2.3 */
export function listPrices(tx: Transaction, query: ListQuery, filters: PriceFilters): Promise<ListPage<Price>> {
  const { planIds, subscriptionId, startDateBefore } = filters;
  const notEnded = { $or: [{ endDate: null }, { endDate: { $gt: new Date().toISOString() } }] };
  return listPage(tx, priceList, query, {
    $and: [
      anyOf('id', filters.priceIds),
      planIds?.length ? { entityType: 'PLAN', entityId: { $in: [...planIds] } } : {},
      equal('entityType', filters.entityType),
      anyOf('entityId', filters.entityIds),
      anyOf('meterId', filters.meterIds),
      anyOf('billingPeriod', filters.billingPeriods),
      subscriptionId ? { entityType: 'SUBSCRIPTION', entityId: subscriptionId } : {},
      equal('parentPriceId', filters.parentPriceId),
      anyOf('lookupKey', filters.lookupKeys),
      startDateBefore ? { startDate: { $lt: startDateBefore } } : {},
      filters.allowExpiredPrices ? {} : notEnded,
    ],
  });
}

export interface FeatureFilters {
  featureIds?: Ids;
  meterIds?: Ids;
  lookupKey?: Text;
  lookupKeys?: Ids;
  nameContains?: Text;
}

/** One page of features, archived ones too. spec: catalogue-and-metering §2.3 */
export function listFeatures(tx: Transaction, query: ListQuery, filters: FeatureFilters): Promise<ListPage<Feature>> {
  const contained = filters.nameContains?.replace(/[\\%_]/g, (character) => `\\${character}`);
  return listPage(tx, featureList, query, {
    ...anyOf('id', filters.featureIds),
    ...anyOf('meterId', filters.meterIds),
    ...(contained ? { name: { $ilike: `%${contained}%` } } : {}),
    $and: [equal('lookupKey', filters.lookupKey), anyOf('lookupKey', filters.lookupKeys)],
  });
}

export interface MeterFilters {
  eventName?: Text;
  meterIds?: Ids;
}

/** One page of meters, archived ones too. spec: catalogue-and-metering §2.3 */
export function listMeters(tx: Transaction, query: ListQuery, filters: MeterFilters): Promise<ListPage<Meter>> {
  return listPage(tx, meterList, query, { ...anyOf('id', filters.meterIds), ...equal('eventName', filters.eventName) });
}

export interface EntitlementFilters {
  entityType?: Text;
  entityIds?: Ids;
  planIds?: Ids;
  addonIds?: Ids;
  featureIds?: Ids;
  featureType?: Text;
  isEnabled?: boolean | null | undefined;
  hasGrantConfig?: boolean | null | undefined;
}

/** One page of entitlements. spec: catalogue-and-metering §2.3 */
export function listEntitlements(
  tx: Transaction,
  query: ListQuery,
  filters: EntitlementFilters,
): Promise<ListPage<Entitlement>> {
  const { planIds, addonIds, isEnabled } = filters;
  return listPage(tx, entitlementList, query, {
    $and: [
      equal('entityType', filters.entityType),
      anyOf('entityId', filters.entityIds),
      planIds?.length ? { entityType: 'PLAN', entityId: { $in: [...planIds] } } : {},
      addonIds?.length ? { entityType: 'ADDON', entityId: { $in: [...addonIds] } } : {},
      anyOf('featureId', filters.featureIds),
      equal('featureType', filters.featureType),
      isEnabled == null ? {} : { isEnabled },
      filters.hasGrantConfig == null ? {} : { grantQuota: filters.hasGrantConfig ? { $ne: null } : null },
    ],
  });
}

/** A filter by one value; an empty one restricts nothing. */
function equal(property: string, value: Text): Record<string, unknown> {
  return value ? { [property]: value } : {};
}
