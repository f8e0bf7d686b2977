import { type Decimal, decimal, greatest, sum, zero } from '../money/money.ts';
import { roundCredits } from './wallet.ts';

/** A subscription whose usage a wallet will have to pay. */
export interface RunningSubscription {
  currency: string;
  subscriptionStatus: string;
  subscriptionType: string;
  /** Of its current period up to now. */
  usageAmount: Decimal;
}

/** An invoice that is not settled. */
export interface OwedInvoice {
  currency: string;
  invoiceStatus: string;
  paymentStatus: string;
  periodEnd: string | null;
  amountRemaining: Decimal;
  amountPaid: Decimal;
  /** Usage lines after both discounts and prepaid credits, summed. */
  netUsage: Decimal;
}

export interface WalletClaims {
  subscriptions: readonly RunningSubscription[];
  invoices: readonly OwedInvoice[];
  now: string;
}

export interface RealTimeBalance {
  balance: Decimal;
  creditBalance: Decimal;
  /** Usage under way and what is owed; 0 where the wallet does not answer for them. */
  pending: Decimal;
  /** Net usage of invoices that are not settled. */
  unpaidInvoices: Decimal;
  /** Credits that are left for usage; may be below zero. */
  spendable: Decimal;
}

interface MeasuredWallet {
  walletStatus: string;
  walletType: string;
  currency: string;
  balance: Decimal;
  creditBalance: Decimal;
  conversionRate: string;
  allowedPriceTypes: readonly string[];
  /** Credits of lots that can be used now, less what the wallet owes; its credit balance where absent. */
  usableCredits?: Decimal;
}

/** What a wallet has after the usage under way and what is owed; may be below zero. spec: wallets-and-payments §2.10 */
export function realTimeBalance(wallet: MeasuredWallet, claims: WalletClaims): RealTimeBalance {
  const { walletStatus, walletType, balance, creditBalance, allowedPriceTypes: allowed } = wallet;
  const nothing = { pending: zero, unpaidInvoices: zero };
  if (walletStatus !== 'active') return { balance: zero, creditBalance: zero, spendable: zero, ...nothing };
  if (walletType === 'POST_PAID') return { balance, creditBalance, spendable: creditBalance, ...nothing };
  const paysUsage = allowed.length === 0 || allowed.includes('USAGE') || allowed.includes('ALL');
  const paysFixed = allowed.includes('ALL') || allowed.includes('FIXED');
  const running = paysUsage ? sum(claims.subscriptions.filter((one) => isRunning(one, wallet)).map(usage)) : zero;
  const unpaid = claims.invoices.filter((invoice) => isUnpaid(invoice, wallet, claims.now));
  const owed = sum(unpaid.map((invoice) => (paysFixed ? invoice.amountRemaining : owedUsage(invoice))));
  const pending = running.plus(owed);
  const left = balance.minus(pending);
  return {
    balance: left,
    creditBalance: roundCredits(left.dividedBy(decimal(wallet.conversionRate))),
    pending,
    unpaidInvoices: sum(unpaid.map((invoice) => invoice.netUsage)),
    spendable: spendableCredits(wallet, claims),
  };
}

/**
 * Credits a prepaid wallet has left for usage: those that can be used, less the billable usage of running periods and the net usage of
 * drafts whose period is over. What was finalized is no part of it, because credits pay at finalization and never afterwards; nor is
 * usage inside a trial, which nobody bills. spec: README decision 51; design: money-in-wallets findings 1, 2
 */
export function spendableCredits(wallet: MeasuredWallet, claims: WalletClaims): Decimal {
  const { allowedPriceTypes: allowed } = wallet;
  const paysUsage = allowed.length === 0 || allowed.includes('USAGE') || allowed.includes('ALL');
  const billable = claims.subscriptions.filter(
    (one) => one.subscriptionStatus === 'active' && isRunning(one, wallet) && paysUsage,
  );
  const drafts = claims.invoices.filter(
    (invoice) => invoice.invoiceStatus === 'DRAFT' && isUnpaid(invoice, wallet, claims.now) && paysUsage,
  );
  const claimed = sum([...billable.map(usage), ...drafts.map(owedUsage)]);
  const usable = wallet.usableCredits ?? wallet.creditBalance;
  return usable.minus(roundCredits(claimed.dividedBy(decimal(wallet.conversionRate))));
}

const usage = ({ usageAmount }: RunningSubscription): Decimal => usageAmount;

function isRunning(subscription: RunningSubscription, { currency }: MeasuredWallet): boolean {
  const { subscriptionStatus, subscriptionType } = subscription;
  if (subscription.currency !== currency) return false;
  return ['active', 'trialing'].includes(subscriptionStatus) && ['standalone', 'parent'].includes(subscriptionType);
}

function isUnpaid(invoice: OwedInvoice, { currency }: MeasuredWallet, now: string): boolean {
  if (invoice.currency !== currency || invoice.amountRemaining.isZero()) return false;
  if (invoice.paymentStatus === 'SUCCEEDED') return false;
  if (invoice.invoiceStatus === 'FINALIZED') return true;
  return invoice.invoiceStatus === 'DRAFT' && (invoice.periodEnd === null || invoice.periodEnd <= now);
}

/** Payments count against usage, and never beyond it. */
function owedUsage({ netUsage, amountPaid }: OwedInvoice): Decimal {
  return greatest(netUsage.minus(amountPaid), zero);
}
