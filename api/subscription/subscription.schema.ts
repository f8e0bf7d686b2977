import { z } from 'zod';
import type { NewHierarchy, NewSubscription } from '../../billing/subscription/new-subscription.ts';
import { refuseDraftPhases } from '../../billing/subscription/phase.ts';
import type { SubscriptionUpdate } from '../../billing/subscription/subscription-command.ts';
import { badField, inPart } from '../../db/rows/record.ts';
import { couponFields, couponLinksOf } from '../invoice/subscription-coupon.schema.ts';
import { taxOverridesOf, taxRateOverrides } from '../invoice/tax.schema.ts';
import { checkoutInput } from '../payment/checkout.schema.ts';
import {
  currencyInput,
  isGiven,
  metadataInput,
  thresholdInput,
  timestampInput,
  timezoneInput,
} from '../scalars.schema.ts';
import { newGrant, subscriptionGrantInput } from '../wallet/credit-grant.schema.ts';
import { attachmentInput, newAttachment } from './change/addon-association.schema.ts';
import { newOverrides, overridesInput } from './change/entitlement-override.schema.ts';
import { itemFields, itemsOf } from './change/subscription-item.schema.ts';
import { newPhase, phasesInput } from './change/subscription-phase.schema.ts';
import { commitmentFields, newCommitment } from './subscription-commitment.schema.ts';
import { inheritanceInput, newHierarchy, parentFields } from './subscription-inheritance.schema.ts';

export const billingPeriods = ['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'] as const;
const paymentTerms = ['15 NET', '30 NET', '45 NET', '60 NET', '75 NET', '90 NET'] as const;
const statuses = ['draft', 'trialing', 'incomplete', 'active', 'paused', 'cancelled'] as const;
const id = z.string().min(1).max(255);

export const createSubscriptionBody = z
  .object({
    customer_id: id.nullish(),
    external_customer_id: id.nullish(),
    plan_id: id,
    currency: currencyInput(),
    billing_period: z.enum(billingPeriods, { error: `must be one of ${billingPeriods.join(', ')}` }),
    billing_period_count: z.int('must be an integer').min(1, 'must be 1 or more').max(1000).nullish(),
    billing_cadence: z
      .literal('RECURRING', { error: 'must be RECURRING; a one-time charge is a price, not a subscription' })
      .nullish(),
    billing_cycle: z.enum(['anniversary', 'calendar']).nullish(),
    billing_anchor: timestampInput().nullish(),
    start_date: timestampInput().nullish(),
    end_date: timestampInput().nullish(),
    lookup_key: z.string().max(255).nullish(),
    metadata: metadataInput().nullish(),
    subscription_status: z
      .string()
      .nullish()
      .describe('Only draft may be asked for: nothing is billed until POST /subscriptions/{id}/activate.'),
    collection_method: z.enum(['charge_automatically', 'send_invoice', 'default_incomplete']).nullish(),
    payment_behavior: z
      .enum(['allow_incomplete', 'default_incomplete', 'error_if_incomplete', 'default_active'])
      .nullish(),
    gateway_payment_method_id: id.nullish(),
    payment_terms: z.enum(paymentTerms).nullish(),
    proration_behavior: z.enum(['create_prorations', 'none']).nullish(),
    line_item_grouping: z.enum(['per_charge_period', 'per_billing_period']).nullish(),
    timezone: timezoneInput().nullish(),
    customer_timezone: timezoneInput().nullish(),
    include_price_ids: z.array(id).max(1000).nullish(),
    tax_rate_overrides: taxRateOverrides
      .nullish()
      .describe('The only rates that hold, when there are any; else copies of those of the invoiced customer.'),
    ...couponFields,
    ...commitmentFields,
    ...itemFields,
    inheritance: inheritanceInput.nullish(),
    ...parentFields,
    credit_grants: z
      .array(subscriptionGrantInput)
      .max(100)
      .nullish()
      .describe("In place of the plan's grants, where there are any."),
    trial_period_days: z.int('must be an integer').min(0, 'must be 0 or more').max(3650).nullish(),
    trial_start: timestampInput().nullish().describe('On the day of start_date, where a trial begins.'),
    trial_end: timestampInput()
      .nullish()
      .describe('The last day; it ends at the clock time of start_date. One alone takes the days from the plan.'),
    auto_invoice_threshold: thresholdInput(),
    override_entitlements: overridesInput.nullish(),
    addons: z.array(attachmentInput).max(100).nullish(),
    phases: phasesInput.nullish(),
    checkout: checkoutInput.nullish().describe('The subscription begins when its payment page is paid.'),
  })
  .meta({
    examples: [{ external_customer_id: 'acme', plan_id: 'plan_01JD…', currency: 'usd', billing_period: 'MONTHLY' }],
  });

/** Refuses (validation_error) what does not go with a payment page. spec: subscriptions-and-invoicing §1.2 checkout, error 15 */
function refuseWithCheckout(body: z.output<typeof createSubscriptionBody>): void {
  const problem = 'must be absent together with checkout';
  if (body.subscription_status) throw badField('subscription_status', problem);
  if (body.phases && body.phases.length > 0) throw badField('phases', problem);
  if (isGiven(body.inheritance)) throw badField('inheritance', problem);
}

/**
 * The creation as the workflow takes it. Throws `validation_error` for a status that may not be asked for and for members that
 * contradict each other. spec: subscriptions-and-invoicing §1.2, §2.3.5
 */
export function creationOf(
  body: z.output<typeof createSubscriptionBody>,
  facts: Pick<NewSubscription, 'subscriptionId' | 'at' | 'customerId'>,
  newId: (prefix: string) => string,
): NewSubscription {
  if (body.checkout) refuseWithCheckout(body);
  const draft = isDraft(body.subscription_status);
  refuseDraftPhases(draft, body.phases ?? []);
  if (body.proration_behavior === 'create_prorations' && body.override_entitlements?.length) {
    throw badField(
      'override_entitlements',
      'cannot be combined with proration_behavior create_prorations; leave that out',
    );
  }
  const older = body.collection_method === 'default_incomplete';
  const collectionMethod = older
    ? 'charge_automatically'
    : (body.collection_method ?? (body.checkout ? 'send_invoice' : 'charge_automatically'));
  const paymentBehavior = older ? 'allow_incomplete' : (body.payment_behavior ?? 'default_active');
  return {
    ...facts,
    planId: body.plan_id,
    currency: body.currency,
    billingPeriod: body.billing_period,
    billingPeriodCount: body.billing_period_count ?? 1,
    billingCycle: body.billing_cycle ?? 'anniversary',
    billingAnchor: body.billing_anchor ?? null,
    startDate: body.start_date ?? null,
    endDate: body.end_date ?? null,
    lookupKey: body.lookup_key ?? '',
    metadata: body.metadata ?? {},
    collectionMethod,
    paymentBehavior,
    paymentTerms: body.payment_terms ?? null,
    prorationBehavior: body.proration_behavior ?? 'create_prorations',
    explicitProration: body.proration_behavior === 'create_prorations',
    draft,
    lineItemGrouping: body.line_item_grouping ?? 'per_charge_period',
    timezone: body.timezone ?? body.customer_timezone ?? null,
    includePriceIds: body.include_price_ids ?? null,
    trialPeriodDays: body.trial_period_days ?? null,
    trialStart: body.trial_start ?? null,
    trialEnd: body.trial_end ?? null,
    gatewayPaymentMethodId: body.gateway_payment_method_id ?? null,
    autoInvoiceThreshold: body.auto_invoice_threshold || null,
    taxRateOverrides: taxOverridesOf(body.tax_rate_overrides ?? []),
    overrideEntitlements: newOverrides(body.override_entitlements ?? []),
    coupons: couponLinksOf(body),
    commitment: newCommitment(body),
    ...itemsOf(body),
    invoicingExternalId: body.inheritance?.invoicing_customer_external_id || null,
    hierarchy: { ...newHierarchy(body), groupedChildren: childrenOf(body, facts.at, newId) },
    creditGrants: body.credit_grants?.map((grant, index) => newGrant(grant, `credit_grants[${index}].`)) ?? null,
    addons: (body.addons ?? []).map((addon, index) => newAttachment(addon, newId('addon_assoc'), `addons[${index}].`)),
    phases: (body.phases ?? []).map((phase, index) => newPhase(phase, newId('phase'), `phases[${index}].`)),
  };
}

/** The children that are created along, each with the terms of its parent's periods. spec: subscriptions-and-invoicing §2.13 */
function childrenOf(
  body: z.output<typeof createSubscriptionBody>,
  at: string,
  newId: (prefix: string) => string,
): NewHierarchy['groupedChildren'] {
  return (body.inheritance?.grouped_invoicing_children_to_create ?? []).map((child, index) => {
    const { currency, billing_period, billing_period_count, billing_cycle, billing_anchor, start_date, end_date } =
      body;
    const cadence = { billing_period, billing_period_count, billing_cycle, billing_anchor };
    const terms = { currency, ...cadence, start_date, end_date, trial_period_days: 0 };
    const facts = { subscriptionId: newId('subs'), at, customerId: '' };
    try {
      const creation = creationOf({ ...child, ...terms }, facts, newId);
      return { customerExternalId: child.external_customer_id, creation, trialDays: child.trial_period_days ?? null };
    } catch (error) {
      throw inPart(`inheritance.grouped_invoicing_children_to_create[${index}]`, error);
    }
  });
}

/** The status is derived, unless a draft is asked for. spec: subscriptions-and-invoicing §1.2, §3 row 13 */
function isDraft(status: string | null | undefined): boolean {
  if (!status) return false;
  if (status.toLowerCase() === 'draft') return true;
  throw badField('subscription_status', 'may only be draft; leave it out and the status is derived');
}

/** A state of a subscription, in any case. */
export const statusInput = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(z.enum(statuses, { error: `must be one of ${statuses.join(', ')}` }));

export const updateSubscriptionBody = z
  .object({
    metadata: metadataInput().nullish().describe('Replaces the map.'),
    cancel_at: timestampInput().nullish().describe('A future end, which becomes the end date too; null takes it back.'),
    cancel_at_period_end: z
      .boolean()
      .nullish()
      .describe('True cancels at the end of the period; false takes that back.'),
    parent_subscription_id: z.string().max(255).nullish().describe('An active subscription; empty for none.'),
    status: statusInput.nullish().describe('Only the present status is taken.'),
    subscription_status: statusInput.nullish(),
  })
  .meta({ examples: [{ metadata: { team: 'growth' } }] });

/** The update as the workflow takes it: only what was sent. spec: subscriptions-and-invoicing §1.4 */
export function updateOf(body: z.output<typeof updateSubscriptionBody>): SubscriptionUpdate {
  const status = body.subscription_status ?? body.status;
  return {
    ...(body.metadata ? { metadata: body.metadata } : {}),
    ...(body.cancel_at === undefined ? {} : { cancelAt: body.cancel_at }),
    ...(typeof body.cancel_at_period_end === 'boolean' ? { cancelAtPeriodEnd: body.cancel_at_period_end } : {}),
    ...(typeof body.parent_subscription_id === 'string' ? { parentSubscriptionId: body.parent_subscription_id } : {}),
    ...(status ? { subscriptionStatus: status } : {}),
  };
}
