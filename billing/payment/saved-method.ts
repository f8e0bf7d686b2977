import { type Decimal, decimal } from '../money/money.ts';
import { compareText } from '../text-order.ts';

/** A payment method that was saved for later, as choosing it needs it. */
export interface SavedMethod {
  id: string;
  /** CARD, UPI and others. */
  type: string;
  /** Only a `confirmed` one is charged. */
  status: string;
  /** Null for one that does not expire. */
  expiresAt: string | null;
  /** Most that may be charged at once; null for no limit. */
  maxAmount: string | null;
  createdAt: string;
}

const usualOrder = ['CARD', 'UPI'];

/** Whether a method may be charged this amount at this instant without its payer. spec: wallets-and-payments §2.17 Saved methods */
export function isChargeable(method: Omit<SavedMethod, 'id' | 'type' | 'createdAt'>, amount: string, now: string) {
  return (
    method.status === 'confirmed' &&
    (method.expiresAt === null || Date.parse(method.expiresAt) > Date.parse(now)) &&
    isWithinMandate(method.maxAmount, amount)
  );
}

/** Whether an amount is no more than a mandate allows at once; null allows any. design: money-in-wallets finding 37 */
export function isWithinMandate(maxAmount: string | null, amount: string | Decimal): boolean {
  return maxAmount === null || decimal(maxAmount).greaterThanOrEqualTo(amount);
}

/**
 * The saved method that is charged without its payer: of the preferred type first, else a card, else UPI; the newest of that type, and
 * of one instant the one with the later id. Null when none may be charged this amount. spec: wallets-and-payments §2.17 Saved methods
 */
export function chooseSavedMethod<Method extends SavedMethod>(
  methods: readonly Method[],
  charge: { amount: string; now: string; preferredType: string | null },
): Method | null {
  const types = charge.preferredType === null ? usualOrder : [charge.preferredType, ...usualOrder];
  const rank = (method: Method) => types.indexOf(method.type);
  const [best] = methods
    .filter((method) => rank(method) >= 0 && isChargeable(method, charge.amount, charge.now))
    .sort(
      (one, other) =>
        rank(one) - rank(other) ||
        Date.parse(other.createdAt) - Date.parse(one.createdAt) ||
        compareText(other.id, one.id),
    );
  return best ?? null;
}

/** The most a mandate of one kind of method may be for, in one currency. spec: wallets-and-payments §1.9 */
export interface MandateCeiling {
  method: string;
  currency: string;
  maxLimit: string;
}

/**
 * The limit asked of the provider for a new mandate: the lower of what the caller asks and the ceiling of the method in that currency;
 * one alone decides, and without either there is no limit (null). spec: wallets-and-payments §2.17 Mandates
 */
export function mandateLimit(
  asked: { method: string; currency: string; maxMandateLimit: string | null },
  ceilings: readonly MandateCeiling[],
): Decimal | null {
  const ceiling = ceilings.find(
    (one) => one.method === asked.method && one.currency.toLowerCase() === asked.currency.toLowerCase(),
  );
  const limits = [asked.maxMandateLimit, ceiling?.maxLimit ?? null].filter((limit) => limit !== null).map(decimal);
  return limits.sort((one, other) => one.comparedTo(other))[0] ?? null;
}
