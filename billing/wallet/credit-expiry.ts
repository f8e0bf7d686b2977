import type { Decimal } from '../money/money.ts';

export const expiryUnits = ['DAY', 'WEEK', 'MONTH', 'YEAR'] as const;
export type ExpiryUnit = (typeof expiryUnits)[number];

/**
 * When credits expire that last a number of units: days of 24 hours, and months and years by the calendar in UTC, where what a
 * month does not have overflows into the next (31 January and a month is 3 March). spec: wallets-and-payments §2.15, §5 WP-080
 */
export function expiryAfter(start: string, count: number, unit: ExpiryUnit): string {
  const at = new Date(start);
  if (unit === 'DAY') at.setUTCDate(at.getUTCDate() + count);
  if (unit === 'WEEK') at.setUTCDate(at.getUTCDate() + 7 * count);
  if (unit === 'MONTH') at.setUTCMonth(at.getUTCMonth() + count);
  if (unit === 'YEAR') at.setUTCFullYear(at.getUTCFullYear() + count);
  return at.toISOString();
}

const hourMs = 3_600_000;
/** Credits leave the balance this long after they can no longer be used. spec: wallets-and-payments §2.8 */
const graceMs = 6 * hourMs;
/** An invoice that is not paid keeps credits for so long after it was finalized. design: money-in-wallets finding 32 */
const unpaidMs = 30 * 24 * hourMs;
/** A lot that something holds without a known end is looked at again after so long, also where nobody says that it ended. */
const lookAgainMs = 24 * hourMs;

/** The instant at which the credits of a lot leave the balance, unless something holds them. spec: wallets-and-payments §2.8 */
export function leavesAt(expiryDate: string): string {
  return later(expiryDate, graceMs);
}

/** A lot as far as its expiry is concerned. */
export interface ExpiringLot {
  creditsAvailable: Decimal;
  expiryDate: string | null;
  /** The instant it came, on the customer's clock. */
  grantedAt: string;
}

/** A subscription that the wallet's customer pays. */
export interface HoldingSubscription {
  id: string;
  subscriptionStatus: string;
  subscriptionType: string;
  currentPeriodEnd: string | null;
}

/** An invoice of the wallet's customer. */
export interface HoldingInvoice {
  id: string;
  invoiceType: string;
  /** Lower case. */
  currency: string;
  invoiceStatus: string;
  amountRemaining: Decimal;
  periodStart: string | null;
  periodEnd: string | null;
  /** Null for a draft, and where it is not known. */
  finalizedAt: string | null;
}

/** Subscriptions and invoices that may keep the credits of a customer's wallet beyond their expiry. */
export interface LotSurroundings {
  now: string;
  /** Currency of the wallet, lower case. */
  currency: string;
  subscriptions: readonly HoldingSubscription[];
  invoices: readonly HoldingInvoice[];
}

/** Outcome for a lot at an instant. Of one that is held, by what, and when it is to be looked at again at the latest. */
export type LotFate =
  | { outcome: 'not_expiring' | 'nothing_left' | 'not_due' | 'expired' }
  | { outcome: 'skipped:active_subscription' | 'skipped:active_invoice'; heldBy: string; lookAgainAt: string };

/**
 * Whether the credits of a lot leave its wallet now: six hours after their expiry, but not while the period of a subscription is over
 * and not closed, nor while an invoice of the period in which they came is a draft, or unpaid for less than 30 days.
 * spec: wallets-and-payments §2.8; design: money-in-wallets findings 31, 32
 */
export function lotFate(lot: ExpiringLot, surroundings: LotSurroundings): LotFate {
  const { now } = surroundings;
  if (lot.expiryDate === null) return { outcome: 'not_expiring' };
  if (!lot.creditsAvailable.greaterThan(0)) return { outcome: 'nothing_left' };
  if (leavesAt(lot.expiryDate) > now) return { outcome: 'not_due' };
  const subscription = surroundings.subscriptions.find((one) => isUnclosed(one, now));
  if (subscription) {
    return { outcome: 'skipped:active_subscription', heldBy: subscription.id, lookAgainAt: later(now, lookAgainMs) };
  }
  const holding = surroundings.invoices.filter((one) =>
    keeps(one, { ...lot, expiryDate: lot.expiryDate! }, surroundings),
  );
  if (holding.length === 0) return { outcome: 'expired' };
  // All of them have to let go, so the last one counts.
  const ends = holding.map((invoice) => ({ id: invoice.id, at: endOf(invoice) ?? later(now, lookAgainMs) }));
  const last = ends.reduce((one, other) => (other.at > one.at ? other : one));
  return { outcome: 'skipped:active_invoice', heldBy: last.id, lookAgainAt: last.at };
}

function isUnclosed(subscription: HoldingSubscription, now: string): boolean {
  const { subscriptionStatus, subscriptionType, currentPeriodEnd } = subscription;
  if (subscriptionStatus !== 'active' || !['standalone', 'parent'].includes(subscriptionType)) return false;
  return currentPeriodEnd !== null && currentPeriodEnd <= now;
}

function keeps(
  invoice: HoldingInvoice,
  { grantedAt, expiryDate }: ExpiringLot & { expiryDate: string },
  { now, currency }: LotSurroundings,
): boolean {
  const { invoiceType, invoiceStatus, amountRemaining, periodStart, periodEnd } = invoice;
  if (invoiceType !== 'SUBSCRIPTION' || invoice.currency !== currency) return false;
  if (!['DRAFT', 'FINALIZED'].includes(invoiceStatus) || !amountRemaining.greaterThan(0)) return false;
  if (periodStart === null || periodEnd === null) return false;
  const end = endOf(invoice);
  if (end !== null && end <= now) return false;
  return periodStart <= grantedAt && grantedAt <= periodEnd && periodEnd <= expiryDate;
}

/** The instant from which an invoice keeps nothing any more, paid or not; null while it is a draft. */
function endOf({ invoiceStatus, finalizedAt }: HoldingInvoice): string | null {
  return invoiceStatus === 'FINALIZED' && finalizedAt !== null ? later(finalizedAt, unpaidMs) : null;
}

function later(instant: string, ms: number): string {
  return new Date(Date.parse(instant) + ms).toISOString();
}
