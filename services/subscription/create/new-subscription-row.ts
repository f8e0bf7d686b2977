import { checkDuration } from '../../../billing/commitment/commitment-duration.ts';
import { inheritedTrialDays } from '../../../billing/price/price-selection.ts';
import {
  type CollectionMethod,
  openingCollection,
  type PaymentBehavior,
} from '../../../billing/subscription/collection.ts';
import type { NewSubscription } from '../../../billing/subscription/new-subscription.ts';
import { checkPhases } from '../../../billing/subscription/phase.ts';
import { openSubscription, type SubscriptionState } from '../../../billing/subscription/subscription.ts';
import { askedTrialDays } from '../../../billing/subscription/trial.ts';
import { type BillingCycle, type BillingPeriod, billingAnchor } from '../../../billing/time/calendar.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { hierarchyOf } from '../family/subscription-hierarchy-create.ts';
import type { PlanPrice } from '../item/subscription-item.ts';
import { type CustomerFacts, timezoneOf } from './new-subscription-facts.ts';

/**
 * The row of a new subscription: its time line, trial, first period and terms. Throws `validation_error` for dates, phases, a trial
 * and a commitment that do not fit. spec: subscriptions-and-invoicing §1.2, §2.3.1 steps 4, 5, 7, 11
 */
export function newRow(
  scope: Scope,
  input: NewSubscription,
  customer: CustomerFacts,
  prices: readonly PlanPrice[],
): Omit<SubscriptionRow, 'syncedPriceSequence'> {
  const startDate = input.startDate ?? input.at;
  if (input.endDate !== null && input.endDate < startDate) throw badField('end_date', 'must not be before start_date');
  if (input.explicitProration && startDate < `${input.at.slice(0, 10)}T00:00:00.000Z`) {
    throw badField('start_date', 'must not lie before today (UTC) when proration_behavior create_prorations is sent');
  }
  const terms = input.phases.map(({ startDate: start, endDate: end }) => ({ start, end }));
  checkPhases(terms, { startDate, endDate: input.endDate });
  const timezone = timezoneOf(customer, input.timezone);
  const timeline = {
    billingPeriod: input.billingPeriod as BillingPeriod,
    billingPeriodCount: input.billingPeriodCount,
    billingCycle: input.billingCycle as BillingCycle,
    timezone,
    startDate,
    endDate: input.endDate,
  };
  const anchor = billingAnchor({ ...timeline, requestedAnchor: input.billingAnchor });
  const asked = { days: input.trialPeriodDays, start: input.trialStart, end: input.trialEnd };
  const trialDays = askedTrialDays(asked, timeline, () => inheritedTrialDays(prices));
  const state: SubscriptionState = openSubscription(
    { ...timeline, billingAnchor: anchor, trialDays },
    // The amount of the opening invoice is known later; nothing to pay makes the subscription active at once.
    openingCollection(input.collectionMethod as CollectionMethod, input.paymentBehavior as PaymentBehavior, '1')
      .statusUnpaid,
  );
  return {
    ...state,
    ...(input.draft ? { status: 'draft' } : {}),
    id: input.subscriptionId,
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    customerId: customer.id,
    invoicingCustomerId: customer.id,
    planId: input.planId,
    ...hierarchyOf(input.hierarchy),
    lookupKey: input.lookupKey,
    currency: input.currency,
    collectionMethod: input.collectionMethod as SubscriptionRow['collectionMethod'],
    paymentBehavior: input.paymentBehavior,
    paymentTerms: input.paymentTerms,
    prorationBehavior: input.prorationBehavior as SubscriptionRow['prorationBehavior'],
    lineItemGrouping: input.lineItemGrouping as SubscriptionRow['lineItemGrouping'],
    gatewayPaymentMethodId: input.gatewayPaymentMethodId,
    ...commitmentOf(input),
    autoInvoiceThreshold: input.autoInvoiceThreshold,
    metadata: input.metadata,
    billingSequence: 0,
    renewalNoticedFor: null,
    pauseStatus: 'none',
    activePauseId: '',
    testClockId: customer.testClockId,
    version: 1,
  };
}

/** Throws `validation_error` for a duration that the billing period does not divide. spec: §1.2, §2.3.1 step 7 */
function commitmentOf({ commitment, billingPeriod, billingPeriodCount }: NewSubscription) {
  const cadence = { billingPeriod: billingPeriod as BillingPeriod, billingPeriodCount };
  checkDuration(cadence, commitment.duration, 'commitment_duration');
  return {
    commitmentAmount: commitment.amount,
    commitmentDuration: commitment.duration,
    overageFactor: commitment.overageFactor,
    enableTrueUp: commitment.trueUp,
  };
}
