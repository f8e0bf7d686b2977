import type { Period } from './subscription.ts';

/** From when to when a line item is in force; ISO strings. */
export interface ItemTerm {
  start: string;
  end: string | null;
}

/** Something about a subscription that is allowed and probably not meant. */
export interface SubscriptionWarning {
  code: 'no_price_in_force' | 'timezone_of_customer' | 'tax_rates_of_parent';
  message: string;
}

/** A stretch in which a subscription charges nothing for want of a price; `end` is null where no price follows. */
export interface UnpricedTime {
  start: string;
  end: string | null;
}

/**
 * The first stretch of a period in which none of the line items is in force, up to the start of the next one, which may lie
 * behind the period; null where there is always one. spec: subscriptions-and-invoicing §2.3.2, `warnings` is ours
 */
export function unpricedTime(period: Period, items: readonly ItemTerm[]): UnpricedTime | null {
  const terms = items
    .filter(({ start, end }) => end === null || end > start)
    .sort((a, b) => (a.start < b.start ? -1 : 1));
  let covered = period.start;
  for (const { start, end } of terms) {
    if (start > covered) break;
    if (end === null) return null;
    if (end > covered) covered = end;
  }
  if (covered >= period.end) return null;
  return { start: covered, end: terms.find(({ start }) => start > covered)?.start ?? null };
}

/** The subscription as its warnings look at it. */
export interface WarnedSubscription {
  subscriptionStatus: string;
  subscriptionType: string;
  currentPeriodStart: string;
  currentPeriodEnd: string;
  isOnTestClock: boolean;
}

/**
 * Warnings about the current period of a subscription and its line items. One that has ended, and one that is inherited and
 * has no prices of its own, has none. spec: `warnings` is ours
 */
export function subscriptionWarnings(
  { subscriptionStatus, subscriptionType, currentPeriodStart, currentPeriodEnd, isOnTestClock }: WarnedSubscription,
  items: readonly (ItemTerm & { priceId: string })[],
): SubscriptionWarning[] {
  if (subscriptionStatus === 'cancelled' || subscriptionType === 'inherited') return [];
  const gap = unpricedTime({ start: currentPeriodStart, end: currentPeriodEnd }, items);
  if (gap === null) return [];
  const next = items.find(({ start }) => start === gap.end);
  const until = next ? ` until ${gap.end}, when price ${next.priceId} starts` : '';
  const hint = isOnTestClock
    ? '; a price that is created without start_date starts at that moment in real time, also for customers on a test clock'
    : '';
  const message = `no price of the subscription is in force from ${gap.start}${until}, and nothing is charged for that time${hint}`;
  return [{ code: 'no_price_in_force', message }];
}

/** The warning that a time zone that was asked for gave way to the customer's. spec: §1.2 timezone */
export function zoneWarnings(requested: string | null, used: string): SubscriptionWarning[] {
  if (requested === null || requested === used) return [];
  const message = `time zone ${requested} is not used: the customer has ${used}, and a subscription keeps its customer's`;
  return [{ code: 'timezone_of_customer', message }];
}

/**
 * The warnings that rates named for children of a group do not tax the invoices of their parent, which has rates of its own.
 * spec: subscriptions-and-invoicing §2.13
 */
export function childTaxWarnings(
  children: readonly { taxRateOverrides?: readonly unknown[] }[],
): SubscriptionWarning[] {
  return children.flatMap(({ taxRateOverrides = [] }, index): SubscriptionWarning[] => {
    if (taxRateOverrides.length === 0) return [];
    const member = `inheritance.grouped_invoicing_children_to_create[${index}].tax_rate_overrides`;
    const message = `${member} tax the invoices the child gets by itself; the invoices of this subscription, with the child's lines, are taxed by its own rates`;
    return [{ code: 'tax_rates_of_parent', message }];
  });
}
