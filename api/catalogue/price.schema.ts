import { z } from 'zod';
import { currencySymbol } from '../../billing/money/money.ts';
import { billingModels } from '../../billing/price/price-terms.ts';
import type { Addon } from '../../db/entities/catalogue/addon.ts';
import type { Group } from '../../db/entities/catalogue/group.ts';
import type { Meter } from '../../db/entities/catalogue/meter.ts';
import type { Plan } from '../../db/entities/catalogue/plan.ts';
import type { Price, StoredTier } from '../../db/entities/catalogue/price.ts';
import type { PriceUnit } from '../../db/entities/catalogue/price-unit.ts';
import { type DecimalFormat, formatted } from '../decimal-format.ts';
import {
  decimalOutput,
  formattedOutput,
  metadataOutput,
  recordOutput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';
import { addonRecord, viewAddonRecord } from './addon-record.schema.ts';
import { group, viewGroup } from './group.schema.ts';
import { meter, viewMeter } from './meter.schema.ts';
import { planRecord, viewPlanRecord } from './plan-record.schema.ts';
import { priceUnit, viewPriceUnit } from './price-unit.schema.ts';

const tier = <T extends z.ZodType>(amount: T) =>
  z.object({ up_to: z.int().nullable(), unit_amount: amount, flat_amount: amount });

const priceShape = <T extends z.ZodType>(amount: T) => ({
  ...recordOutput,
  entity_type: z.string(),
  entity_id: z.string(),
  plan_id: z.string().nullable(),
  parent_price_id: z.string().nullable(),
  type: z.enum(['USAGE', 'FIXED']),
  billing_model: z.enum(billingModels),
  billing_cadence: z.string(),
  billing_period: z.string(),
  billing_period_count: z.int(),
  invoice_cadence: z.enum(['ARREAR', 'ADVANCE']),
  currency: z.string(),
  amount: amount.nullable(),
  display_amount: z.string().nullable(),
  tier_mode: z.enum(['VOLUME', 'SLAB']).nullable(),
  tiers: z.array(tier(amount)).nullable(),
  transform_quantity: z.object({ divide_by: z.int(), round: z.enum(['up', 'down']) }).nullable(),
  percentage_rate: amount.nullable(),
  price_unit_type: z.enum(['FIAT', 'CUSTOM']),
  price_unit: z.string().nullable(),
  price_unit_id: z.string().nullable(),
  price_unit_amount: amount.nullable(),
  display_price_unit_amount: z.string().nullable(),
  price_unit_tiers: z.array(tier(amount)).nullable(),
  conversion_rate: amount.nullable(),
  meter_id: z.string().nullable(),
  filter_values: z.record(z.string(), z.array(z.string())).nullable(),
  bucket_size: z.string().nullable(),
  min_quantity: amount.nullable(),
  trial_period: z.int(),
  trial_period_days: z.int(),
  group_id: z.string().nullable(),
  start_date: timestampOutput(),
  end_date: timestampOutput().nullable(),
  display_name: z.string().nullable(),
  description: z.string().nullable(),
  lookup_key: z.string().nullable(),
  sequence: z.int(),
  metadata: metadataOutput(),
  meter: meter.nullable(),
  plan: planRecord.nullable(),
  addon: addonRecord.nullable(),
  group: group.nullable(),
  pricing_unit: priceUnit.nullable(),
  feature: z.null(),
});

/** A price as most operations answer it: amounts are decimal strings. spec: catalogue-and-metering §4.1 */
export const price = z.object(priceShape(decimalOutput())).meta({ id: 'Price' });

/** A price with its amounts in the environment's format, as the price update answers it. spec: catalogue-and-metering §1.1 N2 */
export const priceWithNumbers = z.object(priceShape(formattedOutput())).meta({ id: 'PriceWithNumbers' });

type PriceView = z.output<typeof price>;

interface BesidePrice {
  meter?: Meter | null;
  plan?: Plan | null;
  addon?: Addon | null;
  group?: Group | null;
  pricingUnit?: PriceUnit | null;
  /** The custom currency of the price, for its symbol. */
  unit?: PriceUnit | null;
}

/** The wire form of a price; what is not given beside it was not asked for and is null. */
export function viewPrice(row: Price, beside: BesidePrice = {}): PriceView {
  return {
    ...viewRecord(row),
    ...viewOwner(row),
    ...viewTerms(row),
    ...viewUnitTerms(row, beside.unit ?? null),
    type: row.type as PriceView['type'],
    billing_cadence: row.billingCadence,
    billing_period: row.billingPeriod,
    billing_period_count: row.billingPeriodCount,
    invoice_cadence: row.invoiceCadence as PriceView['invoice_cadence'],
    meter_id: row.meterId ?? null,
    filter_values: row.filterValues ?? null,
    bucket_size: row.bucketSize ?? null,
    min_quantity: row.minQuantity ?? null,
    trial_period: row.trialPeriodDays,
    trial_period_days: row.trialPeriodDays,
    group_id: row.groupId ?? null,
    start_date: row.startDate,
    end_date: row.endDate ?? null,
    display_name: row.displayName || null,
    description: row.description || null,
    lookup_key: row.lookupKey || null,
    sequence: row.sequence,
    metadata: row.metadata,
    meter: beside.meter ? viewMeter(beside.meter) : null,
    plan: beside.plan ? viewPlanRecord(beside.plan) : null,
    addon: beside.addon ? viewAddonRecord(beside.addon) : null,
    group: beside.group ? viewGroup(beside.group) : null,
    pricing_unit: beside.pricingUnit ? viewPriceUnit(beside.pricingUnit) : null,
    feature: null,
  };
}

/** What the price is in its custom currency; null in a fiat one. spec: catalogue-and-metering §4.5 */
function viewUnitTerms(row: Price, unit: PriceUnit | null) {
  const amount = row.priceUnitAmount ?? null;
  const symbol = unit?.symbol ?? row.priceUnit?.toUpperCase();
  return {
    price_unit_type: row.priceUnitType as PriceView['price_unit_type'],
    price_unit: row.priceUnit ?? null,
    price_unit_id: row.priceUnitId ?? null,
    price_unit_amount: amount,
    display_price_unit_amount: amount === null ? null : `${symbol}${amount}`,
    price_unit_tiers: row.priceUnitTiers?.map(viewTier) ?? null,
    conversion_rate: row.conversionRate ?? null,
  };
}

function viewTier(stored: StoredTier) {
  return { ...stored, up_to: stored.up_to === null ? null : Number(stored.up_to) };
}

function viewOwner(row: Price) {
  return {
    entity_type: row.entityType,
    entity_id: row.entityId,
    plan_id: row.entityType === 'PLAN' ? row.entityId : null,
    parent_price_id: row.parentPriceId ?? null,
  };
}

function viewTerms(row: Price) {
  const amount = row.amount ?? null;
  return {
    billing_model: row.billingModel as PriceView['billing_model'],
    currency: row.currency,
    amount,
    display_amount: amount === null ? null : `${currencySymbol(row.currency)}${amount}`,
    tier_mode: (row.tierMode ?? null) as PriceView['tier_mode'],
    tiers: row.tiers?.map(viewTier) ?? null,
    transform_quantity: row.transformQuantity ?? null,
    percentage_rate: row.percentageRate ?? null,
  };
}

/** The same price with its amounts in the environment's format, numbers unless it says otherwise. */
export function withNumbers(view: PriceView, format: DecimalFormat): z.output<typeof priceWithNumbers> {
  const tier = ({ up_to, unit_amount, flat_amount }: ReturnType<typeof viewTier>) => {
    return { up_to, unit_amount: format(unit_amount), flat_amount: format(flat_amount) };
  };
  return {
    ...view,
    amount: formatted(format, view.amount),
    percentage_rate: formatted(format, view.percentage_rate),
    min_quantity: formatted(format, view.min_quantity),
    tiers: view.tiers?.map(tier) ?? null,
    price_unit_amount: formatted(format, view.price_unit_amount),
    price_unit_tiers: view.price_unit_tiers?.map(tier) ?? null,
    conversion_rate: formatted(format, view.conversion_rate),
  };
}
