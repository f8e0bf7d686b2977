import { z } from 'zod';
import type { NewItemCommitment, NewTimeBucket } from '../../../billing/commitment/commitment-rules.ts';
import type { NewLineItem, NewPriceOverride } from '../../../billing/subscription/new-subscription.ts';
import { badField } from '../../../db/rows/record.ts';
import { newPrice, priceChange, subscriptionPriceBody, updatePriceBody } from '../../catalogue/price-input.schema.ts';
import { decimalInput, metadataInput, timestampInput } from '../../scalars.schema.ts';
import { commitmentDurations } from '../subscription-commitment.schema.ts';

const id = z.string().min(1).max(255);
const duration = z.enum(commitmentDurations, { error: `must be one of ${commitmentDurations.join(', ')}` }).nullish();
const commitmentType = z.enum(['amount', 'quantity'], { error: 'must be amount or quantity' });

const pricing = updatePriceBody.pick({
  amount: true,
  billing_model: true,
  tier_mode: true,
  tiers: true,
  transform_quantity: true,
  percentage_rate: true,
  price_unit_amount: true,
  price_unit_tiers: true,
});

const whole = subscriptionPriceBody.shape;

/** Price of a time of the day: the members that differ from the price of the line item. spec: subscriptions-and-invoicing §2.7.5 */
const timeBucketPrice = pricing
  .extend({
    price_unit_config: whole.price_unit_config.describe('Amounts in the custom unit of the line item.'),
    filter_values: whole.filter_values.describe("Those of the line item's price, if any are sent."),
    min_quantity: whole.min_quantity
      .refine((sent) => !Number(sent ?? 0), 'belongs to FIXED prices; usage is measured, so leave it out')
      .describe('0 or left out: usage has none.'),
    trial_period_days: whole.trial_period_days
      .refine((sent) => !sent, 'belongs to recurring FIXED prices; leave it out or send 0')
      .describe('0 or left out: usage has none.'),
    start_date: timestampInput()
      .nullish()
      .describe('Since when the hour has this price and commitment; before, the base rate.'),
    end_date: timestampInput().nullish().describe('Until when; from then on the base rate.'),
  })
  .superRefine((price, context) => {
    const config = price.price_unit_config;
    if (!config || (price.price_unit_amount == null && !price.price_unit_tiers?.length)) return;
    const message = 'cannot be combined with price_unit_amount and price_unit_tiers, which say the same; send one';
    context.addIssue({ code: 'custom', path: ['price_unit_config'], message });
  });

const clock = z.object({ hour: z.int().min(0).max(24), minute: z.int().min(0).max(59).default(0) });

/** A time of the day (UTC) with its own price and commitment; the price says what differs from that of the line. */
export const timeBucket = z.object({
  commitment_type: commitmentType,
  commitment_value: decimalInput(),
  overage_factor: decimalInput(),
  true_up_enabled: z.boolean(),
  start: clock,
  end: clock,
  price: timeBucketPrice,
});

const amounts = {
  commitment_type: commitmentType.nullish(),
  commitment_amount: decimalInput().nullish(),
  commitment_quantity: decimalInput().nullish(),
  commitment_duration: duration,
  commitment_time_buckets: z.array(timeBucket).max(1440).nullish(),
};

/** What line items are committed to, by the price of the plan. spec: subscriptions-and-invoicing §1.2 line_item_commitments */
export const lineItemCommitments = z.record(
  id,
  z.object({
    ...amounts,
    overage_factor: decimalInput(),
    enable_true_up: z.boolean().nullish(),
    is_window_commitment: z.boolean().nullish(),
  }),
);

/** Prices of the plan that this subscription pays otherwise. spec: subscriptions-and-invoicing §1.2 override_line_items */
export const overrideLineItems = z
  .array(pricing.extend({ price_id: id, quantity: decimalInput({ min: '0' }).nullish() }))
  .max(1000);

/** What a line item is committed to when it is added. spec: subscriptions-and-invoicing §1.9 */
export const itemCommitmentFields = {
  ...amounts,
  commitment_overage_factor: decimalInput().nullish(),
  commitment_true_up_enabled: z.boolean().nullish(),
  commitment_windowed: z.boolean().nullish(),
};

/** A line item beside those of the plan. spec: subscriptions-and-invoicing §1.9 */
export const lineItemInput = z.object({
  price_id: id.nullish(),
  price: subscriptionPriceBody.nullish(),
  quantity: decimalInput({ min: '0' }).nullish(),
  start_date: timestampInput().nullish(),
  end_date: timestampInput().nullish(),
  display_name: z.string().max(255).nullish(),
  metadata: metadataInput().nullish(),
  proration_behavior: z
    .union([z.literal(''), z.enum(['create_prorations', 'none'])])
    .nullish()
    .describe('How the period in which it begins is charged; left out, as the subscription says.'),
  subscription_phase_id: z
    .string()
    .max(255)
    .nullish()
    .describe('Empty: no phase has an id before its subscription exists. Send the item in line_items of its phase.'),
  ...itemCommitmentFields,
});

/** The fields of a creation that say what is charged otherwise than the plan does. */
export const itemFields = {
  line_item_commitments: lineItemCommitments.nullish(),
  override_line_items: overrideLineItems.nullish(),
  line_items: z.array(lineItemInput).max(100, 'must have at most 100 items').nullish(),
};

const inputs = z.object(itemFields);

/**
 * The charges of a creation, or of the part of it at `path`, as the workflow takes them. Throws `validation_error` for members
 * that contradict each other.
 */
export function itemsOf(body: z.output<typeof inputs>, path = '') {
  return {
    ...pricesOf(body, path),
    lineItems: (body.line_items ?? []).map((sent, index) => newLineItem(sent, `${path}line_items[${index}]`)),
  };
}

/** What is charged otherwise than a plan or an add-on does; `path` is where it stands in the request. */
export function pricesOf(
  body: Pick<z.output<typeof inputs>, 'line_item_commitments' | 'override_line_items'>,
  path: string,
) {
  const commitments = Object.entries(body.line_item_commitments ?? {});
  return {
    lineItemCommitments: Object.fromEntries(
      commitments.map(([priceId, sent]) => {
        const { overage_factor: factor, enable_true_up: trueUp, is_window_commitment: windowed } = sent;
        const field = `${path}line_item_commitments.${priceId}`;
        return [priceId, newItemCommitment(sent, { factor, trueUp, windowed }, field)];
      }),
    ),
    overrideLineItems: (body.override_line_items ?? []).map((sent, index) =>
      newOverride(sent, `${path}override_line_items[${index}]`),
    ),
  };
}

function newOverride(sent: z.output<typeof overrideLineItems>[number], field: string): NewPriceOverride {
  const { price_id, quantity, ...terms } = sent;
  if (quantity == null && Object.values(terms).every((value) => value == null))
    throw badField(field, 'must say something beside price_id: a quantity or what the price is');
  return { priceId: price_id, quantity: quantity ?? null, terms: priceChange(terms).terms };
}

/** A line item as the workflow takes it; `field` is where it stands in the request. spec: subscriptions-and-invoicing §1.9 */
export function newLineItem(sent: z.output<typeof lineItemInput>, field: string): NewLineItem {
  if ((sent.price_id == null) === (sent.price == null))
    throw badField(`${field}.price_id`, 'or price is required, and not both');
  if (sent.subscription_phase_id)
    throw badField(
      `${field}.subscription_phase_id`,
      'must be left out: no phase exists before its subscription; send the item in line_items of its phase',
    );
  return {
    priceId: sent.price_id ?? null,
    price: sent.price ? newPrice(sent.price) : null,
    quantity: sent.quantity ?? null,
    startDate: sent.start_date ?? null,
    endDate: sent.end_date ?? null,
    displayName: sent.display_name ?? '',
    metadata: sent.metadata ?? {},
    commitment: addedCommitment(sent, field),
    ...(sent.proration_behavior ? { prorationBehavior: sent.proration_behavior } : {}),
  };
}

const added = z.object(itemCommitmentFields);

/** What an added line item is committed to; null for nothing. Throws `validation_error` for members that contradict each other. */
export function addedCommitment(sent: z.output<typeof added>, field: string): NewItemCommitment | null {
  const committed = sent.commitment_amount ?? sent.commitment_quantity ?? sent.commitment_time_buckets?.length;
  if (!committed) return null;
  const terms = {
    factor: sent.commitment_overage_factor ?? '1',
    trueUp: sent.commitment_true_up_enabled,
    windowed: sent.commitment_windowed,
  };
  return newItemCommitment(sent, terms, field);
}

interface SentAmounts {
  commitment_type?: 'amount' | 'quantity' | null | undefined;
  commitment_amount?: string | null | undefined;
  commitment_quantity?: string | null | undefined;
  commitment_duration?: (typeof commitmentDurations)[number] | null | undefined;
  commitment_time_buckets?: z.output<typeof timeBucket>[] | null | undefined;
}

function newItemCommitment(
  sent: SentAmounts,
  terms: { factor: string; trueUp: boolean | null | undefined; windowed: boolean | null | undefined },
  field: string,
): NewItemCommitment {
  const { commitment_amount: amount, commitment_quantity: quantity } = sent;
  if (amount != null && quantity != null)
    throw badField(`${field}.commitment_quantity`, 'cannot be combined with commitment_amount; send one');
  const type = amount != null ? 'amount' : quantity != null ? 'quantity' : null;
  if (type !== null && sent.commitment_type && sent.commitment_type !== type)
    throw badField(`${field}.commitment_type`, `must be ${type} beside commitment_${type}`);
  return {
    type,
    value: amount ?? quantity ?? null,
    overageFactor: terms.factor,
    trueUp: terms.trueUp ?? false,
    windowed: terms.windowed ?? false,
    duration: sent.commitment_duration ?? null,
    timeBuckets: (sent.commitment_time_buckets ?? []).map(newTimeBucket),
  };
}

/** A time bucket as the store takes it. */
export function newTimeBucket(sent: z.output<typeof timeBucket>): NewTimeBucket {
  const { price_unit_config: unit, filter_values, min_quantity: _, trial_period_days: _none, ...price } = sent.price;
  const { start_date, end_date, ...terms } = price;
  const inUnit = unit ? { price_unit_amount: unit.amount, price_unit_tiers: unit.price_unit_tiers } : {};
  const filters = filter_values && Object.keys(filter_values).length > 0 ? filter_values : null;
  return {
    type: sent.commitment_type,
    value: sent.commitment_value,
    overageFactor: sent.overage_factor,
    trueUp: sent.true_up_enabled,
    start: sent.start,
    end: sent.end,
    terms: priceChange({ ...terms, ...inUnit }).terms,
    ...(start_date ? { from: start_date } : {}),
    ...(end_date ? { to: end_date } : {}),
    ...(unit || filters ? { repeats: { priceUnit: unit?.price_unit ?? null, filterValues: filters } } : {}),
  };
}
