import { decimal, decimalString } from '../../../billing/money/money.ts';
import { refusalIn, statusOfCode } from '../../../billing/refusal.ts';
import { cooldownSeconds, parseCooldown } from '../../../billing/wallet/auto-topup-cooldown.ts';
import { decideAutoTopup, minimumOf, termsOf } from '../../../billing/wallet/auto-topup-decision.ts';
import { type Adapters, type Given, instant, text } from '../adapter.ts';

function decision(given: Given): unknown {
  const { auto_topup: terms, last_auto_topup: last } = given;
  const seconds = terms.cooldown_seconds;
  const balance = decimal(given.real_time_credit_balance);
  const minimums = given.min_topup_amount_per_currency ?? {};
  const decided = decideAutoTopup({
    now: instant(given.now),
    walletStatus: given.wallet_status ?? 'active',
    terms: termsOf({
      ...terms,
      threshold: text(terms.threshold),
      amount: text(terms.amount),
      invoicing: terms.invoicing ?? false,
      cooldownMs: seconds ? decimal(seconds).times(1000).toNumber() : null,
    }),
    realTimeCreditBalance: balance,
    spendable: balance,
    topupConversionRate: given.topup_conversion_rate ?? '1',
    minimum: text(given.min_topup_amount ?? given.minimum) ?? minimumOf(minimums, given.currency ?? 'usd'),
    isOffSession: given.off_session_charge ?? false,
    hasCheckoutSession: given.active_checkout_session ?? false,
    hasUnpaidInvoice: given.unpaid_auto_topup_invoice ?? false,
    last: last ? { isPending: last.transaction_status === 'pending', createdAt: instant(last.created_at) } : null,
  });
  if (decided.action === 'skip') return decided;
  return {
    action: decided.action,
    credits: decimalString(decided.credits),
    amount: decimalString(decided.amount),
    transaction_reason: decided.transactionReason,
    billing_reason: decided.billingReason,
  };
}

function cooldown({ cooldown: given }: Given): unknown {
  try {
    const serialized = parseCooldown(given);
    return { seconds: cooldownSeconds(serialized), serialized };
  } catch (thrown) {
    const refusal = refusalIn(thrown);
    if (!refusal) throw thrown;
    return { outcome: 'rejected', http_status: statusOfCode[refusal.code], code: refusal.code };
  }
}

export const autoTopupAdapters: Adapters = { auto_topup_decision: decision, cooldown_parse: cooldown };
