import { decimal } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import type { SubscriptionState, SubscriptionStatus } from './subscription.ts';

/** What a subscription is to others. spec: subscriptions-and-invoicing §2.13 */
export type SubscriptionType = 'standalone' | 'parent' | 'inherited' | 'grouped_invoicing';

/** What the rules of a hierarchy read of a subscription. */
export interface HierarchyMember {
  id: string;
  customerId: string;
  status: SubscriptionStatus;
  subscriptionType: SubscriptionType;
  parentSubscriptionId: string | null;
}

/** True for a subscription that another one is billed for. spec: §2.13 */
export function isChild({ subscriptionType }: Pick<HierarchyMember, 'subscriptionType'>): boolean {
  return subscriptionType === 'inherited' || subscriptionType === 'grouped_invoicing';
}

/**
 * Refuses with `validation_error` a subscription that cannot have children: a child itself, one whose usage is invoiced at a
 * threshold, and with `field` one that is not active. spec: subscriptions-and-invoicing §2.13
 */
export function checkParent(
  parent: HierarchyMember,
  { threshold, field, creating = false }: { threshold: string | null; field: string; creating?: boolean },
): void {
  if (isChild(parent)) {
    throw bad(field, `names subscription ${parent.id}, which is ${parent.subscriptionType} itself; name its parent`);
  }
  if (!creating && parent.status !== 'active') {
    throw bad(field, `names subscription ${parent.id}, which is ${parent.status}; only an active one takes children`);
  }
  if (threshold !== null && !decimal(threshold).isZero()) {
    throw bad(
      field,
      `names subscription ${parent.id}, which has an auto_invoice_threshold; one with children has none`,
    );
  }
}

/** A customer who shall inherit, and what he has that is not cancelled. */
export interface Heir {
  customerId: string;
  externalId: string;
  subscriptions: readonly HierarchyMember[];
}

/**
 * The child subscription that an heir has under this parent already; null when one is to be made. Throws `validation_error` for
 * the parent's own customer, for one with a subscription of its own, and for one that inherits from another parent.
 * spec: subscriptions-and-invoicing §2.13; interface: error rule 4
 */
export function inheritedAlready(heir: Heir, parent: HierarchyMember, field: string): HierarchyMember | null {
  const named = `names customer ${heir.externalId}, who`;
  if (heir.customerId === parent.customerId) throw bad(field, `${named} has the parent subscription; name others`);
  for (const own of heir.subscriptions) {
    if (own.subscriptionType === 'inherited') {
      if (own.parentSubscriptionId === parent.id) return own;
      throw bad(field, `${named} inherits subscription ${own.parentSubscriptionId}; remove him there first`);
    }
    if (own.subscriptionType !== 'grouped_invoicing') {
      throw bad(field, `${named} has ${own.subscriptionType} subscription ${own.id}; cancel that first`);
    }
  }
  return null;
}

/** Refuses with `validation_error` what is asked of an inherited child by itself. spec: §2.11 Guard, §2.12 Refused, §2.13 */
export function refuseInherited(row: HierarchyMember, wanted: string): void {
  if (row.subscriptionType !== 'inherited') return;
  const problem = `is inherited from subscription ${row.parentSubscriptionId}`;
  throw refuse(
    'validation_error',
    `subscription ${row.id} ${problem} and follows it: it cannot be ${wanted}; change the parent, or take the child from it with modify, type inheritance, action remove`,
    { fields: { subscription_id: problem } },
  );
}

/** Refuses with `validation_error` what only a subscription without a parent may do. spec: §2.11 Guard */
export function refuseChild(row: HierarchyMember, wanted: string): void {
  refuseInherited(row, wanted);
  if (row.subscriptionType !== 'grouped_invoicing') return;
  const problem = `is invoiced with subscription ${row.parentSubscriptionId}`;
  throw refuse(
    'validation_error',
    `subscription ${row.id} ${problem}: it cannot be ${wanted} by itself; ask its parent, or take it out with modify, type grouped_invoicing, action remove`,
    { fields: { subscription_id: problem } },
  );
}

/**
 * The state of an inherited child beside its parent's: the same status, period and anchor. It ends with its parent, or where it
 * was removed once the parent's period has come to that. A draft begins with its parent. spec: subscriptions-and-invoicing §2.13
 */
export function followParent(child: SubscriptionState, parent: SubscriptionState): SubscriptionState {
  const { status, billingAnchor, currentPeriodStart, currentPeriodEnd, trialStart, trialEnd } = parent;
  const startDate = child.status === 'draft' && status !== 'draft' ? parent.startDate : child.startDate;
  const followed = { ...child, startDate, billingAnchor, currentPeriodStart, currentPeriodEnd, trialStart, trialEnd };
  const removed = child.cancelAt !== null && child.cancelAt <= currentPeriodStart;
  if (status !== 'cancelled' && !removed) return { ...followed, status };
  const ended = removed ? child.cancelAt! : (parent.endDate ?? currentPeriodEnd);
  const end = ended < startDate ? startDate : ended;
  return {
    ...child,
    startDate,
    status: 'cancelled',
    cancelAt: end,
    cancelledAt: removed ? end : parent.cancelledAt,
    endDate: end,
  };
}

type FollowEvent = `subscription.${'updated' | 'cancelled' | 'paused' | 'resumed' | 'activated'}`;

/** Events of a child whose status moved with its parent's, in order. spec: §2.11 Events, §2.12 Events; platform §17.3 */
export function followEvents(before: SubscriptionStatus, after: SubscriptionStatus): FollowEvent[] {
  if (before === after) return [];
  switch (after) {
    case 'cancelled':
      return ['subscription.updated', 'subscription.cancelled'];
    case 'paused':
      return ['subscription.updated', 'subscription.paused'];
    case 'active':
      return before === 'paused' ? ['subscription.updated', 'subscription.resumed'] : ['subscription.activated'];
    case 'trialing':
      return ['subscription.activated'];
    default:
      return [];
  }
}

function bad(field: string, problem: string): Error {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}
