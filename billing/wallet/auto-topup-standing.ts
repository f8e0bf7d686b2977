import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { type AgendaItem, sortAgenda } from '../agenda.ts';
import { type AutoTopupTerms, cooldownEndsAt, type LastAutoTopup } from './auto-topup-decision.ts';
import type { ReachedLimit } from './auto-topup-limits.ts';

export const autoTopupStates = [
  'armed',
  'charging',
  'awaiting_payment',
  'needs_action',
  'cooling',
  'backing_off',
  'limited',
  'paused',
  'blocked',
  'disabled',
] as const;
export type AutoTopupState = (typeof autoTopupStates)[number];

export type PauseReason = 'declines' | 'hard_decline' | 'dispute' | 'refund' | 'operator';

/** Pauses that a new card ends; the others end by a person alone. design: money-in-wallets finding 26 */
export const pausesOfCards: readonly PauseReason[] = ['declines', 'hard_decline'];

/** Why a wallet is not topped up, and until when as far as time ends it. */
export interface AutoTopupStanding {
  state: AutoTopupState;
  reason: string | null;
  until: string | null;
}

/** An attempt under way. */
export interface OpenAttempt {
  openedAt: string;
  /** Payment that is to be sent to its gateway; null where another waits for its answer, or where none was opened. */
  unsentPaymentId: string | null;
  hasPayment: boolean;
  /** Since when the payer has to confirm; null where it does not. */
  awaitsPayerSince: string | null;
  /** Not to be given up before: a gateway that did not answer when it was asked to. */
  askedToLapseAt: string | null;
}

/** Facts that the standing is made of, all read under the wallet's lock. `now` is the customer's. */
export interface StandingFacts {
  now: string;
  walletStatus: string;
  isTenantSuspended: boolean;
  terms: AutoTopupTerms;
  /** Way top-ups are paid: by a saved method, by an invoice that waits for its payer, or elsewhere. */
  collection: 'charge' | 'invoice' | 'elsewhere';
  hasMethod: boolean;
  open: OpenAttempt | null;
  invoiceLifetimeDays: number;
  pause: PauseReason | null;
  consecutiveDeclines: number;
  last: LastAutoTopup | null;
  limits: readonly ReachedLimit[];
  /** Another purchase of the wallet that is being paid; `endsAt` is when a link that nobody follows no longer counts as that. */
  pendingPurchase: { endsAt: string | null } | null;
  /** The wallet pays for nobody: no subscription, and no debit by hand within 30 days. */
  isUnused: boolean;
  isBelowMinimum: boolean;
  isBelowGatewayMinimum: boolean;
  /** One top-up is more than the mandate of the saved method allows. */
  isAboveMandate: boolean;
  /** Instant at which it is to be looked at; null for not before the balance falls. */
  evaluateAt: string | null;
}

const hourMs = 60 * 60 * 1000;
const confirmationMs = 24 * hourMs;
const lapseAgainMs = 15 * 60 * 1000;

/**
 * Standing of a wallet's top-ups, whatever its balance: `armed` is one that only waits for the balance to fall. Of several waits the
 * latest is shown. design: money-in §1; money-in-wallets findings 3, 8, 10, 28, 29, 37
 */
export function autoTopupStanding(facts: StandingFacts): AutoTopupStanding {
  if (facts.open !== null) return openStanding(facts.open, facts.invoiceLifetimeDays);
  if (!facts.terms.enabled || facts.walletStatus === 'closed') return standing('disabled', null);
  if (facts.walletStatus === 'frozen') return standing('blocked', 'frozen');
  if (facts.isTenantSuspended) return standing('blocked', 'suspended');
  if (facts.pause !== null) return standing('paused', facts.pause);
  if (facts.isBelowMinimum) return standing('blocked', 'below_minimum');
  if (facts.isBelowGatewayMinimum) return standing('blocked', 'below_gateway_minimum');
  if (facts.isAboveMandate) return standing('blocked', 'above_mandate');
  if (facts.collection === 'charge' && !facts.terms.invoicing && !facts.hasMethod)
    return standing('blocked', 'no_method');
  if (facts.isUnused) return standing('blocked', 'no_use');
  if (facts.pendingPurchase) return standing('blocked', 'pending_transaction', facts.pendingPurchase.endsAt);
  return latestWait(facts) ?? standing('armed', null);
}

function openStanding(open: OpenAttempt, lifetimeDays: number): AutoTopupStanding {
  if (open.awaitsPayerSince !== null) {
    return standing('needs_action', 'authentication_required', later(open.awaitsPayerSince, confirmationMs));
  }
  if (open.hasPayment) return standing('charging', null);
  return standing(
    'awaiting_payment',
    'no_method',
    waitsUntil({ now: open.openedAt, invoiceLifetimeDays: lifetimeDays }),
  );
}

/** End of the days in which an invoice that is opened now can be paid; then it lapses. design: money-in-wallets finding 10 */
export function waitsUntil({ now, invoiceLifetimeDays }: Pick<StandingFacts, 'now' | 'invoiceLifetimeDays'>): string {
  return later(now, invoiceLifetimeDays * 24 * hourMs);
}

/** The latest of all that time ends. */
function latestWait(facts: StandingFacts): AutoTopupStanding | null {
  const { now, terms, last, hasMethod, consecutiveDeclines } = facts;
  const pauseEnds = cooldownEndsAt(terms, last, hasMethod);
  const waits = facts.limits.map(({ reason, until }) => standing('limited', reason, until));
  if (pauseEnds !== null) {
    const isDeclined = consecutiveDeclines > 0 && last?.failedAt != null;
    const reason = `${consecutiveDeclines} decline${consecutiveDeclines === 1 ? '' : 's'} in a row`;
    waits.push(isDeclined ? standing('backing_off', reason, pauseEnds) : standing('cooling', 'cooldown', pauseEnds));
  }
  return waits.filter(({ until }) => until! > now).sort((a, b) => (a.until! < b.until! ? 1 : -1))[0] ?? null;
}

/** Time's next work: charge what was opened, give up what nobody pays, look again when a wait ends. README decision 26 */
export function autoTopupAgenda(
  facts: StandingFacts,
  shown: AutoTopupStanding = autoTopupStanding(facts),
): AgendaItem[] {
  const { open, evaluateAt } = facts;
  if (open?.unsentPaymentId) return [{ at: open.openedAt, kind: 'chargePayment', ref: open.unsentPaymentId }];
  if (open !== null) {
    if (shown.until === null) return [];
    const again = open.askedToLapseAt === null ? null : later(open.askedToLapseAt, lapseAgainMs);
    return [{ at: again ?? shown.until, kind: 'lapse', ref: '' }];
  }
  if (shown.state === 'disabled') return [];
  const items: AgendaItem[] = [];
  if (shown.until !== null) items.push({ at: shown.until, kind: endOf(shown), ref: '' });
  // A wait is looked at again when it ends; a pause that only a person ends, when the person says so.
  else if (evaluateAt !== null) items.push({ at: evaluateAt, kind: 'evaluate', ref: '' });
  return sortAgenda(items, lifecycleKinds.auto_top_up.agenda);
}

function endOf({ state, reason }: AutoTopupStanding): string {
  if (state !== 'limited') return 'evaluate';
  return reason === 'monthly_amount' ? 'endMonth' : 'endWindow';
}

/** Standings that people are told of, because nobody is charged until somebody does something, or for long. design: finding 43 */
export function isTold(state: AutoTopupState): boolean {
  return state === 'paused' || state === 'limited' || state === 'blocked' || state === 'needs_action';
}

/** Line for operators: `limited: declined_per_day until 2026-01-02T00:00:00.000Z`. */
export function standingText({ state, reason, until }: AutoTopupStanding): string {
  return [state, reason === null ? '' : `: ${reason}`, until === null ? '' : ` until ${until}`].join('');
}

function standing(state: AutoTopupState, reason: string | null, until: string | null = null): AutoTopupStanding {
  return { state, reason, until };
}

function later(instant: string, byMs: number): string {
  return new Date(Date.parse(instant) + byMs).toISOString();
}
