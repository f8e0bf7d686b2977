import { decimal } from '../money/money.ts';
import { clockOf, dateOf, epochMs, localTime } from '../time/local-time.ts';
import type { HierarchyMember } from './hierarchy.ts';
import { isChild } from './hierarchy.ts';
import type { SubscriptionState } from './subscription.ts';
import { periodEndAfter } from './subscription.ts';

/** A subscription that is to be invoiced with another one, or that one. */
export interface GroupMember extends HierarchyMember, SubscriptionState {
  currency: string;
  testClockId: string | null;
}

const maxBoundaries = 1_000;

/**
 * Why a subscription cannot be invoiced with a parent, null when it can: it is standalone, active or trialing, billed in the same
 * periods from the same day and clock on, in the same currency, not before the parent began, without an end to come and without
 * intermediate invoices. spec: subscriptions-and-invoicing §2.13 Grouped add
 */
export function groupingProblem(child: GroupMember, parent: GroupMember, threshold: string | null): string | null {
  if (child.id === parent.id) return 'is the parent itself';
  if (child.subscriptionType !== 'standalone') {
    const of = isChild(child) ? ` of ${child.parentSubscriptionId}` : '';
    return `is ${child.subscriptionType}${of}; only a standalone one is invoiced with another`;
  }
  if (child.status !== 'active' && child.status !== 'trialing')
    return `is ${child.status}; it must be active or trialing`;
  if (child.currency !== parent.currency) return `is in ${child.currency}; the parent is in ${parent.currency}`;
  const cadence = (one: SubscriptionState) => `${one.billingPeriodCount} × ${one.billingPeriod}`;
  if (cadence(child) !== cadence(parent))
    return `is billed every ${cadence(child)}; the parent every ${cadence(parent)}`;
  if (child.testClockId !== parent.testClockId) return 'does not live on the test clock of the parent';
  if (child.startDate < parent.startDate)
    return `starts at ${child.startDate}, before the parent at ${parent.startDate}`;
  const end = child.cancelAt ?? child.endDate;
  if (end !== null) return `is to end at ${end}; take that back first`;
  if (threshold !== null && !decimal(threshold).isZero()) return 'has an auto_invoice_threshold';
  const anchorOf = (one: SubscriptionState) => (one.status === 'trialing' ? one.currentPeriodEnd : one.billingAnchor);
  const days = [anchorOf(child), anchorOf(parent)].map((at, index) => dayAndClock(at, index === 0 ? child : parent));
  if (days[0] !== days[1] || !isBoundaryOf(parent, child.currentPeriodEnd)) {
    return `has a period that ends at ${child.currentPeriodEnd}; the parent's ends at ${parent.currentPeriodEnd}`;
  }
  return null;
}

/** The day of the month (of the week where periods are days or weeks) and the local clock of an anchor. */
function dayAndClock(anchor: string, { timezone, billingPeriod }: SubscriptionState): string {
  const local = localTime(epochMs(anchor), timezone);
  const clock = clockOf(local);
  return billingPeriod === 'DAILY' || billingPeriod === 'WEEKLY' ? `${clock}` : `${dateOf(local).day} ${clock}`;
}

function isBoundaryOf(parent: SubscriptionState, instant: string): boolean {
  const cycle = parent.status === 'trialing' ? { ...parent, billingAnchor: parent.currentPeriodEnd } : parent;
  let boundary = parent.currentPeriodEnd;
  for (let step = 0; boundary < instant && step < maxBoundaries; step += 1) boundary = periodEndAfter(cycle, boundary);
  return boundary === instant;
}
