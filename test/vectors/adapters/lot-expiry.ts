import { decimal, decimalString } from '../../../billing/money/money.ts';
import { lotFate } from '../../../billing/wallet/credit-expiry.ts';
import type { CreditLot } from '../../../billing/wallet/credit-lot.ts';
import { planExpiry } from '../../../billing/wallet/wallet-ledger.ts';
import { type Adapters, type Given, instant } from '../adapter.ts';
import { lot } from './wallet.ts';

/** Lots one after the other, as the wallet's own agenda takes them. */
function expiryJob(given: Given): unknown {
  const optional = (value: string | null | undefined) => (value ? instant(value) : null);
  const surroundings = {
    now: instant(given.now),
    currency: String(given.currency).toLowerCase(),
    subscriptions: (given.subscriptions ?? []).map((one: Given, index: number) => ({
      id: one.id ?? `subscription ${index}`,
      subscriptionStatus: one.subscription_status,
      subscriptionType: one.subscription_type,
      currentPeriodEnd: optional(one.current_period_end),
    })),
    invoices: (given.invoices ?? []).map((one: Given, index: number) => ({
      id: one.id ?? `invoice ${index}`,
      invoiceType: one.invoice_type,
      currency: String(one.currency).toLowerCase(),
      invoiceStatus: one.invoice_status,
      amountRemaining: decimal(one.amount_remaining),
      periodStart: optional(one.period_start),
      periodEnd: optional(one.period_end),
      finalizedAt: optional(one.finalized_at),
    })),
  };
  let creditBalance = decimal(given.credit_balance);
  const fates = given.lots.map(lot).map((one: CreditLot) => {
    const { outcome } = lotFate({ ...one, grantedAt: one.createdAt }, surroundings);
    if (outcome === 'expired')
      ({ creditBalanceAfter: creditBalance } = planExpiry({ creditBalance, conversionRate: '1' }, one));
    return [one.id, outcome];
  });
  return { lots: Object.fromEntries(fates), credit_balance_after: decimalString(creditBalance) };
}

export const lotExpiryAdapters: Adapters = { expiry_job: expiryJob };
