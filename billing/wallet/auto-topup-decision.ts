import { type Decimal, decimal, greatest } from '../money/money.ts';
import { creditValue } from './wallet.ts';

/** Terms of an automatic top-up; credits as decimals. */
export interface AutoTopupTerms {
  enabled: boolean;
  threshold: Decimal;
  amount: Decimal;
  invoicing: boolean;
  /** Null where none is configured. */
  cooldownMs: number | null;
}

/** Latest automatic purchase of a wallet, also one that failed. */
export interface LastAutoTopup {
  isPending: boolean;
  createdAt: string;
  /** End of one that brought no credits, and how long to wait from there; null for others. */
  failedAt?: string | null;
  waitAfterFailureMs?: number;
}

/** Facts that decide whether a wallet is topped up; `now` is the customer's. */
export interface AutoTopupFacts {
  now: string;
  walletStatus: string;
  terms: AutoTopupTerms;
  realTimeCreditBalance: Decimal;
  /** Credits left for usage; the same as the real-time balance where a caller has no other figure. */
  spendable: Decimal;
  topupConversionRate: string;
  /** Least amount of one top-up in the currency; null for none. */
  minimum: string | null;
  /** True where a saved method is charged without the payer. */
  isOffSession: boolean;
  hasCheckoutSession: boolean;
  hasUnpaidInvoice: boolean;
  last: LastAutoTopup | null;
}

export type SkipReason =
  | 'disabled'
  | 'above_threshold'
  | 'pending_invoice'
  | 'active_checkout_session'
  | 'pending_transaction'
  | 'cooldown'
  | 'below_minimum';

export type AutoTopupDecision =
  | { action: 'skip'; reason: SkipReason; until: string | null }
  | {
      action: 'top_up';
      credits: Decimal;
      /** In the currency, at the top-up rate, not yet at its precision. */
      amount: Decimal;
      transactionReason: 'PURCHASED_CREDIT_INVOICED' | 'PURCHASED_CREDIT_DIRECT';
      billingReason: 'WALLET_AUTO_TOPUP' | null;
    };

/** Pause after a charge without the payer where none is configured. spec: wallets-and-payments §2.11 Off-session */
export const offSessionCooloffMs = 60 * 60 * 1000;

/**
 * Whether a wallet is topped up now: the guards in their order, the first that fails says why. Both the real-time balance and what is
 * spendable have to be at or below the threshold. spec: wallets-and-payments §2.11; design: money-in-wallets finding 1
 */
export function decideAutoTopup(facts: AutoTopupFacts): AutoTopupDecision {
  const { terms, last, now } = facts;
  if (facts.walletStatus !== 'active' || !terms.enabled) return skip('disabled');
  if (isAboveThreshold(facts)) return skip('above_threshold');
  if (terms.invoicing && facts.hasUnpaidInvoice) return skip('pending_invoice');
  if (facts.isOffSession && facts.hasCheckoutSession) return skip('active_checkout_session');
  if (last?.isPending) return skip('pending_transaction');
  const until = cooldownEndsAt(terms, last, facts.isOffSession);
  if (until !== null && now < until) return skip('cooldown', until);
  const amount = creditValue(terms.amount, facts.topupConversionRate);
  if (facts.minimum !== null && amount.lessThan(facts.minimum)) return skip('below_minimum');
  return {
    action: 'top_up',
    credits: terms.amount,
    amount,
    transactionReason: terms.invoicing ? 'PURCHASED_CREDIT_INVOICED' : 'PURCHASED_CREDIT_DIRECT',
    billingReason: terms.invoicing ? 'WALLET_AUTO_TOPUP' : null,
  };
}

/** Whether either figure is above the threshold; at the threshold counts as low. */
export function isAboveThreshold(balance: MeasuredBalance): boolean {
  return creditsUntilLow(balance).gt(0);
}

/** A wallet's two figures, in credits, beside its terms. */
type MeasuredBalance = Pick<AutoTopupFacts, 'terms' | 'realTimeCreditBalance' | 'spendable'>;

/**
 * Credits until a wallet is low, which it is when both figures have fallen to the threshold; 0 or less where it is.
 * spec: wallets-and-payments §2.11 guard 2; design: money-in-wallets finding 1
 */
export function creditsUntilLow({ terms, realTimeCreditBalance, spendable }: MeasuredBalance): Decimal {
  return greatest(realTimeCreditBalance, spendable).minus(terms.threshold);
}

/**
 * When the pause after the latest automatic top-up ends; null where there is none. After one without credits it also runs from its end.
 * spec: wallets-and-payments §2.11 guard 6; design: money-in-wallets finding 10
 */
export function cooldownEndsAt(
  terms: Pick<AutoTopupTerms, 'cooldownMs'>,
  last: LastAutoTopup | null,
  isOffSession: boolean,
): string | null {
  if (last === null) return null;
  const pauseMs = terms.cooldownMs ?? (isOffSession ? offSessionCooloffMs : null);
  const ends = [
    ...(pauseMs === null ? [] : [later(last.createdAt, pauseMs)]),
    ...(last.failedAt
      ? [later(last.failedAt, Math.max(last.waitAfterFailureMs ?? 0, pauseMs ?? 0, offSessionCooloffMs))]
      : []),
  ];
  return ends.sort().at(-1) ?? null;
}

/** The minimum of a currency among settings whose keys may have any case; null for none. */
export function minimumOf(minimums: Readonly<Record<string, string>>, currency: string): string | null {
  return Object.entries(minimums).find(([key]) => key.toLowerCase() === currency.toLowerCase())?.[1] ?? null;
}

/**
 * Number of times one top-up buys the amount: once, or with `coversShortfall` the smallest number that lifts the balance above the
 * threshold, at most `most`. `bonusOf` says what a purchase of so many credits earns. Null where not even one is allowed.
 * design: money-in-wallets finding 27
 */
export function timesOf(
  {
    balance,
    terms,
    most,
    coversShortfall,
  }: { balance: Decimal; terms: AutoTopupTerms; most: number; coversShortfall: boolean },
  bonusOf: (credits: Decimal) => Decimal,
): number | null {
  if (most < 1) return null;
  if (!coversShortfall) return 1;
  for (let times = 1; times < most; times += 1) {
    const credits = terms.amount.times(times);
    if (balance.plus(credits).plus(bonusOf(credits)).greaterThan(terms.threshold)) return times;
  }
  return most;
}

function skip(reason: SkipReason, until: string | null = null): AutoTopupDecision {
  return { action: 'skip', reason, until };
}

function later(instant: string, byMs: number): string {
  return new Date(Date.parse(instant) + byMs).toISOString();
}

/** Terms as they are stored, with what is left out as nothing. */
export function termsOf(stored: {
  enabled: boolean;
  threshold: string | null;
  amount: string | null;
  invoicing: boolean;
  cooldownMs: number | null;
}): AutoTopupTerms {
  const { enabled, threshold, amount, invoicing, cooldownMs } = stored;
  return { enabled, threshold: decimal(threshold ?? '0'), amount: decimal(amount ?? '0'), invoicing, cooldownMs };
}
