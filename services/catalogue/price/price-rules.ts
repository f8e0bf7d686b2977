import { decimal } from '../../../billing/money/money.ts';
import type { StoredTier } from '../../../db/entities/catalogue/price.ts';
import { badField } from '../../../db/rows/record.ts';

export interface TransformQuantity {
  divide_by: number;
  round: 'up' | 'down';
}

/** The members that decide what a quantity costs. spec: catalogue-and-metering §4.3 */
export interface PricingTerms {
  billingModel: string;
  amount: string | null;
  tierMode: string | null;
  tiers: StoredTier[] | null;
  transformQuantity: TransformQuantity | null;
  percentageRate: string | null;
}

/** Some pricing members, as a caller sent them or as a row has them. */
export type SomeTerms = { [Member in keyof PricingTerms]?: PricingTerms[Member] | undefined };

/** The amounts of a price in its custom currency, as a caller sends them. spec: catalogue-and-metering §4.5 */
export interface SentUnitTerms {
  priceUnitAmount?: string | null | undefined;
  priceUnitTiers?: StoredTier[] | null | undefined;
}

/** A price as a caller defines it, defaults not yet applied. Decimals are plain strings, instants ISO strings in UTC. */
export interface NewPrice extends SomeTerms, SentUnitTerms {
  entityType?: string | undefined;
  entityId?: string | undefined;
  type: string;
  billingModel: string;
  billingCadence?: string | undefined;
  billingPeriod?: string | undefined;
  billingPeriodCount?: number | undefined;
  invoiceCadence: string;
  currency: string;
  priceUnitType?: string | undefined;
  /** The code of the custom currency of a CUSTOM price. */
  priceUnit?: string | undefined;
  meterId?: string | undefined;
  filterValues?: Record<string, string[]> | null | undefined;
  bucketSize?: string | null | undefined;
  minQuantity?: string | null | undefined;
  trialPeriodDays?: number | undefined;
  groupId?: string | undefined;
  startDate?: string | undefined;
  endDate?: string | null | undefined;
  displayName?: string | undefined;
  description?: string | undefined;
  lookupKey?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

/** What was sent about a stored price. */
export type SentPrice = { [Member in keyof NewPrice]?: NewPrice[Member] | undefined };

/** A rule of the table: the field it is about, what is wrong, and when. The first that applies is reported. */
interface Rule<T> {
  field: string;
  problem: string;
  when(input: T): boolean;
}

const termRules: readonly Rule<PricingTerms>[] = [
  {
    field: 'amount',
    problem: 'is required for FLAT_FEE and PACKAGE',
    when: (t) => (t.billingModel === 'FLAT_FEE' || t.billingModel === 'PACKAGE') && t.amount === null,
  },
  { field: 'amount', problem: 'must not be negative', when: (t) => isNegative(t.amount) },
  {
    field: 'tiers',
    problem: 'needs at least one tier for TIERED',
    when: (t) => t.billingModel === 'TIERED' && !t.tiers?.length,
  },
  {
    field: 'tiers',
    problem: 'belong to billing_model TIERED; leave them out or change the model',
    when: (t) => t.billingModel !== 'TIERED' && !!t.tiers?.length,
  },
  {
    field: 'tiers',
    problem: 'must have distinct up_to values, at most one of them null',
    when: (t) => new Set(t.tiers?.map((tier) => tier.up_to)).size !== (t.tiers?.length ?? 0),
  },
  {
    field: 'transform_quantity',
    problem: 'is required for PACKAGE: {"divide_by": 100, "round": "up"}',
    when: (t) => t.billingModel === 'PACKAGE' && t.transformQuantity === null,
  },
  {
    field: 'transform_quantity',
    problem: 'belongs to billing_model PACKAGE; leave it out or change the model',
    when: (t) => t.billingModel !== 'PACKAGE' && t.transformQuantity !== null,
  },
  {
    field: 'percentage_rate',
    problem: 'is required for PERCENTAGE',
    when: (t) => t.billingModel === 'PERCENTAGE' && t.percentageRate === null,
  },
  {
    field: 'percentage_rate',
    problem: 'belongs to billing_model PERCENTAGE; leave it out or change the model',
    when: (t) => t.billingModel !== 'PERCENTAGE' && t.percentageRate !== null,
  },
  { field: 'percentage_rate', problem: 'must not be negative', when: (t) => isNegative(t.percentageRate) },
  {
    field: 'amount',
    problem: 'cannot be combined with billing_model PERCENTAGE; send percentage_rate alone',
    when: (t) => t.billingModel === 'PERCENTAGE' && t.amount !== null,
  },
];

const priceRules: readonly Rule<NewPrice>[] = [
  {
    field: 'entity_type',
    problem: 'PRICE cannot own a price; use PLAN, SUBSCRIPTION or COSTSHEET',
    when: (p) => p.entityType === 'PRICE',
  },
  { field: 'entity_type', problem: 'or plan_id is required', when: (p) => !p.entityType },
  { field: 'entity_id', problem: 'is required with entity_type', when: (p) => !p.entityId },
  { field: 'meter_id', problem: 'is required for type USAGE', when: (p) => p.type === 'USAGE' && !p.meterId },
  {
    field: 'invoice_cadence',
    problem: 'must be ARREAR for type USAGE: usage is known only afterwards',
    when: (p) => p.type === 'USAGE' && p.invoiceCadence === 'ADVANCE',
  },
  {
    field: 'invoice_cadence',
    problem: 'must be ADVANCE for billing_period ONETIME',
    when: (p) => p.billingPeriod === 'ONETIME' && p.invoiceCadence !== 'ADVANCE',
  },
  {
    field: 'invoice_cadence',
    problem: 'must be ADVANCE for billing_cadence ONETIME',
    when: (p) => isOneTime(p) && p.invoiceCadence !== 'ADVANCE',
  },
  { field: 'billing_period', problem: 'is required', when: (p) => !p.billingPeriod && !isOneTime(p) },
  { field: 'billing_period_count', problem: 'must be at least 1', when: (p) => (p.billingPeriodCount ?? 1) < 1 },
  { field: 'min_quantity', problem: 'belongs to type FIXED', when: (p) => p.type === 'USAGE' && p.minQuantity != null },
  { field: 'min_quantity', problem: 'must not be negative', when: (p) => isNegative(p.minQuantity) },
  { field: 'trial_period_days', problem: 'must not be negative', when: (p) => (p.trialPeriodDays ?? 0) < 0 },
  {
    field: 'trial_period_days',
    problem: 'belongs to recurring FIXED prices; leave it out or send 0',
    when: (p) => (p.trialPeriodDays ?? 0) > 0 && (p.type !== 'FIXED' || isOneTime(p)),
  },
  { field: 'bucket_size', problem: 'belongs to type USAGE', when: (p) => p.type !== 'USAGE' && !!p.bucketSize },
  {
    field: 'amount',
    problem: 'belongs to price_unit_type FIAT; send price_unit_config.amount',
    when: (p) => p.priceUnitType === 'CUSTOM' && p.amount != null,
  },
  {
    field: 'price_unit_config',
    problem: 'cannot be combined with billing_model PERCENTAGE, which has no amounts; use FIAT',
    when: (p) => p.priceUnitType === 'CUSTOM' && p.billingModel === 'PERCENTAGE',
  },
  {
    field: 'end_date',
    problem: 'must not be before start_date',
    when: (p) => !!p.endDate && p.endDate < (p.startDate ?? new Date().toISOString()),
  },
];

/**
 * Refuses a price whose members do not fit together, before anything is read or written. `path` is where the price stands
 * in the request (`items[3].`).
 *
 * spec: catalogue-and-metering §4.1, §13 rows 11–20
 */
export function checkPrice(price: NewPrice, path = ''): void {
  const broken = priceRules.find((rule) => rule.when(price));
  if (broken) throw badField(path + broken.field, broken.problem);
  if (price.priceUnitType === 'CUSTOM') checkTerms(unitTerms(price), path, newUnitFields);
  else checkTerms(pricingTerms(price), path);
}

/** The members of the request that amount and tiers stand in. */
interface TermFields {
  amount: string;
  tiers: string;
}
const fiatFields: TermFields = { amount: 'amount', tiers: 'tiers' };
const newUnitFields: TermFields = { amount: 'price_unit_config.amount', tiers: 'price_unit_config.price_unit_tiers' };
/** The members of an update of a CUSTOM price. */
export const unitFields: TermFields = { amount: 'price_unit_amount', tiers: 'price_unit_tiers' };

/**
 * Refuses pricing terms that name no cost; also run over the terms a supersession leaves. `fields` says where the terms of a
 * custom currency were sent. spec: catalogue-and-metering §4.1
 */
export function checkTerms(terms: PricingTerms, path = '', fields = fiatFields): void {
  const broken = termRules.find((rule) => rule.when(terms));
  if (broken) throw badField(path + (fields[broken.field as keyof TermFields] ?? broken.field), broken.problem);
  terms.tiers?.forEach((tier, index) => {
    const at = `${path}${fields.tiers}[${index}]`;
    if (isNegative(tier.unit_amount)) throw badField(`${at}.unit_amount`, 'must not be negative');
    if (isNegative(tier.flat_amount)) throw badField(`${at}.flat_amount`, 'must not be negative');
    if (tier.up_to !== null && !decimal(tier.up_to).gt(0))
      throw badField(`${at}.up_to`, 'must be a positive integer, or null for the open tier');
  });
}

/** The pricing members of an input with defaults: TIERED prices VOLUME unless it says SLAB; `amount` of a TIERED one has no meaning. */
export function pricingTerms(price: SomeTerms & { billingModel: string }): PricingTerms {
  const tiered = price.billingModel === 'TIERED';
  return {
    billingModel: price.billingModel,
    amount: tiered ? null : (price.amount ?? null),
    tierMode: tiered ? (price.tierMode ?? 'VOLUME') : null,
    tiers: price.tiers?.length ? price.tiers : null,
    transformQuantity: price.transformQuantity ?? null,
    percentageRate: price.percentageRate ?? null,
  };
}

/** The pricing members of a CUSTOM price, in its custom currency. spec: catalogue-and-metering §4.5 */
export function unitTerms(price: SomeTerms & SentUnitTerms & { billingModel: string }): PricingTerms {
  return pricingTerms({ ...price, amount: price.priceUnitAmount, tiers: price.priceUnitTiers });
}

/** The terms a supersession leads to: what was sent over what stands, without the members of a model that was left. */
export function supersededTerms(stored: SomeTerms & { billingModel: string }, sent: SomeTerms): PricingTerms {
  const billingModel = sent.billingModel ?? stored.billingModel;
  const kept = billingModel === stored.billingModel ? pricingTerms(stored) : {};
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
  return pricingTerms({ ...kept, ...given, billingModel });
}

/** Whether a price bills once: by period, or by the older cadence that says the same. spec: catalogue-and-metering §4.1 */
export function isOneTime(price: { billingCadence?: string | undefined; billingPeriod?: string | undefined }): boolean {
  return price.billingCadence === 'ONETIME' || price.billingPeriod === 'ONETIME';
}

function isNegative(value: string | null | undefined): boolean {
  return value != null && decimal(value).lt(0);
}

/** What a new price says of when and in what it is charged, and what it counts, with the defaults. spec: catalogue-and-metering §4.1 */
export function cadenceColumns(input: NewPrice, meterId: string | null) {
  const oneTime = isOneTime(input);
  return {
    parentPriceId: null,
    type: input.type,
    billingCadence: oneTime ? 'ONETIME' : 'RECURRING',
    billingPeriod: oneTime ? 'ONETIME' : input.billingPeriod!,
    billingPeriodCount: input.billingPeriodCount ?? 1,
    invoiceCadence: input.invoiceCadence,
    currency: input.currency,
    priceUnitType: input.priceUnitType === 'CUSTOM' ? 'CUSTOM' : 'FIAT',
    meterId,
    filterValues: input.filterValues ?? null,
    bucketSize: input.bucketSize ?? null,
    minQuantity: input.minQuantity ?? null,
    trialPeriodDays: input.trialPeriodDays ?? 0,
  };
}
