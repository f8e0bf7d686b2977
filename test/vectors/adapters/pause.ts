import {
  type ChargeItem,
  type ChargePlanInput,
  planCharges,
  priceCharges,
  type UsageAnswer,
} from '../../../billing/line/charge.ts';
import type { ResumeTerms } from '../../../billing/line/resume-charge.ts';
import { decimal, moneyString, sum } from '../../../billing/money/money.ts';
import { pauseSubscription, resumeSubscription } from '../../../billing/subscription/pause.ts';
import { type ProratedChange, prorateChange } from '../../../billing/subscription/proration-change.ts';
import { closePeriod, type Period, type SubscriptionState } from '../../../billing/subscription/subscription.ts';
import { wholePeriodAt } from '../../../billing/time/whole-period.ts';
import { type Adapters, type Given, instant } from '../adapter.ts';
import { fixedItem } from './charge.ts';

/** The time line of a pause, boundary after boundary, by the functions that the stores call. */
function pauseTimeline(given: Given): unknown {
  const before = activeState(given);
  const pauseAt = instant(given.pause_at);
  const { state: paused, closing } = pauseSubscription(before, pauseAt, []);
  const credited = creditsAt(given, before, pauseAt);
  const money = (amounts: readonly string[]) => moneyString(sum(amounts.map(decimal)), given.currency);
  const closed = linesOf(given, before, 'closing', { elapsed: { start: closing.start, end: closing.end } });
  const subtotal = money(closed.map((line) => line.amount));
  const invoices: Given[] = [
    {
      kind: 'closing',
      period_start: closing.start,
      period_end: closing.end,
      invoice_status: decimal(subtotal).isZero() ? 'SKIPPED' : 'DRAFT',
      subtotal,
      lines: closed,
    },
  ];
  let state = paused;
  const skip = (period: Period) =>
    invoices.push({
      kind: 'paused',
      period_start: period.start,
      period_end: period.end,
      invoice_status: 'SKIPPED',
      subtotal: money([]),
    });
  const until = instant(given.resume_at ?? given.now);
  while (state.currentPeriodEnd <= until) {
    const crossed = closePeriod(state);
    skip(crossed.elapsed);
    state = crossed.state;
  }
  const base = { wallet_credit_at_pause: credited.settlement === 'none' ? money([]) : credited.credit, invoices };
  if (!given.resume_at) return { ...base, ...wireState(state) };
  const { state: resumed, skipped } = resumeSubscription(state, until);
  if (skipped) skip(skipped);
  const resume: ResumeTerms = {
    behavior: given.resume_proration_behavior,
    now: until,
    pauseStart: pauseAt,
    wholeStart: wholePeriodAt(before, until).start,
    credited: credited.lines
      .filter((line) => credited.settlement !== 'none' && !decimal(line.amount).isZero())
      .map((line) => ({ lineItemId: line.subscriptionLineItemId ?? '', start: line.periodStart, end: line.periodEnd })),
  };
  const rest = { start: until, end: resumed.currentPeriodEnd };
  const charged = linesOf(given, before, 'resume', { next: rest, resume });
  return {
    ...base,
    ...wireState(resumed),
    resume_charge: money(charged.map((line) => line.amount)),
    next_cycle_arrear_fixed: linesOf(given, before, 'closing', { elapsed: rest }).filter(({ id }) =>
      given.items.some((item: Given) => item.id === id && item.price_type === 'FIXED'),
    ),
  };
}

function activeState(given: Given): SubscriptionState {
  const start = instant(given.current_period_start);
  return {
    status: 'active',
    billingPeriod: given.billing_period,
    billingPeriodCount: given.billing_period_count ?? 1,
    billingCycle: 'anniversary',
    billingAnchor: instant(given.billing_anchor),
    timezone: given.timezone || 'UTC',
    startDate: start,
    endDate: null,
    currentPeriodStart: start,
    currentPeriodEnd: instant(given.current_period_end),
    trialStart: null,
    trialEnd: null,
    cancelAt: null,
    cancelledAt: null,
    cancelAtPeriodEnd: false,
  };
}

function wireState(state: SubscriptionState): Given {
  return {
    subscription_status: state.status,
    current_period_start: state.currentPeriodStart,
    current_period_end: state.currentPeriodEnd,
  };
}

/** An item with its full amount; usage has the amount to be billed as its quantity, at 1 each. */
function itemOf(given: Given, item: Given): ChargeItem {
  const usage = item.price_type === 'USAGE';
  const shape = { ...given, ...item };
  const base = fixedItem(shape, given.current_period_start, usage ? '0' : '1', usage ? '1' : String(item.amount));
  return { ...base, id: item.id };
}

interface Billed {
  elapsed?: Period;
  next?: Period;
  resume?: ResumeTerms;
}

function linesOf(given: Given, state: SubscriptionState, reason: ChargePlanInput['reason'], billed: Billed) {
  const period = (part: Period | undefined) => (part ? { ...part, full: wholePeriodAt(state, part.start) } : null);
  const input: ChargePlanInput = {
    reason,
    subscription: subscriptionOf(given, state),
    elapsed: period(billed.elapsed),
    next: period(billed.next),
    ...(billed.resume ? { resume: billed.resume } : {}),
    items: given.items.map((item: Given) => itemOf(given, item)),
    allowances: {},
    billed: [],
  };
  const planned = planCharges(input);
  const usageOf = (id: string) => given.items.find((item: Given) => item.id === id)?.usage_amount_to_pause ?? '0';
  const answers: Record<string, UsageAnswer> = Object.fromEntries(
    planned.flatMap(({ item, questions }) => questions.map(({ key }) => [key, { quantity: String(usageOf(item.id)) }])),
  );
  return priceCharges(planned, answers).map((line) => ({ id: line.subscriptionLineItemId, amount: line.amount }));
}

/** What the pause gives back of the period that was charged in full. */
function creditsAt(given: Given, state: SubscriptionState, pauseAt: string): ProratedChange {
  const period = { start: state.currentPeriodStart, end: state.currentPeriodEnd };
  return prorateChange({
    action: 'pause',
    behavior: given.pause_proration_behavior,
    subscription: subscriptionOf(given, state),
    period: { ...period, full: period },
    effectiveAt: pauseAt,
    ended: given.items.map((item: Given) => ({ item: itemOf(given, item), billed: null, credited: '0' })),
    started: [],
  });
}

function subscriptionOf(given: Given, state: SubscriptionState): ChargePlanInput['subscription'] {
  return { ...state, currency: given.currency, lineItemGrouping: 'per_charge_period' };
}

export const pauseAdapters: Adapters = { pause_timeline: pauseTimeline };
