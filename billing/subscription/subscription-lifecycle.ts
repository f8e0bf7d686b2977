import { refuse } from '../refusal.ts';
import type { SubscriptionStatus } from './subscription.ts';

interface Transition {
  /** From each status in which it may happen: where it may lead. */
  moves: Partial<Record<SubscriptionStatus, readonly SubscriptionStatus[]>>;
  /** `a cancelled subscription cannot be …` */
  participle: string;
}

/**
 * Everything that can happen to a subscription, and in which status. What is not here is refused, or never comes.
 * spec: subscriptions-and-invoicing §2.4
 */
export const subscriptionTransitions = {
  create: { participle: 'created', moves: {} },
  activate: { participle: 'activated', moves: { draft: ['active', 'incomplete', 'trialing'] } },
  payOpening: { participle: 'made active by a payment', moves: { incomplete: ['active'] } },
  endTrial: { participle: 'taken out of its trial', moves: { trialing: ['active', 'incomplete', 'cancelled'] } },
  pause: { participle: 'paused', moves: { active: ['paused'] } },
  resume: { participle: 'resumed', moves: { paused: ['active'] } },
  closePeriod: {
    participle: 'moved to its next period',
    moves: { active: ['active', 'cancelled'], paused: ['paused', 'cancelled'] },
  },
  cancelNow: {
    participle: 'cancelled',
    moves: { active: ['cancelled'], trialing: ['cancelled'], paused: ['cancelled'], incomplete: ['cancelled'] },
  },
  cancelLater: {
    participle: 'cancelled at a later date',
    moves: { active: ['active'], trialing: ['trialing'], paused: ['paused'] },
  },
  keep: {
    participle: 'kept: its scheduled end cannot be taken back',
    moves: { active: ['active'], trialing: ['trialing'], paused: ['paused'] },
  },
  autoCancel: { participle: 'cancelled for a late payment', moves: { active: ['cancelled'] } },
  startPhase: {
    participle: 'moved to its next phase',
    moves: { active: ['active'], trialing: ['trialing'], paused: ['paused'] },
  },
} as const satisfies Record<string, Transition>;

export type SubscriptionTrigger = keyof typeof subscriptionTransitions;

/** True where the table knows the move. spec: subscriptions-and-invoicing §2.4 */
export function mayHappen(trigger: SubscriptionTrigger, status: SubscriptionStatus): boolean {
  return status in subscriptionTransitions[trigger].moves;
}

/**
 * Refuses with `validation_error`, naming the status, what may not happen in it. spec: subscriptions-and-invoicing §2.4, §3
 * rows 22, 23, 25, 28
 */
export function requireTransition(trigger: SubscriptionTrigger, status: SubscriptionStatus): void {
  if (mayHappen(trigger, status)) return;
  const { participle, moves } = subscriptionTransitions[trigger];
  const article = /^[ai]/.test(status) ? 'an' : 'a';
  const allowed = Object.keys(moves).join(', ');
  throw refuse(
    'validation_error',
    `${article} ${status} subscription cannot be ${participle}: subscription_status must be one of ${allowed}`,
    { subscription_status: status },
  );
}

/** The status after a move of the table; a move that is not in it is a bug. spec: subscriptions-and-invoicing §2.4 */
export function statusAfter(
  trigger: SubscriptionTrigger,
  from: SubscriptionStatus,
  to: SubscriptionStatus,
): SubscriptionStatus {
  requireTransition(trigger, from);
  const moves: Transition['moves'] = subscriptionTransitions[trigger].moves;
  if (!moves[from]?.includes(to)) throw new Error(`${trigger} leads from ${from} to ${moves[from]}, not to ${to}`);
  return to;
}
