import { refuse } from '../refusal.ts';

/** Ways money comes by a checkout session. spec: wallets-and-payments §1.4 */
export const checkoutActions = [
  'create_subscription',
  'add_addon',
  'modify_subscription',
  'wallet_topup',
  'pay_invoice',
] as const;
export type PaidCheckoutAction = (typeof checkoutActions)[number];
/** In setup mode nothing is bought: the payer's method is saved. */
export type CheckoutAction = PaidCheckoutAction | 'save_method';

export const checkoutStatuses = ['initiated', 'pending', 'completed', 'failed', 'expired'] as const;
export type CheckoutStatus = (typeof checkoutStatuses)[number];

/** Statuses in which a session can still be paid. */
export const activeCheckoutStatuses: readonly string[] = ['initiated', 'pending'];

/** A session that can still be paid. */
export function isCheckoutActive(status: string): boolean {
  return activeCheckoutStatuses.includes(status);
}

/**
 * Things that happen to a session: the provider made the link (`opened`) or refused to (`refused`), the payer paid (`paid`; in setup mode the
 * method was saved) or was
 * declined, somebody cancelled, time ran out (`timer`), the link ended at the provider, a command made the order impossible
 * (`superseded`), what the order changes was found changed when the money came (`overtaken`), other money came than was asked
 * (`mispaid`), or a paid order could not be carried out for a day (`abandoned`).
 */
export type CheckoutTrigger =
  | 'opened'
  | 'refused'
  | 'paid'
  | 'declined'
  | 'cancel'
  | 'timer'
  | 'link_ended'
  | 'superseded'
  | 'overtaken'
  | 'mispaid'
  | 'abandoned';

/** Work that goes with a move, done in the same transaction. */
export type CheckoutEffect = 'none' | 'open' | 'complete' | 'clean_up' | 'record_attempt' | 'capture_late';

export interface CheckoutMove {
  to: CheckoutStatus;
  effect: CheckoutEffect;
  eventName: `checkout.session.${'initiated' | 'completed' | 'failed' | 'expired'}` | null;
  /** Code of why the session ended unpaid; null for every other move. */
  failureReason: string | null;
}

const ends: Partial<Record<CheckoutTrigger, { to: 'failed' | 'expired'; failureReason: string }>> = {
  refused: { to: 'failed', failureReason: 'provider_refused' },
  cancel: { to: 'expired', failureReason: 'cancelled' },
  timer: { to: 'expired', failureReason: 'expired' },
  link_ended: { to: 'failed', failureReason: 'link_ended' },
  superseded: { to: 'expired', failureReason: 'superseded' },
  overtaken: { to: 'failed', failureReason: 'order_changed' },
  mispaid: { to: 'failed', failureReason: 'amount_mismatch' },
  abandoned: { to: 'failed', failureReason: 'completion_failed' },
};

/**
 * The state machine of a session. Refuses (invalid_operation) to cancel a completed one; everything else that comes to a session that
 * has ended leaves it as it is, and money for one that failed or expired goes back. spec: wallets-and-payments §2.17 State machine
 */
export function checkoutMove(from: CheckoutStatus, trigger: CheckoutTrigger): CheckoutMove {
  const stay = (effect: CheckoutEffect): CheckoutMove => ({ to: from, effect, eventName: null, failureReason: null });
  if (!isCheckoutActive(from)) {
    if (from === 'completed' && trigger === 'cancel') {
      throw refuse('invalid_operation', 'the checkout session is completed and cannot be cancelled', {
        checkout_status: from,
      });
    }
    return stay(from !== 'completed' && trigger === 'paid' ? 'capture_late' : 'none');
  }
  if (trigger === 'declined') return stay('record_attempt');
  if (trigger === 'opened') {
    const eventName = from === 'initiated' ? 'checkout.session.initiated' : null;
    return { to: 'pending', effect: eventName ? 'open' : 'none', eventName, failureReason: null };
  }
  if (trigger === 'paid') {
    return { to: 'completed', effect: 'complete', eventName: 'checkout.session.completed', failureReason: null };
  }
  const end = ends[trigger]!;
  return { ...end, effect: 'clean_up', eventName: `checkout.session.${end.to}` };
}

/** Words for a code of `failure_reason`, for people; null for none. */
export function failureSentence(reason: string | null): string | null {
  const sentences: Record<string, string> = {
    provider_refused: 'The payment provider refused to open the payment.',
    cancelled: 'The session was cancelled before it was paid.',
    expired: 'The session expired before it was paid.',
    link_ended: 'The payment provider ended the payment link before it was paid.',
    superseded: 'Another change made this order impossible before it was paid.',
    order_changed:
      'What the order was to change had changed before it was paid, so it was not carried out; the money goes back to its payer.',
    amount_mismatch: 'Another amount or currency was paid than was asked; it goes back to its payer.',
    completion_failed: 'The order was paid but could not be carried out; the money goes back to its payer.',
    completion_delayed: 'The order was paid; carrying it out failed and is tried again.',
  };
  return reason === null ? null : (sentences[reason] ?? reason);
}

const minuteMs = 60_000;
const lifeMs: Record<string, number> = { razorpay: 15 * minuteMs };
const usualLifeMs = 30 * minuteMs;

/**
 * The end of a session: 15 minutes after its creation with razorpay, 30 with others, and never later than the link's own end (null when the
 * provider names none). spec: wallets-and-payments §2.17 Expiry
 */
export function checkoutExpiry(provider: string, createdAt: string, providerExpiresAt: string | null): string {
  const ownMs = Date.parse(createdAt) + (lifeMs[provider] ?? usualLifeMs);
  const endMs = providerExpiresAt === null ? ownMs : Math.min(ownMs, Date.parse(providerExpiresAt));
  return new Date(endMs).toISOString();
}

/** When a client should read a session again; 0 once it has ended. spec: wallets-and-payments §2.17 Read and poll */
export function checkoutPoll(
  status: string,
  createdAt: string,
  now: string,
): { terminal: boolean; nextPollAfterMs: number } {
  if (!isCheckoutActive(status)) return { terminal: true, nextPollAfterMs: 0 };
  const ageMs = Date.parse(now) - Date.parse(createdAt);
  return { terminal: false, nextPollAfterMs: ageMs < minuteMs ? 2000 : ageMs < 5 * minuteMs ? 5000 : 10_000 };
}

/** A read asks a provider again only after so long. spec: wallets-and-payments §4 poll-by-many */
export const askAgainAfterMs = 2_000;

/** Whether a provider was asked so lately that a read does not ask it again. spec: wallets-and-payments §2.17 Read and poll */
export function isAskedLately(askedAt: string | null, at: string): boolean {
  return askedAt !== null && Date.parse(at) - Date.parse(askedAt) < askAgainAfterMs;
}
