import { type Decimal, decimal, decimalString, greatest, least, roundDownToCurrency, zero } from '../money/money.ts';
import { compareText } from '../text-order.ts';

/** A postpaid wallet that could pay an invoice; amounts in the invoice's currency. */
export interface PostpaidWallet {
  id: string;
  currency: string;
  walletStatus: string;
  walletType: string;
  allowedPriceTypes: readonly string[];
  balance: Decimal;
  /** The largest amount that its usable credits pay. */
  allowance: Decimal;
}

/** A line of the invoice, net of both discounts and of prepaid credits. A line without a price type counts as FIXED. */
export interface PayableLine {
  priceType: string | null;
  net: Decimal;
}

/** Amount that a wallet pays; above zero. */
export interface WalletPayment {
  walletId: string;
  amount: string;
}

type WalletClass = 'usage' | 'fixed' | 'unrestricted';

const inOrder: readonly WalletClass[] = ['usage', 'fixed', 'unrestricted'];
const mostPayments = 5;

/**
 * Payments of an invoice by postpaid wallets: wallets for usage first, then wallets for fixed charges, then the others; among equals the
 * larger balance first, then the id. A restricted wallet pays at most the lines of its class, and tax belongs to no class. A payment
 * counts against usage first, then against fixed charges. Five payments at most, each at the currency's precision.
 * spec: wallets-and-payments §2.13
 */
export function payFromPostpaidWallets(
  invoice: { currency: string; remaining: Decimal },
  wallets: readonly PostpaidWallet[],
  lines: readonly PayableLine[],
): WalletPayment[] {
  const left = classTotals(lines);
  let remaining = invoice.remaining;
  const payments: WalletPayment[] = [];
  for (const { id, kind, allowance } of inOrderOfPayment(wallets, invoice.currency)) {
    if (payments.length === mostPayments) break;
    const most = kind === 'unrestricted' ? remaining : least(left[kind], remaining);
    const amount = roundDownToCurrency(least(most, allowance), invoice.currency);
    if (!amount.greaterThan(zero)) continue;
    payments.push({ walletId: id, amount: decimalString(amount) });
    remaining = remaining.minus(amount);
    const ofUsage = least(amount, left.usage);
    left.usage = left.usage.minus(ofUsage);
    left.fixed = greatest(left.fixed.minus(amount.minus(ofUsage)), zero);
  }
  return payments;
}

function classTotals(lines: readonly PayableLine[]): { usage: Decimal; fixed: Decimal } {
  const totals = { usage: zero, fixed: zero };
  for (const { priceType, net } of lines) {
    const kind = priceType === 'USAGE' ? 'usage' : 'fixed';
    totals[kind] = totals[kind].plus(net);
  }
  return { usage: greatest(totals.usage, zero), fixed: greatest(totals.fixed, zero) };
}

function inOrderOfPayment(wallets: readonly PostpaidWallet[], currency: string) {
  return wallets
    .filter(({ walletStatus, walletType }) => walletStatus === 'active' && walletType === 'POST_PAID')
    .filter((wallet) => wallet.currency.toLowerCase() === currency.toLowerCase() && wallet.balance.greaterThan(zero))
    .map((wallet) => ({ ...wallet, kind: classOf(wallet.allowedPriceTypes) }))
    .sort(
      (a, b) =>
        inOrder.indexOf(a.kind) - inOrder.indexOf(b.kind) || b.balance.comparedTo(a.balance) || compareText(a.id, b.id),
    );
}

function classOf(allowed: readonly string[]): WalletClass {
  const [usage, fixed] = [allowed.includes('USAGE'), allowed.includes('FIXED')];
  if (allowed.includes('ALL') || usage === fixed) return 'unrestricted';
  return usage ? 'usage' : 'fixed';
}

/** Amount remaining of an invoice, divided between its payer's card and wallets; decimals as strings. */
export interface PaymentSplit {
  /** Charged to the card first; 0 when the wallets can pay everything. */
  byCard: string;
  byWallets: string;
}

/** The part that wallets can pay is theirs, the card is asked for the rest. spec: wallets-and-payments §2.13 */
export function splitWithCard(remaining: string, payableByWallets: string): PaymentSplit {
  const byWallets = greatest(least(decimal(payableByWallets), decimal(remaining)), zero);
  return { byCard: decimalString(decimal(remaining).minus(byWallets)), byWallets: decimalString(byWallets) };
}

/** Condition on which wallets pay their part: the card has succeeded, or none. */
export type WalletsFollow = 'on_success' | 'in_any_case';

/** True when wallets pay their part after the card has succeeded or failed. spec: wallets-and-payments §2.13 */
export function doWalletsPay(follow: WalletsFollow | null, isCardPaid: boolean): boolean {
  return follow !== null && (isCardPaid || follow === 'in_any_case');
}
