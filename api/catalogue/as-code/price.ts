import { z } from 'zod';
import { Price, type StoredTier } from '../../../db/entities/catalogue/price.ts';
import { createPrice, endPrice } from '../../../services/catalogue/price/price.ts';
import { updatePrice } from '../../../services/catalogue/price/price-change.ts';
import { createPriceBody, newPrice } from '../price-input.schema.ts';
import { type CatalogueContext, type CatalogueNoun, type Entry, featureNamed, groupKey, groupNamed } from './noun.ts';

const fields = createPriceBody.shape;
const text = z.string().min(1, 'must not be empty').max(255);
type Tiers = { up_to?: number | null | undefined; unit_amount: string; flat_amount?: string | null | undefined }[];

/** Tiers as they are compared: every member there. */
function wholeTiers(tiers: Tiers | null | undefined) {
  const whole = tiers?.map(({ up_to, unit_amount, flat_amount }) => ({
    up_to: up_to ?? null,
    unit_amount,
    flat_amount: flat_amount ?? '0',
  }));
  return whole ?? null;
}

/** Members that may be written on a price; the others make a new one. spec: catalogue-and-metering §4.2 */
const presentation = ['key', 'description', 'metadata', 'display_name', 'group'];
const terms = [
  'amount',
  'billing_model',
  'tier_mode',
  'tiers',
  'transform_quantity',
  'percentage_rate',
  'price_unit_config',
];

/**
 * The prices of a plan or add-on that have no end. What it costs is changed by a successor, what it is about (its currency,
 * its period, its meter) by ending it and making another under its key; the old one keeps all its values either way.
 * spec: catalogue-and-metering §4
 */
export const priceNoun: CatalogueNoun = {
  noun: 'price',
  section: 'prices',
  permission: 'price:write',
  identity: 'key',
  implied: { flat_amount: '0', round: 'up' },
  verbatim: ['filter_values'],
  fields: { lookup_key: 'key', meter_id: 'feature', group_id: 'group', effective_from: '', end_date: '', id: '' },
  schema: z
    .strictObject({
      key: text.optional(),
      id: text.optional(),
      display_name: fields.display_name,
      type: fields.type,
      billing_model: fields.billing_model,
      billing_period: fields.billing_period,
      billing_period_count: fields.billing_period_count,
      invoice_cadence: fields.invoice_cadence,
      currency: fields.currency,
      amount: fields.amount,
      tier_mode: z.enum(['VOLUME', 'SLAB']).nullish(),
      tiers: fields.tiers.transform(wholeTiers),
      transform_quantity: fields.transform_quantity.transform((sent) => sent && { ...sent, round: sent.round || 'up' }),
      percentage_rate: fields.percentage_rate,
      price_unit_config: fields.price_unit_config.transform(
        (sent) =>
          sent && {
            price_unit: sent.price_unit,
            amount: sent.amount ?? null,
            price_unit_tiers: wholeTiers(sent.price_unit_tiers),
          },
      ),
      feature: text.nullish(),
      meter: text.nullish(),
      filter_values: fields.filter_values,
      bucket_size: fields.bucket_size,
      min_quantity: fields.min_quantity,
      trial_period_days: fields.trial_period_days,
      group: text.nullish(),
      description: fields.description,
      metadata: fields.metadata,
    })
    .refine((entry) => entry.key !== undefined || entry.id !== undefined, { path: ['key'], message: 'is required' }),
  defaults: (entry, context) => ({
    key: '',
    display_name: defaultName(entry, context),
    type: '',
    billing_model: '',
    billing_period: null,
    billing_period_count: 1,
    invoice_cadence: '',
    currency: '',
    amount: null,
    tier_mode: entry.billing_model === 'TIERED' ? 'VOLUME' : null,
    tiers: null,
    transform_quantity: null,
    percentage_rate: null,
    price_unit_config: null,
    feature: null,
    meter: null,
    filter_values: null,
    bucket_size: '',
    min_quantity: null,
    trial_period_days: 0,
    group: null,
    description: '',
    metadata: {},
  }),
  async read(tx, context) {
    const { entityType, id: entityId } = context.owner!;
    const owned = { environmentId: tx.scope.environmentId, status: 'published', entityType, entityId, endDate: null };
    const rows = await tx.em.find(Price, owned, { orderBy: { createdAt: 'asc', id: 'asc' } });
    return rows.map((row) => ({ id: row.id, key: row.lookupKey, entry: entryOf(row, context) }));
  },
  async create(tx, entry, context) {
    return (await createPrice(tx, newPriceOf(entry, context))).id;
  },
  async update(tx, stored, entry, changed, context) {
    const { id } = stored;
    const isFixed = (member: string) => !presentation.includes(member) && !terms.includes(member);
    if (changed.some(isFixed) || unitOf(stored.entry) !== unitOf(entry)) {
      await endPrice(tx, id, context.effectiveFrom);
      await createPrice(tx, newPriceOf(entry, context));
      return 'replace';
    }
    const wanted = newPriceOf(entry, context);
    const isDearer = changed.some((member) => terms.includes(member));
    const { amount, tierMode, tiers, transformQuantity, percentageRate, billingModel } = wanted;
    const { priceUnitAmount, priceUnitTiers } = wanted;
    const inUnit = { priceUnitAmount: priceUnitAmount ?? undefined, priceUnitTiers: priceUnitTiers ?? undefined };
    await updatePrice(tx, id, {
      terms: isDearer ? { amount, tierMode, tiers, transformQuantity, percentageRate, billingModel, ...inUnit } : {},
      effectiveFrom: isDearer ? context.effectiveFrom : undefined,
      description: wanted.description ?? '',
      lookupKey: wanted.lookupKey ?? '',
      metadata: wanted.metadata ?? {},
      displayName: wanted.displayName || defaultName(entry, context),
      groupId: groupNamed(context, 'price', entry.group),
    });
    return isDearer ? 'supersede' : 'update';
  },
  async remove(tx, { id }, context) {
    await endPrice(tx, id, context.effectiveFrom);
  },
};

function newPriceOf(entry: Entry, context: CatalogueContext) {
  const { key, id: _id, feature, meter, group, ...members } = entry;
  const { entityType, id: entityId } = context.owner!;
  const meterId = feature ? featureNamed(context, feature).meterId : (meter as string | null | undefined);
  return {
    ...newPrice({ ...members, ...unitType(entry), lookup_key: (key as string) ?? '' } as Parameters<
      typeof newPrice
    >[0]),
    entityType,
    entityId,
    meterId: meterId ?? undefined,
    groupId: groupNamed(context, 'price', group) || undefined,
    startDate: context.effectiveFrom,
    displayName: (entry.display_name as string) || defaultName(entry, context),
  };
}

/** The code of the custom currency an entry is priced in. */
function unitOf({ price_unit_config: unit }: Entry): string | undefined {
  return (unit as { price_unit: string } | null | undefined)?.price_unit;
}

function unitType(entry: Entry): { price_unit_type?: 'CUSTOM' } {
  return unitOf(entry) === undefined ? {} : { price_unit_type: 'CUSTOM' };
}

/** What a price is called that is given no name: its meter's, or its owner's. spec: catalogue-and-metering §4.1 */
function defaultName(entry: Entry, context: CatalogueContext): string {
  const feature = entry.feature ? context.features.get(String(entry.feature)) : undefined;
  return feature?.meterName ?? context.owner?.name ?? '';
}

function entryOf(row: Price, context: CatalogueContext): Entry {
  // What a price in a custom currency costs in fiat follows from the rate.
  const isCustom = row.priceUnitType === 'CUSTOM';
  const [feature] = [...context.features].find(([, { meterId }]) => row.meterId && meterId === row.meterId) ?? [];
  return {
    key: row.lookupKey,
    display_name: row.displayName,
    type: row.type,
    billing_model: row.billingModel,
    billing_period: row.billingPeriod,
    billing_period_count: row.billingPeriodCount,
    invoice_cadence: row.invoiceCadence,
    currency: row.currency,
    amount: isCustom ? null : (row.amount ?? null),
    tier_mode: row.tierMode ?? null,
    tiers: isCustom ? null : (row.tiers?.map(tierOf) ?? null),
    transform_quantity: row.transformQuantity ?? null,
    percentage_rate: row.percentageRate ?? null,
    price_unit_config: isCustom
      ? {
          price_unit: row.priceUnit,
          amount: row.priceUnitAmount ?? null,
          price_unit_tiers: row.priceUnitTiers?.map(tierOf) ?? null,
        }
      : null,
    feature: feature ?? null,
    meter: feature === undefined ? (row.meterId ?? null) : null,
    filter_values: row.filterValues ?? null,
    bucket_size: row.bucketSize ?? '',
    min_quantity: row.minQuantity ?? null,
    trial_period_days: row.trialPeriodDays,
    group: groupKey(context, row.groupId),
    description: row.description,
    metadata: row.metadata,
  };
}

function tierOf({ up_to, unit_amount, flat_amount }: StoredTier) {
  return { up_to: up_to === null ? null : Number(up_to), unit_amount, flat_amount };
}
