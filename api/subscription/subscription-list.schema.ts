import { z } from 'zod';
import type { SubscriptionFilters, SubscriptionParts } from '../../services/subscription/read/subscription-read.ts';
import { expandInput, listQuery, searchBody } from '../list.ts';
import { booleanQuery, idListInput, idListQuery, timestampInput } from '../scalars.schema.ts';
import { billingPeriods, statusInput } from './subscription.schema.ts';

const id = z.string().min(1).max(255);
const cadences = ['RECURRING', 'ONETIME'] as const;
const cadenceInput = z.enum(cadences, { error: `must be one of ${cadences.join(', ')}` });

const types = ['standalone', 'parent', 'inherited', 'grouped_invoicing', 'delegated_invoicing'] as const;
const typeInput = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(z.enum(types, { error: `must be one of ${types.join(', ')}` }));

/** Several values of a query string, repeated or between commas. */
function listed<Value extends z.ZodType<unknown, string>>(value: Value) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap((text) => text.split(',')))
    .pipe(z.array(value));
}

const expandable = [
  'customer',
  'plan',
  'prices',
  'subscription_line_items',
  'line_items',
  'latest_invoice',
  'entitlements',
];

export const subscriptionExpandQuery = z.object({ expand: expandInput(expandable).optional() });

export const subscriptionListQuery = listQuery(
  {
    subscription_ids: idListQuery().optional(),
    customer_id: id.optional(),
    customer_ids: idListQuery().optional(),
    external_customer_id: id.optional(),
    invoicing_customer_ids: idListQuery().optional(),
    parent_subscription_ids: idListQuery().optional(),
    plan_id: id.optional(),
    subscription_type: listed(typeInput).optional(),
    subscription_status: listed(statusInput).optional(),
    billing_cadence: listed(cadenceInput).optional(),
    billing_period: listed(z.enum(billingPeriods)).optional(),
    active_at: timestampInput().optional(),
    effective_date_for_update: timestampInput().optional(),
    trial_end_due_lte: timestampInput().optional(),
    with_line_items: booleanQuery().optional(),
    with_coupon_associations: booleanQuery().optional(),
  },
  expandable,
);

export const subscriptionSearchBody = searchBody(
  {
    subscription_ids: idListInput().optional(),
    customer_id: id.optional(),
    customer_ids: idListInput().optional(),
    external_customer_id: id.optional(),
    invoicing_customer_ids: idListInput().optional(),
    parent_subscription_ids: idListInput().optional(),
    plan_id: id.optional(),
    subscription_type: z.array(typeInput).optional(),
    subscription_status: z.array(statusInput).optional(),
    billing_cadence: z.array(cadenceInput).optional(),
    billing_period: z.array(z.enum(billingPeriods)).optional(),
    active_at: timestampInput().optional(),
    effective_date_for_update: timestampInput().optional(),
    trial_end_due_lte: timestampInput().optional(),
    with_line_items: z.boolean().optional(),
    with_coupon_associations: z.boolean().optional(),
  },
  expandable,
);

interface FilterInput {
  subscription_ids?: readonly string[] | undefined;
  customer_id?: string | undefined;
  customer_ids?: readonly string[] | undefined;
  external_customer_id?: string | undefined;
  invoicing_customer_ids?: readonly string[] | undefined;
  parent_subscription_ids?: readonly string[] | undefined;
  plan_id?: string | undefined;
  subscription_type?: readonly string[] | undefined;
  subscription_status?: readonly string[] | undefined;
  billing_cadence?: readonly string[] | undefined;
  billing_period?: readonly string[] | undefined;
  active_at?: string | undefined;
  effective_date_for_update?: string | undefined;
  trial_end_due_lte?: string | undefined;
}

interface PartsInput {
  with_line_items?: boolean | undefined;
  with_coupon_associations?: boolean | undefined;
}

/** Filters of a list, as its store takes them. spec: subscriptions-and-invoicing §1.1.1 */
export function subscriptionFiltersOf(input: FilterInput): SubscriptionFilters {
  return {
    subscriptionIds: input.subscription_ids,
    customerIds: input.customer_id ? [input.customer_id] : input.customer_ids,
    externalCustomerId: input.external_customer_id,
    invoicingCustomerIds: input.invoicing_customer_ids,
    parentSubscriptionIds: input.parent_subscription_ids,
    planId: input.plan_id,
    types: input.subscription_type,
    statuses: input.subscription_status,
    billingCadences: input.billing_cadence,
    billingPeriods: input.billing_period,
    activeAt: input.active_at,
    effectiveDateForUpdate: input.effective_date_for_update,
    trialEndDueLte: input.trial_end_due_lte,
  };
}

/** Parts that each subscription of a list is answered with: all but those that are refused by false. */
export function subscriptionPartsOf(input: PartsInput): SubscriptionParts {
  return { items: input.with_line_items ?? true, coupons: input.with_coupon_associations ?? true };
}
