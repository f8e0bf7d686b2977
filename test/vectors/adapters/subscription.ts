import { cancelsForLatePayment } from '../../../billing/invoice/auto-cancellation.ts';
import { selectPrices } from '../../../billing/price/price-selection.ts';
import { openingCollection, openingStatus } from '../../../billing/subscription/collection.ts';
import { closePeriod, type SubscriptionState } from '../../../billing/subscription/subscription.ts';
import { renewalNoticeAt } from '../../../billing/subscription/subscription-agenda.ts';
import { cancelSubscription } from '../../../billing/subscription/subscription-cancel.ts';
import { type Adapters, type Given, instant } from '../adapter.ts';

function priceSelection(given: Given): unknown {
  const cadence = (members: Given) => ({
    billingPeriod: members.billing_cadence === 'ONETIME' ? 'ONETIME' : members.billing_period,
    billingPeriodCount: members.billing_period_count ?? 1,
  });
  const prices = given.plan_prices.map((price: Given) => ({ id: price.id as string, ...cadence(price) }));
  const attached = selectPrices(cadence(given.subscription) as Given, prices, given.include_price_ids ?? null);
  return { attached: (attached as { id: string }[]).map(({ id }) => id) };
}

function collectionMatrix(given: Given): unknown {
  const collection = openingCollection(given.collection_method, given.payment_behavior, String(given.opening_amount));
  return {
    subscription_status: openingStatus(collection, given.payment_result === 'succeeded'),
    payment_attempted: collection.attempt,
  };
}

/** What a vector says of a subscription; the members no rule of the kind reads have a harmless value. */
function stateOf(given: Given): SubscriptionState {
  const cancelAtPeriodEnd = given.cancel_at_period_end === true;
  const currentPeriodEnd = instant(given.current_period_end);
  const endDate = given.subscription_end_date ?? given.end_date;
  const currentPeriodStart = given.current_period_start ? instant(given.current_period_start) : '';
  return {
    status: String(given.subscription_status).toLowerCase() as SubscriptionState['status'],
    billingPeriod: given.billing_period ?? 'MONTHLY',
    billingPeriodCount: given.billing_period_count ?? 1,
    billingCycle: given.billing_cycle ?? 'anniversary',
    billingAnchor: given.billing_anchor ? instant(given.billing_anchor) : currentPeriodStart,
    timezone: given.timezone || 'UTC',
    startDate: currentPeriodStart,
    endDate: endDate ? instant(endDate) : null,
    currentPeriodStart,
    currentPeriodEnd,
    trialStart: null,
    trialEnd: null,
    cancelAt: cancelAtPeriodEnd ? currentPeriodEnd : null,
    cancelledAt: null,
    cancelAtPeriodEnd,
  };
}

function cancel(given: Given): unknown {
  const request = {
    cancellationType: given.cancellation_type,
    cancelAt: given.cancel_at ? instant(given.cancel_at) : null,
  };
  const scheduled = given.cancellation_already_scheduled === true;
  const { state, effectiveDate, clamped } = cancelSubscription(stateOf(given), request, instant(given.now), scheduled);
  return {
    subscription_status: state.status,
    effective_date: effectiveDate,
    clamped,
    cancel_at: state.cancelAt,
    cancel_at_period_end: state.cancelAtPeriodEnd,
    current_period_end: state.currentPeriodEnd,
  };
}

/** Every boundary up to now, one after the other, as the agenda performs them. */
function catchUp(given: Given): unknown {
  const now = instant(given.now);
  const invoices: Given[] = [];
  let state = stateOf(given);
  while ((state.status === 'active' || state.status === 'paused') && state.currentPeriodEnd <= now) {
    const closed = closePeriod(state);
    invoices.push({
      period_start: closed.elapsed.start,
      period_end: closed.elapsed.end,
      invoice_status: state.status === 'paused' ? 'SKIPPED' : 'DRAFT',
    });
    state = closed.state;
  }
  return {
    invoices,
    subscription_status: state.status,
    current_period_start: state.currentPeriodStart,
    current_period_end: state.currentPeriodEnd,
  };
}

/**
 * A poller finds the notices that fell due since it last looked: their instants lie in [scan − interval, scan). Here a timer
 * fires at the instant itself. spec: subscriptions-and-invoicing §2.5 Renewal notice; README decision 2
 */
function renewalDueScan(given: Given): unknown {
  const scanAt = Date.parse(given.scan_at);
  const from = scanAt - given.scan_interval_minutes * 60_000;
  const notified = given.subscriptions.filter((subscription: Given) => {
    const noticeAt = renewalNoticeAt(stateOf(subscription), null, given.lead_hours * 3_600_000);
    return noticeAt !== null && Date.parse(noticeAt) >= from && Date.parse(noticeAt) < scanAt;
  });
  return { notified: notified.map((subscription: Given) => subscription.id) };
}

function autoCancellation(given: Given): unknown {
  const invoice = {
    dueDate: instant(given.due_date),
    paymentStatus: given.payment_status,
    amountRemaining: String(given.amount_remaining),
  };
  const config = { enabled: given.auto_cancellation_enabled, gracePeriodDays: given.grace_period_days };
  return { cancelled: cancelsForLatePayment(invoice, config, instant(given.now)) };
}

export const subscriptionAdapters: Adapters = {
  cancel,
  catch_up: catchUp,
  renewal_due_scan: renewalDueScan,
  auto_cancellation: autoCancellation,
  price_selection: priceSelection,
  collection_matrix: collectionMatrix,
};
