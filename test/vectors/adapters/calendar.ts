import { limitOfPart } from '../../../billing/allowance/period-limit.ts';
import { couponApplies, couponAssociationEnd, couponPeriod } from '../../../billing/invoice/coupon.ts';
import { computedStatus, computeInvoice } from '../../../billing/invoice/invoice.ts';
import { planCharges, priceCharges } from '../../../billing/line/charge.ts';
import { decimal } from '../../../billing/money/money.ts';
import { trialStartInvoice } from '../../../billing/subscription/trial.ts';
import {
  billingAnchor,
  type Cadence,
  firstCalendarPeriod,
  firstPeriod,
  millisecondsBetween,
  nextBoundary,
  periodSeries,
  trialEnd,
} from '../../../billing/time/calendar.ts';
import { type Adapters, type Given, text } from '../adapter.ts';
import { fixedItem } from './charge.ts';

/** A vector's cadence; the zone may be left out. */
export function cadenceOf(given: Given, anchor: string = given.billing_anchor): Cadence {
  return {
    anchor,
    billingPeriod: given.billing_period,
    billingPeriodCount: given.billing_period_count ?? 1,
    timezone: given.timezone || 'UTC',
    billingCycle: given.billing_cycle ?? 'anniversary',
  };
}

function anchorAndFirstPeriod(given: Given): unknown {
  const cadence = cadenceOf(given);
  const anchor = billingAnchor({
    ...cadence,
    startDate: given.start_date,
    requestedAnchor: given.billing_anchor ?? null,
  });
  const end = nextBoundary({ ...cadence, anchor, periodStart: given.start_date });
  return { billing_anchor: anchor, current_period_start: given.start_date, current_period_end: end };
}

function openingOf(given: Given, cadence: Cadence, startDate: string, quantity: string, amount: string): string[] {
  const next = firstPeriod({
    ...cadence,
    startDate,
    prorationBehavior: given.proration_behavior ?? 'create_prorations',
  });
  const item = fixedItem({ ...given, invoice_cadence: 'ADVANCE' }, startDate, quantity, amount);
  const planned = planCharges({
    reason: 'opening',
    subscription: {
      ...cadence,
      billingAnchor: cadence.anchor,
      currency: given.currency,
      lineItemGrouping: 'per_charge_period',
    },
    elapsed: null,
    next,
    items: [item],
    allowances: {},
    billed: [],
  });
  return priceCharges(planned, {}).map((line) => line.amount);
}

function firstCalendar(given: Given): unknown {
  const cadence = cadenceOf({ ...given, billing_cycle: 'calendar' });
  const full = firstCalendarPeriod({ ...cadence, startDate: given.start_date });
  const part = decimal(millisecondsBetween(given.start_date, full.end));
  const anchor = billingAnchor({ ...cadence, startDate: given.start_date });
  const amounts = openingOf(
    given,
    { ...cadence, anchor },
    given.start_date,
    String(given.quantity ?? 1),
    String(given.unit_amount),
  );
  return {
    full_period_start: full.start,
    full_period_end: full.end,
    coefficient: part.dividedBy(millisecondsBetween(full.start, full.end)).toFixed(10),
    first_charge: amounts[0],
  };
}

function trial(given: Given): unknown {
  const end = trialEnd({
    startDate: given.start_date,
    days: given.trial_period_days,
    timezone: given.timezone || 'UTC',
  });
  const cadence = cadenceOf(given, end);
  const opened = trialStartInvoice(given.collection_method);
  const invoiceOf = (amounts: string[]) =>
    computeInvoice({
      currency: given.currency,
      lines: amounts.map((amount, position) => ({ id: String(position), amount, priceType: 'FIXED' })),
      coupons: [],
      wallets: [],
      taxes: [],
      taxExempt: false,
    });
  const amounts = openingOf(given, cadence, end, '1', String(given.advance_fixed_amount));
  const { subtotal } = invoiceOf(amounts);
  const status = computedStatus({ billingReason: 'SUBSCRIPTION_TRIAL_END', subtotal, lineAmounts: amounts });
  return {
    trial_start: given.start_date,
    trial_end: end,
    trial_start_invoice: {
      billing_reason: opened.billingReason,
      invoice_status: opened.invoiceStatus,
      amount_due: invoiceOf([]).amountDue,
      payment_status: opened.paymentStatus,
    },
    after_trial: {
      billing_anchor: end,
      current_period_start: end,
      current_period_end: nextBoundary({ ...cadence, periodStart: end }),
      trial_end_invoice: { billing_reason: 'SUBSCRIPTION_TRIAL_END', subtotal, invoice_status: status },
    },
  };
}

function couponSchedule(given: Given): unknown {
  const cadence = cadenceOf(given);
  const start: string = given.association_start;
  const end = couponAssociationEnd({
    ...cadence,
    cadence: given.cadence,
    durationInPeriods: given.duration_in_periods,
    start,
    explicitEnd: given.association_end ?? null,
  });
  const boundaries = periodSeries({
    ...cadence,
    start: couponPeriod({ ...cadence, start }).start,
    periods: given.periods,
  });
  let used = false;
  const periods = boundaries.slice(0, given.periods).map((periodStart, position) => {
    const applies = couponApplies(
      { start, end, consumed: used && given.cadence === 'once' },
      { start: periodStart, end: boundaries[position + 1]! },
    );
    used ||= applies;
    return { period_start: periodStart, discounted: applies };
  });
  return { association_end: end, periods };
}

function firstPeriodAllowance(given: Given): unknown {
  const cadence = cadenceOf(given);
  const anchor = billingAnchor({
    ...cadence,
    startDate: given.start_date,
    requestedAnchor: given.billing_anchor ?? null,
  });
  const period = firstPeriod({
    ...cadence,
    anchor,
    startDate: given.start_date,
    prorationBehavior: given.proration_behavior,
  });
  return { usage_limit: limitOfPart(text(given.usage_limit), period) };
}

export const calendarAdapters: Adapters = {
  next_billing_date: (given) => ({
    next: nextBoundary({
      ...cadenceOf(given),
      periodStart: given.period_start,
      endDate: given.subscription_end_date ?? null,
    }),
  }),
  period_series: (given) => ({
    boundaries: periodSeries({
      ...cadenceOf(given),
      start: given.start_date,
      periods: given.periods,
      endDate: given.subscription_end_date ?? null,
    }),
  }),
  billing_anchor: anchorAndFirstPeriod,
  first_calendar_period: firstCalendar,
  trial,
  coupon_schedule: couponSchedule,
  first_period_allowance: firstPeriodAllowance,
};
