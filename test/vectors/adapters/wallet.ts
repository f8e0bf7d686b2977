import { planVoid } from '../../../billing/invoice/invoice-void.ts';
import { applyPrepaidCredits } from '../../../billing/invoice/prepaid-credit.ts';
import { decimal, decimalString, sum } from '../../../billing/money/money.ts';
import { refusalIn, statusOfCode } from '../../../billing/refusal.ts';
import {
  type CreditLot,
  creditsBreakdown,
  usableCredits,
  walletAllowance,
} from '../../../billing/wallet/credit-lot.ts';
import { planBonus, planTopup } from '../../../billing/wallet/topup.ts';
import { creditsOf, creditValue, guardWallet, inOrderOfPaying } from '../../../billing/wallet/wallet.ts';
import { realTimeBalance } from '../../../billing/wallet/wallet-balance.ts';
import { planCredit, planDebit, type Quantity, type WalletState } from '../../../billing/wallet/wallet-ledger.ts';
import { type Adapters, type Given, instant, text } from '../adapter.ts';

/** A lot of a vector. */
export function lot(given: Given): CreditLot {
  return {
    id: given.id,
    creditAmount: decimal(given.credit_amount),
    creditsAvailable: decimal(given.credits_available),
    expiryDate: given.expiry_date ? instant(given.expiry_date) : null,
    priority: given.priority ?? null,
    createdAt: instant(given.created_at),
    transactionReason: given.transaction_reason ?? 'FREE_CREDIT_GRANT',
    transactionStatus: given.transaction_status ?? 'completed',
    status: given.status ?? 'published',
  };
}

/** One lot that holds a number of credits and says nothing else. */
const holding = (credits: string): CreditLot =>
  lot({ id: 'lot', credit_amount: credits, credits_available: credits, created_at: '2020-01-01T00:00:00Z' });

function state(given: Given): WalletState {
  return {
    creditBalance: decimal(given.credit_balance),
    conversionRate: String(given.conversion_rate),
    topupConversionRate: String(given.topup_conversion_rate ?? given.conversion_rate),
    lots: (given.lots ?? []).map(lot),
  };
}

function quantity(given: Given): Quantity {
  const [credits, amount] = [text(given.credits), text(given.amount)];
  if (credits === null) return { amount: decimal(amount!) };
  return { credits: decimal(credits) };
}

/** What a refusal answers, with what it says about the case. */
function rejected(error: unknown): Given {
  const refusal = refusalIn(error);
  if (!refusal) throw error;
  return { outcome: 'rejected', http_status: statusOfCode[refusal.code], code: refusal.code, ...refusal.details };
}

function topupConversion(given: Given): unknown {
  const before = decimal(given.credit_balance_before);
  const held = given.lots_available_before ?? (before.isNegative() ? '0' : decimalString(before));
  const wallet = { ...state({ ...given, credit_balance: given.credit_balance_before }), lots: [holding(String(held))] };
  const plan = planCredit(wallet, quantity({ credits: given.credits_to_add, amount: given.amount }));
  return {
    credit_amount: decimalString(plan.credits),
    amount: decimalString(plan.amount),
    credit_balance_after: decimalString(plan.creditBalanceAfter),
    balance_after: decimalString(plan.balanceAfter),
    credits_available: decimalString(plan.available),
  };
}

function debitConsumption(given: Given): unknown {
  const wallet = state(given);
  const { transaction_reason: reason } = given.debit;
  try {
    const plan = planDebit(wallet, { ...quantity(given.debit), reason, referenceTime: instant(given.reference_time) });
    return {
      outcome: plan.credits.isZero() ? 'no_op' : 'completed',
      credit_amount: decimalString(plan.credits),
      amount: decimalString(plan.amount),
      consumed: plan.uses.map(({ id, taken, left }) => ({
        id,
        taken: decimalString(taken),
        left: decimalString(left),
      })),
      credit_balance_after: decimalString(plan.creditBalanceAfter),
      balance_after: decimalString(plan.balanceAfter),
      'metadata.consumed_credit_tx_ids': plan.uses.map((use) => use.id).join(','),
    };
  } catch (error) {
    return { ...rejected(error), credit_balance_after: decimalString(wallet.creditBalance) };
  }
}

/** One after the other, as the wallet's lock lets them. */
function concurrentDebits(given: Given): unknown {
  let wallet = state(given);
  const refused: Given[] = [];
  for (const { credits, transaction_reason: reason } of given.debits) {
    try {
      const plan = planDebit(wallet, {
        credits: decimal(credits),
        reason,
        referenceTime: instant(given.reference_time),
      });
      const left = new Map(plan.uses.map((use) => [use.id, use.left]));
      const lots = wallet.lots.map((one) => ({ ...one, creditsAvailable: left.get(one.id) ?? one.creditsAvailable }));
      wallet = { ...wallet, creditBalance: plan.creditBalanceAfter, lots };
    } catch (error) {
      refused.push(rejected(error));
    }
  }
  return {
    completed: given.debits.length - refused.length,
    rejected: refused.length,
    rejected_http_status: refused[0]?.http_status,
    rejected_code: refused[0]?.code,
    credit_balance_after: decimalString(wallet.creditBalance),
    lot_left: Object.fromEntries(wallet.lots.map((one) => [one.id, decimalString(one.creditsAvailable)])),
  };
}

function invoicePrepaidApplication(given: Given): unknown {
  const { currency } = given;
  const wallets = given.wallets.map((wallet: Given) => {
    const creditBalance = creditsOf(String(wallet.balance), String(wallet.conversion_rate));
    const held = wallet.eligible_lot_credits ?? decimalString(creditBalance);
    return {
      id: wallet.id,
      customerId: '',
      currency: wallet.currency,
      walletStatus: wallet.wallet_status,
      walletType: wallet.wallet_type,
      createdAt: '2026-01-01T00:00:00.000Z',
      creditBalance,
      conversionRate: String(wallet.conversion_rate),
      usable: usableCredits([holding(String(held))], creditBalance, '2026-01-01T00:00:00.000Z'),
    };
  });
  const paying: Given[] = inOrderOfPaying(wallets, { customerId: '', currency });
  const of = (line: Given, member: string) => decimal(text(line[member]) ?? '0');
  const lines: Given[] = given.line_items;
  const net = (line: Given) =>
    of(line, 'amount').minus(of(line, 'line_item_discount')).minus(of(line, 'invoice_level_discount'));
  const rest = lines.reduce((all, line) => all.plus(net(line)), decimal(0));
  const use = applyPrepaidCredits(
    lines.map((line) => ({ priceType: line.price_type ?? 'FIXED', net: net(line) })),
    paying.map(({ id, usable, conversionRate }) => ({
      id,
      allowance: decimalString(walletAllowance(usable, conversionRate, currency)),
    })),
    rest,
    currency,
  );
  const total = rest.minus(use.total);
  return {
    line_items: lines.map(({ id }, position) => ({
      id,
      prepaid_credits_applied: decimalString(use.ofLine[position]!),
    })),
    wallet_debits: paying.flatMap(({ id, conversionRate }, position) => {
      const amount = use.ofWallet[position]!;
      if (amount.isZero()) return [];
      const credits = creditsOf(amount, conversionRate);
      return [{ wallet_id: id, amount: decimalString(amount), credit_amount: decimalString(credits) }];
    }),
    total_prepaid_credits_applied: decimalString(use.total),
    total_before_tax: decimalString(total.isNegative() ? '0' : total),
  };
}

function voidRefund(given: Given): unknown {
  try {
    const plan = planVoid({
      invoiceStatus: 'FINALIZED',
      paymentStatus: given.payment_status,
      amountPaid: String(given.amount_paid),
      totalPrepaidCreditsApplied: String(given.total_prepaid_credits_applied),
      refundedAmount: String(given.refunded_amount),
    });
    const credits = [plan.refundedMoney, plan.returnedCredits].map((part) => creditsOf(part, given.conversion_rate));
    return {
      refund_amount: plan.walletCredit,
      refund_credits: decimalString(credits[0]!.plus(credits[1]!)),
      payment_status: plan.paymentStatus,
      invoice_refunded_amount: plan.refundedAmount,
    };
  } catch (error) {
    return rejected(error);
  }
}

function limited(given: Given): unknown {
  const topup = {
    creditsToAdd: text(given.credits_to_add),
    amount: text(given.amount),
    reason: given.transaction_reason,
    currency: given.currency ?? 'usd',
    topupConversionRate: String(given.topup_conversion_rate),
  };
  const limits = {
    freeCreditLimit: text(given.free_credit_limit_per_transaction) ?? '0',
    minimums: given.min_topup_amount_per_currency ?? {},
  };
  try {
    return { outcome: 'accepted', topup_amount: decimalString(planTopup(topup, limits).amount) };
  } catch (error) {
    return rejected(error);
  }
}

function bonusCredits(given: Given): unknown {
  const { credits, transaction_reason: reason, bonus_credits_to_add: bonusCredits, config } = given;
  const now = '2026-01-01T00:00:00.000Z';
  const bonus = planBonus({ credits: decimal(credits), reason, bonusCredits, now }, config);
  return { bonus_credits: decimalString(bonus.credits), slab_index: bonus.slabIndex };
}

function realTime(given: Given): unknown {
  const creditBalance = decimal(given.credit_balance);
  const balance = creditValue(creditBalance, String(given.conversion_rate));
  const wallet = {
    walletStatus: given.wallet_status,
    walletType: given.wallet_type,
    currency: given.currency,
    balance,
    creditBalance,
    conversionRate: String(given.conversion_rate),
    allowedPriceTypes: given.allowed_price_types,
  };
  const figure = (line: Given, member: string) => decimal(text(line[member]) ?? '0');
  const netOf = (line: Given) =>
    ['line_item_discount', 'invoice_level_discount', 'prepaid_credits_applied'].reduce(
      (net, member) => net.minus(figure(line, member)),
      figure(line, 'amount'),
    );
  const left = realTimeBalance(wallet, {
    now: instant(given.now),
    subscriptions: given.subscriptions.map((one: Given) => ({
      currency: one.currency,
      subscriptionStatus: one.subscription_status,
      subscriptionType: one.subscription_type,
      usageAmount: decimal(one.current_period_usage_amount),
    })),
    invoices: given.invoices.map((one: Given) => ({
      currency: one.currency,
      invoiceStatus: one.invoice_status,
      paymentStatus: one.payment_status,
      periodEnd: one.period_end ? instant(one.period_end) : null,
      amountRemaining: decimal(one.amount_remaining),
      amountPaid: decimal(one.amount_paid),
      netUsage: sum(one.line_items.filter((line: Given) => line.price_type === 'USAGE').map(netOf)),
    })),
  });
  return {
    balance: decimalString(balance),
    pending: decimalString(left.pending),
    real_time_balance: decimalString(left.balance),
    real_time_credit_balance: decimalString(left.creditBalance),
  };
}

function operationGuards({ cases }: Given): unknown {
  const results = cases.map(({ wallet_status, wallet_type, op }: Given) => {
    try {
      guardWallet({ id: 'wallet', walletStatus: wallet_status, walletType: wallet_type ?? 'PRE_PAID' }, op);
      return 'ok';
    } catch (error) {
      return rejected(error).code;
    }
  });
  return { results };
}

export const walletAdapters: Adapters = {
  topup_conversion: topupConversion,
  debit_consumption: debitConsumption,
  concurrent_debits: concurrentDebits,
  credits_breakdown: (given) => {
    const { free, purchased } = creditsBreakdown(given.lots.map(lot), instant(given.now));
    return { free: decimalString(free), purchased: decimalString(purchased) };
  },
  invoice_prepaid_application: invoicePrepaidApplication,
  void_refund: voidRefund,
  min_topup: limited,
  free_credit_limit: limited,
  bonus_credits: bonusCredits,
  real_time_balance: realTime,
  wallet_operation_guards: operationGuards,
};
