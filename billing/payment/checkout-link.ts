import { decimal } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { expiryGivenUpAt } from './checkout-agenda.ts';

/** Money that a link took; decimals as strings. */
export interface LinkCapture {
  /** The provider's id of the payment. */
  chargeProviderId: string;
  amount: string;
  currency: string;
}

/** A method that a link kept: the provider's token and what may be shown of it. */
export interface LinkedMethod {
  token: string;
  customerToken: string | null;
  brand: string;
  lastFour: string;
  /** The same for every saving of one card; absent where the provider tells none. */
  fingerprint?: string | null;
  /** Most that its provider lets be charged at once without the payer; absent where the provider tells none. */
  maxAmount?: string | null;
}

/** How a provider says that a link stands. design: money-in-checkout §A5 */
export interface LinkStanding {
  status: 'paid' | 'open' | 'processing' | 'dead';
  captures: readonly LinkCapture[];
  /** The method that was kept, where that was asked for. */
  savedMethod?: LinkedMethod | null;
  declines: readonly { chargeProviderId: string; code: string; class: 'retry' | 'never' | 'authenticate' }[];
}

/** Why a link was asked about: by the way, because its session's time is over, or because somebody wants it to end. */
export type LinkOccasion = 'poll' | 'timer' | 'cancel' | 'superseded';

/** A session as a link's answer is weighed for it. */
export interface AskedSession {
  id: string;
  /** Null in setup mode, in which a method is saved and no money is taken. */
  paymentId: string | null;
  amount: string;
  currency: string;
  expiresAt: string;
}

export type LinkDecision =
  | { trigger: 'paid' | 'mispaid'; capture: LinkCapture }
  | { trigger: 'saved' }
  | { trigger: 'timer' | 'cancel' | 'superseded' | 'link_ended' | null };

/**
 * What a link's answer means for a session that waits; null is to go on waiting. Money of the currency and at least of the amount is its
 * payment, other money is none. A provider that does not answer is asked for a day after the end, unless somebody cancels. Refuses
 * (invalid_operation) to cancel while a payment is being decided.
 * design: money-in-checkout §A5, §A6, §A7
 */
export function decideByLink(
  session: AskedSession,
  link: LinkStanding | null,
  occasion: LinkOccasion,
  at: string,
): LinkDecision {
  if (session.paymentId === null && link?.savedMethod) return { trigger: 'saved' };
  const [first] = link?.captures ?? [];
  if (link && first) {
    const capture = link.captures.find((one) => pays(session, one)) ?? first;
    return { trigger: pays(session, capture) ? 'paid' : 'mispaid', capture };
  }
  if (link === null) {
    if (occasion === 'timer') return { trigger: at >= expiryGivenUpAt(session.expiresAt) ? 'timer' : null };
    return { trigger: occasion === 'poll' ? null : occasion };
  }
  if (link.status === 'processing') {
    if (occasion === 'cancel' || occasion === 'superseded') throw beingDecided(session);
    return { trigger: null };
  }
  if (occasion === 'poll') return { trigger: link.status === 'dead' ? 'link_ended' : null };
  return { trigger: occasion };
}

function pays(session: AskedSession, capture: LinkCapture): boolean {
  const isSame = session.currency.toLowerCase() === capture.currency.toLowerCase();
  return isSame && decimal(capture.amount).greaterThanOrEqualTo(session.amount);
}

function beingDecided({ id, paymentId }: AskedSession): Error {
  return refuse(
    'invalid_operation',
    `payment ${paymentId ?? ''} of checkout session ${id} is being processed: wait for its answer, then cancel`,
    { context: { checkout_session_id: id, payment_id: paymentId } },
  );
}
