import { z } from 'zod';
import { currencySymbol } from '../../billing/money.ts';
import type { Addon } from '../../db/entities/addon.ts';
import type { Group } from '../../db/entities/group.ts';
import type { Meter } from '../../db/entities/meter.ts';
import type { Plan } from '../../db/entities/plan.ts';
import type { Price } from '../../db/entities/price.ts';
import { jsonNumber } from '../decimal.ts';
import { addonRecord, viewAddonRecord } from './addon-record.ts';
import { group, viewGroup } from './group.ts';
import { meter, viewMeter } from './meter.ts';
import { planRecord, viewPlanRecord } from './plan-record.ts';
import { decimalOutput, metadataOutput, numberOutput, recordOutput, timestampOutput, viewRecord } from './scalars.ts';

const tier = <T extends z.ZodType>(amount: T) =>
  z.object({ up_to: z.int().nullable(), unit_amount: amount, flat_amount: amount });

const priceShape = <T extends z.ZodType>(amount: T) => ({
  ...recordOutput,
  entity_type: z.string(),
  entity_id: z.string(),
  plan_id: z.string().nullable(),
  parent_price_id: z.string().nullable(),
  type: z.enum(['USAGE', 'FIXED']),
  billing_model: z.enum(['FLAT_FEE', 'PACKAGE', 'TIERED', 'PERCENTAGE']),
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
  price_unit_type: z.string(),
  price_unit: z.null(),
  price_unit_id: z.null(),
  price_unit_amount: z.null(),
  display_price_unit_amount: z.null(),
  price_unit_tiers: z.null(),
  conversion_rate: z.null(),
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
  pricing_unit: z.null(),
  feature: z.null(),
});

/** A price as most operations answer it: amounts are decimal strings. spec: catalogue-and-metering §4.1 */
export const price = z.object(priceShape(decimalOutput())).meta({ id: 'Price' });

/** A price with its amounts as JSON numbers, as the price update answers it. spec: catalogue-and-metering §1.1 N2 */
export const priceWithNumbers = z.object(priceShape(numberOutput())).meta({ id: 'PriceWithNumbers' });

type PriceView = z.output<typeof price>;

interface BesidePrice {
  meter?: Meter | null;
  plan?: Plan | null;
  addon?: Addon | null;
  group?: Group | null;
}

/** The wire form of a price; what is not given beside it was not asked for and is null. */
export function viewPrice(row: Price, beside: BesidePrice = {}): PriceView {
  return {
    ...viewRecord(row),
    ...viewOwner(row),
    ...viewTerms(row),
    ...customUnit,
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
    pricing_unit: null,
    feature: null,
  };
}

/** Prices in custom units are not sold yet: their members are always empty. */
const customUnit = {
  price_unit_type: 'FIAT',
  price_unit: null,
  price_unit_id: null,
  price_unit_amount: null,
  display_price_unit_amount: null,
  price_unit_tiers: null,
  conversion_rate: null,
} as const;

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
    tiers:
      row.tiers?.map((stored) => ({ ...stored, up_to: stored.up_to === null ? null : Number(stored.up_to) })) ?? null,
    transform_quantity: row.transformQuantity ?? null,
    percentage_rate: row.percentageRate ?? null,
  };
}

/** The same price with JSON numbers where the amounts were strings. */
export function withNumbers(view: PriceView): z.output<typeof priceWithNumbers> {
  const number = (text: string | null) => (text === null ? null : jsonNumber(text));
  return {
    ...view,
    amount: number(view.amount),
    percentage_rate: number(view.percentage_rate),
    min_quantity: number(view.min_quantity),
    tiers:
      view.tiers?.map((stored) => ({
        up_to: stored.up_to,
        unit_amount: jsonNumber(stored.unit_amount),
        flat_amount: jsonNumber(stored.flat_amount),
      })) ?? null,
  };
}
