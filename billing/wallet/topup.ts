import { type Decimal, decimal, decimalString, hundred } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { type ExpiryUnit, expiryAfter } from './credit-expiry.ts';
import { creditScale, creditsOf, creditValue, roundCredits } from './wallet.ts';

/** Reasons a caller may add credits for. spec: wallets-and-payments §1.1 POST top-up */
export const topupReasons = [
  'FREE_CREDIT_GRANT',
  'PURCHASED_CREDIT_INVOICED',
  'PURCHASED_CREDIT_DIRECT',
  'SUBSCRIPTION_CREDIT_GRANT',
  'CREDIT_NOTE',
  'INVOICE_VOID_REFUND',
] as const;
export type TopupReason = (typeof topupReasons)[number];

const purchases: readonly string[] = ['PURCHASED_CREDIT_INVOICED', 'PURCHASED_CREDIT_DIRECT'];

/** Paid credits have a minimum and may earn a bonus. spec: wallets-and-payments §2.5 */
export function isPurchase(reason: string): boolean {
  return purchases.includes(reason);
}

export interface Topup {
  creditsToAdd?: string | null | undefined;
  amount?: string | null | undefined;
  reason: string;
  currency: string;
  topupConversionRate: string;
}

/** Limits of an environment. Currency keys in any case. */
export interface TopupLimits {
  /** Of one free grant in the currency; 0 is none. */
  freeCreditLimit: string;
  minimums: Readonly<Record<string, string>>;
}

/**
 * The credits of a top-up and what it costs. Credits win over an amount. Throws `validation_error` for neither, for what is not
 * above zero or finer than nine decimals, for less than the minimum of a purchase and for more than the free limit.
 * spec: wallets-and-payments §1.1, §2.2, §2.5, §3 rows 9, 11
 */
export function planTopup(topup: Topup, limits: TopupLimits): { credits: Decimal; amount: Decimal } {
  const { creditsToAdd, amount: given, topupConversionRate: rate, currency, reason } = topup;
  const field = creditsToAdd ? 'credits_to_add' : 'amount';
  const text = creditsToAdd || given;
  if (!text) throw bad('credits_to_add', 'or amount is required');
  const value = decimal(text);
  if (!value.greaterThan(0)) throw bad(field, 'must be greater than 0');
  if (value.decimalPlaces() > creditScale) throw bad(field, 'must have at most 9 decimals');
  const credits = creditsToAdd ? value : creditsOf(value, rate);
  const amount = creditsToAdd ? creditValue(value, rate) : value;
  if (credits.isZero()) throw bad(field, 'buys less than a billionth of a credit; send more');
  const minimum = Object.entries(limits.minimums).find(([key]) => key.toLowerCase() === currency)?.[1];
  if (isPurchase(reason) && minimum !== undefined && amount.lessThan(minimum)) {
    const problem = `must be worth at least ${minimum} ${currency.toUpperCase()}, the minimum top-up`;
    throw bad(field, problem, { minimum, topup_amount: decimalString(amount) });
  }
  refuseFreeCredit(field, reason, amount, limits.freeCreditLimit);
  return { credits, amount };
}

/** Refuses a free grant worth more than the limit; 0 is no limit. spec: wallets-and-payments §2.5 */
function refuseFreeCredit(field: string, reason: string, amount: Decimal, limit: string): void {
  if (reason !== 'FREE_CREDIT_GRANT' || decimal(limit).isZero() || !amount.greaterThan(limit)) return;
  const problem = `may be worth at most ${limit}, the limit of one free grant`;
  throw bad(field, problem, { limit, topup_amount: decimalString(amount) });
}

export interface BonusSlab {
  threshold: string;
  bonus: { type: 'flat' | 'percentage'; value: string };
  expiration_duration?: number | null | undefined;
  expiration_duration_unit?: ExpiryUnit | null | undefined;
}

export interface BonusConfig {
  enabled: boolean;
  slabs: readonly BonusSlab[];
}

export interface Bonus {
  credits: Decimal;
  /** Which slab gave it; null for a caller's own bonus and for none. */
  slabIndex: number | null;
  expiryDate: string | null;
}

/**
 * What a purchase earns: the caller's own bonus, else that of the first slab it reaches. Throws `validation_error` for a bonus
 * of what is not bought. spec: wallets-and-payments §2.7
 */
export function planBonus(
  topup: { credits: Decimal; reason: string; bonusCredits?: string | null | undefined; now: string },
  config: BonusConfig,
): Bonus {
  const { credits, reason, bonusCredits, now } = topup;
  if (bonusCredits) {
    if (!isPurchase(reason)) throw bad('bonus_credits_to_add', `goes with ${purchases.join(' or ')} only`);
    return { credits: roundCredits(decimal(bonusCredits)), slabIndex: null, expiryDate: null };
  }
  const slabIndex =
    config.enabled && isPurchase(reason) ? config.slabs.findIndex((slab) => !credits.lessThan(slab.threshold)) : -1;
  const slab = config.slabs[slabIndex];
  if (slabIndex < 0 || !slab) return { credits: decimal(0), slabIndex: null, expiryDate: null };
  const { expiration_duration: count, expiration_duration_unit: unit } = slab;
  const value = decimal(slab.bonus.value);
  return {
    credits: slab.bonus.type === 'flat' ? roundCredits(value) : roundCredits(credits.times(value).dividedBy(hundred)),
    slabIndex,
    expiryDate: count && unit ? expiryAfter(now, count, unit) : null,
  };
}

function bad(field: string, problem: string, details: Record<string, unknown> = {}): Error {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem }, ...details });
}
