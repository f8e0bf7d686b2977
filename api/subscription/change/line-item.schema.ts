import { z } from 'zod';
import type { LineItemChange, NewLineItem } from '../../../billing/subscription/subscription-change.ts';
import type { LineItemFilters } from '../../../services/subscription/item/line-item-list.ts';
import {
  billingPeriods,
  newPrice,
  priceChange,
  subscriptionPriceBody,
  updatePriceBody,
} from '../../catalogue/price-input.schema.ts';
import { listOf, searchBody } from '../../list.ts';
import { decimalInput, idListInput, metadataInput, timestampInput } from '../../scalars.schema.ts';
import { lineItem } from '../subscription-view.schema.ts';
import { changedCommitmentFields, commitmentChange } from './line-item-commitment.schema.ts';
import { addedCommitment, itemCommitmentFields } from './subscription-item.schema.ts';

const id = z.string().min(1).max(255);
export const prorationBehavior = z.union([z.literal(''), z.enum(['create_prorations', 'none'])]);

export const addLineItemBody = z
  .object({
    price_id: id.nullish(),
    price: subscriptionPriceBody.nullish(),
    quantity: decimalInput({ min: '0' }).nullish(),
    start_date: timestampInput().nullish(),
    end_date: timestampInput().nullish(),
    display_name: z.string().max(255).nullish(),
    metadata: metadataInput().nullish(),
    proration_behavior: prorationBehavior.nullish(),
    subscription_phase_id: z
      .string()
      .max(255)
      .nullish()
      .describe('A phase of the subscription, with which the line item ends.'),
    ...itemCommitmentFields,
  })
  .superRefine((body, context) => {
    if (body.price_id && body.price) {
      context.addIssue({ code: 'custom', path: ['price'], message: 'cannot be combined with price_id; send one' });
    }
    if (!body.price_id && !body.price) {
      context.addIssue({ code: 'custom', path: ['price_id'], message: 'or price is required' });
    }
  })
  .meta({ examples: [{ price_id: 'price_01JD…', quantity: '3' }] });

export const updateLineItemBody = updatePriceBody
  .pick({
    amount: true,
    billing_model: true,
    tier_mode: true,
    tiers: true,
    transform_quantity: true,
    metadata: true,
    effective_from: true,
  })
  .extend(changedCommitmentFields)
  .meta({ examples: [{ amount: '25.00', effective_from: '2026-06-01T00:00:00Z' }] });

export const endLineItemBody = z
  .object({ effective_from: timestampInput().nullish(), proration_behavior: prorationBehavior.nullish() })
  .nullish();

export const lineItemSearchBody = searchBody(
  {
    subscription_line_item_ids: idListInput().nullish(),
    subscription_ids: idListInput().nullish(),
    customer_ids: idListInput().nullish(),
    price_ids: idListInput().nullish(),
    meter_ids: idListInput().nullish(),
    entity_ids: idListInput().nullish(),
    entity_type: z.enum(['plan', 'addon', 'subscription']).nullish(),
    addon_association_ids: idListInput().nullish(),
    billing_periods: z.array(z.enum(billingPeriods)).nullish(),
    currencies: z.array(z.string().max(3)).nullish(),
    active_filter: z.boolean().nullish().describe('Default true: leaves out what has ended.'),
    current_period_start: timestampInput().nullish(),
  },
  ['prices'],
);

export const lineItemList = listOf(lineItem, 'ListSubscriptionLineItemsResponse');

/** The line item as the workflow takes it. Throws `validation_error` for members that contradict each other. */
export function newLineItem(body: z.output<typeof addLineItemBody>): NewLineItem {
  return {
    priceId: body.price_id ?? null,
    price: body.price ? { ...newPrice(body.price) } : null,
    quantity: body.quantity ?? null,
    startDate: body.start_date ?? null,
    endDate: body.end_date ?? null,
    displayName: body.display_name ?? null,
    metadata: body.metadata ?? {},
    prorationBehavior: body.proration_behavior || null,
    phaseId: body.subscription_phase_id || null,
    commitment: addedCommitment(body, 'line_item'),
  };
}

/** The change as the workflow takes it. Throws `validation_error` for members that contradict each other. */
export function lineItemChange(lineItemId: string, body: z.output<typeof updateLineItemBody>): LineItemChange {
  const { terms, effectiveFrom, metadata } = priceChange(body);
  return {
    lineItemId,
    terms: { ...terms },
    commitment: commitmentChange(body),
    metadata: metadata ?? null,
    effectiveFrom: effectiveFrom ?? null,
  };
}

/** The filters of a search body in the words of the store. */
export function lineItemFilters(body: z.output<typeof lineItemSearchBody>): LineItemFilters {
  return {
    ids: body?.subscription_line_item_ids,
    subscriptionIds: body?.subscription_ids,
    customerIds: body?.customer_ids,
    priceIds: body?.price_ids,
    meterIds: body?.meter_ids,
    entityIds: body?.entity_ids,
    entityType: body?.entity_type,
    addonAssociationIds: body?.addon_association_ids,
    billingPeriods: body?.billing_periods,
    currencies: body?.currencies?.map((currency) => currency.toLowerCase()),
    isActive: body?.active_filter ?? true,
    at: body?.current_period_start,
  };
}
