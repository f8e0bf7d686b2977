import { z } from 'zod';
import { billingModels } from '../../billing/price/price-terms.ts';
import type { StoredTier } from '../../db/entities/catalogue/price.ts';
import type { PriceChange } from '../../services/catalogue/price/price-change.ts';
import type { NewPrice, SentPrice, SentUnitTerms, SomeTerms } from '../../services/catalogue/price/price-rules.ts';
import { currencyInput, decimalInput, metadataInput, timestampInput } from '../scalars.schema.ts';
import { windowSizes } from './meter.schema.ts';
import { priceUnitCode } from './price-unit.schema.ts';

export const billingPeriods = ['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'ONETIME'] as const;
const ownerTypes = ['PLAN', 'ADDON', 'SUBSCRIPTION', 'COSTSHEET'] as const;
/** Owners that a list may ask for: PRICE is a name of the interface that owns nothing here. */
export const priceEntityTypes = [...ownerTypes, 'PRICE'] as const;

const tiers = z
  .array(
    z.object({
      up_to: z
        .int('must be a positive integer, or null for the open tier')
        .positive('must be a positive integer, or null for the open tier')
        .nullish(),
      unit_amount: decimalInput({ min: '0' }),
      flat_amount: decimalInput({ min: '0' }).nullish(),
    }),
  )
  .max(1000);

const pricingFields = {
  amount: decimalInput({ min: '0' }).nullish(),
  tier_mode: z.union([z.literal(''), z.enum(['VOLUME', 'SLAB'])]).nullish(),
  tiers: tiers.nullish(),
  transform_quantity: z
    .object({
      divide_by: z
        .int('must be an integer of at least 1')
        .min(1, 'must be an integer of at least 1')
        .max(1_000_000_000),
      round: z.union([z.literal(''), z.enum(['up', 'down'])]).nullish(),
    })
    .nullish(),
  percentage_rate: decimalInput({ min: '0' }).nullish(),
};

/** As many as a meter has filters. */
const maxFilterKeys = 100;

const days = z.int().min(0, 'must not be negative').max(36_500).nullish();

/** Every member of a price a caller may send, with what each must be on its own. spec: catalogue-and-metering §4.1 */
const priceFields = {
  ...pricingFields,
  plan_id: z.string().max(255).nullish(),
  entity_type: z.union([z.literal(''), z.enum(ownerTypes, 'must be PLAN, ADDON, SUBSCRIPTION or COSTSHEET')]).nullish(),
  entity_id: z.string().max(255).nullish(),
  type: z.enum(['USAGE', 'FIXED']),
  billing_model: z.enum(billingModels),
  billing_cadence: z.enum(['RECURRING', 'ONETIME']).nullish(),
  billing_period: z.enum(billingPeriods).nullish(),
  billing_period_count: z.int().min(1, 'must be at least 1').max(1000).nullish(),
  invoice_cadence: z.enum(['ARREAR', 'ADVANCE']),
  currency: currencyInput(),
  price_unit_type: z.enum(['FIAT', 'CUSTOM']).nullish(),
  price_unit_config: z
    .object({
      price_unit: priceUnitCode(),
      amount: decimalInput({ min: '0' }).nullish(),
      price_unit_tiers: tiers.nullish(),
    })
    .nullish(),
  meter_id: z.string().max(255).nullish(),
  filter_values: z
    .record(z.string().min(1), z.array(z.string().max(1000)).max(1000))
    .refine((filters) => Object.keys(filters).length <= maxFilterKeys, {
      message: `must have at most ${maxFilterKeys} keys`,
    })
    .nullish(),
  bucket_size: z
    .union([z.literal(''), z.enum(windowSizes)])
    .nullish()
    .describe("Buckets in place of the meter's own; only for a meter of type SUM or MAX."),
  min_quantity: decimalInput({ min: '0' }).nullish(),
  trial_period: days,
  trial_period_days: days,
  group_id: z.string().max(255).nullish(),
  start_date: timestampInput().nullish(),
  end_date: timestampInput().nullish(),
  display_name: z.string().max(255).nullish(),
  lookup_key: z.string().max(255).nullish(),
  description: z.string().max(10_000).nullish(),
  metadata: metadataInput().nullish(),
};

const priceObject = z.object(priceFields);
const partialPrice = priceObject.partial();
type PartialPrice = z.output<typeof partialPrice>;

/** What contradicts itself within the names of the request: two spellings of one member. */
function contradictions(body: PartialPrice): { field: string; problem: string } | null {
  const { trial_period, trial_period_days, plan_id, entity_type, entity_id } = body;
  if (trial_period != null && trial_period_days != null && trial_period !== trial_period_days) {
    return { field: 'trial_period_days', problem: 'must equal trial_period when both are sent' };
  }
  if (plan_id && ((entity_type && entity_type !== 'PLAN') || (entity_id && entity_id !== plan_id))) {
    return { field: 'plan_id', problem: 'must name the same plan as entity_type and entity_id when both are sent' };
  }
  return null;
}

/** What contradicts itself in a new price about its custom currency; an update may repeat what an answer showed. */
function unitContradictions(body: PartialPrice): { field: string; problem: string } | null {
  const { price_unit_type, price_unit_config } = body;
  if (price_unit_type === 'CUSTOM' && !price_unit_config) {
    return { field: 'price_unit_config', problem: 'is required for price_unit_type CUSTOM' };
  }
  if (price_unit_type !== 'CUSTOM' && price_unit_config) {
    return { field: 'price_unit_config', problem: 'belongs to price_unit_type CUSTOM' };
  }
  if (price_unit_config && body.tiers?.length) {
    return { field: 'tiers', problem: 'cannot be combined with price_unit_config; send price_unit_tiers in it' };
  }
  return null;
}

function refuseContradictions(context: z.RefinementCtx, body: PartialPrice, isNew: boolean): void {
  const found = contradictions(body) ?? (isNew ? unitContradictions(body) : null);
  if (found) context.addIssue({ code: 'custom', path: [found.field], message: found.problem });
}

export const createPriceBody = priceObject
  .superRefine((body, context) => refuseContradictions(context, body, true))
  .meta({
    examples: [
      {
        plan_id: 'plan_01K9ZQ3V5W6X7Y8Z9A0B1C2D3E',
        type: 'FIXED',
        billing_model: 'FLAT_FEE',
        billing_period: 'MONTHLY',
        invoice_cadence: 'ADVANCE',
        currency: 'usd',
        amount: '49.00',
      },
    ],
  });

/** A new price of one subscription, in its currency where none is sent. spec: subscriptions-and-invoicing §1.9 */
export const subscriptionPriceBody = priceObject
  .extend({ currency: currencyInput().optional().describe("The subscription's where it is left out.") })
  .superRefine((body, context) => refuseContradictions(context, body, true));

export const createPricesBody = z.object({
  items: z.array(createPriceBody).min(1, 'must have 1 to 100 items').max(100, 'must have 1 to 100 items'),
});

const requiredOfNew = ['type', 'billing_model', 'invoice_cadence', 'currency'] as const;

/** A price in a plan update: with `id` an update of that price, without one a new price of the plan. spec: §3 Update */
export const planPriceElement = partialPrice
  .extend({ id: z.string().max(255).nullish() })
  .superRefine((body, context) => {
    refuseContradictions(context, body, !body.id);
    if (body.id) return;
    const absent = requiredOfNew.find((field) => body[field] === undefined);
    if (absent) context.addIssue({ code: 'custom', path: [absent], message: 'is required for a new price' });
  });

export const updatePriceBody = z.object({
  ...pricingFields,
  billing_model: priceFields.billing_model.nullish(),
  price_unit_amount: decimalInput({ min: '0' }).nullish(),
  price_unit_tiers: tiers.nullish(),
  effective_from: timestampInput().nullish(),
  description: priceFields.description,
  lookup_key: priceFields.lookup_key,
  metadata: priceFields.metadata,
  display_name: priceFields.display_name,
  group_id: priceFields.group_id,
});

export const endPriceBody = z.object({ end_date: timestampInput().nullish() }).nullish();

/** The sent members in the words of the store; absent and null ones are left out where null has no meaning of its own. */
export function sentPrice(body: PartialPrice): SentPrice {
  const { plan_id, price_unit_config: unit } = body;
  return {
    ...sentTerms(body),
    entityType: body.entity_type || (plan_id ? 'PLAN' : undefined),
    entityId: body.entity_id || plan_id || undefined,
    type: body.type,
    billingModel: body.billing_model,
    billingCadence: body.billing_cadence ?? undefined,
    billingPeriod: body.billing_period ?? undefined,
    billingPeriodCount: body.billing_period_count ?? undefined,
    invoiceCadence: body.invoice_cadence,
    currency: body.currency,
    priceUnitType: body.price_unit_type ?? undefined,
    priceUnit: unit?.price_unit,
    ...sentUnitTerms({ price_unit_amount: unit?.amount, price_unit_tiers: unit?.price_unit_tiers }),
    meterId: body.meter_id ?? undefined,
    filterValues: body.filter_values ?? undefined,
    bucketSize: body.bucket_size || undefined,
    minQuantity: body.min_quantity ?? undefined,
    trialPeriodDays: body.trial_period_days ?? body.trial_period ?? undefined,
    groupId: body.group_id ?? undefined,
    startDate: body.start_date ?? undefined,
    endDate: body.end_date ?? undefined,
    displayName: body.display_name ?? undefined,
    description: body.description ?? undefined,
    lookupKey: body.lookup_key ?? undefined,
    metadata: body.metadata ?? undefined,
  };
}

/** A new price; the schema has made sure of the members every price needs. */
export function newPrice(body: PartialPrice, owner: { entityType?: string; entityId?: string } = {}): NewPrice {
  return { ...sentPrice(body), ...owner } as NewPrice;
}

export function priceChange(body: z.output<typeof updatePriceBody>): PriceChange {
  return {
    terms: { ...sentTerms(body), ...sentUnitTerms(body), billingModel: body.billing_model ?? undefined },
    effectiveFrom: body.effective_from ?? undefined,
    description: body.description ?? undefined,
    lookupKey: body.lookup_key ?? undefined,
    metadata: body.metadata ?? undefined,
    displayName: body.display_name ?? undefined,
    groupId: body.group_id ?? undefined,
  };
}

function sentTerms(body: Pick<PartialPrice, keyof typeof pricingFields>): SomeTerms {
  const { transform_quantity: transform } = body;
  return {
    amount: body.amount ?? undefined,
    tierMode: body.tier_mode || undefined,
    tiers: body.tiers?.map(storedTier),
    transformQuantity: transform ? { divide_by: transform.divide_by, round: transform.round || 'up' } : undefined,
    percentageRate: body.percentage_rate ?? undefined,
  };
}

function sentUnitTerms(
  body: Pick<z.output<typeof updatePriceBody>, 'price_unit_amount' | 'price_unit_tiers'>,
): SentUnitTerms {
  return {
    priceUnitAmount: body.price_unit_amount ?? undefined,
    priceUnitTiers: body.price_unit_tiers?.map(storedTier),
  };
}

function storedTier({ up_to, unit_amount, flat_amount }: z.output<typeof tiers>[number]): StoredTier {
  return { up_to: up_to == null ? null : String(up_to), unit_amount, flat_amount: flat_amount ?? '0' };
}
