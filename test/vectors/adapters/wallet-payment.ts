import { invoicePayment } from '../../../billing/invoice/invoice-payment.ts';
import { decimal, decimalString, greatest, sum, zero } from '../../../billing/money/money.ts';
import { usableCredits, walletAllowance } from '../../../billing/wallet/credit-lot.ts';
import { doWalletsPay, payFromPostpaidWallets, splitWithCard } from '../../../billing/wallet/postpaid-payment.ts';
import { creditsOf } from '../../../billing/wallet/wallet.ts';
import type { Adapters, Given } from '../adapter.ts';

/** A wallet whose credits are one lot that never expires. */
function wallet(given: Given) {
  const rate = String(given.conversion_rate ?? '1');
  const credits = greatest(creditsOf(String(given.balance), rate), zero);
  const lot = {
    id: 'lot',
    creditAmount: credits,
    creditsAvailable: credits,
    expiryDate: null,
    priority: null,
    createdAt: '2020-01-01T00:00:00.000Z',
    transactionReason: 'FREE_CREDIT_GRANT',
    transactionStatus: 'completed',
    status: 'published',
  };
  return {
    id: given.id,
    currency: given.currency,
    walletStatus: given.wallet_status,
    walletType: given.wallet_type,
    allowedPriceTypes: given.allowed_price_types ?? [],
    balance: decimal(given.balance),
    allowance: walletAllowance(usableCredits([lot], credits, lot.createdAt), rate, given.currency),
  };
}

function line(given: Given) {
  const taken = ['line_item_discount', 'invoice_level_discount', 'prepaid_credits_applied'];
  const less = sum(taken.map((member) => decimal(given[member] ?? '0')));
  return { priceType: given.price_type ?? null, net: decimal(given.amount).minus(less) };
}

function postpaidAllocation(given: Given): unknown {
  const invoice = { currency: given.currency, remaining: decimal(given.amount_remaining) };
  const payments = payFromPostpaidWallets(invoice, given.wallets.map(wallet), given.line_items.map(line));
  const paid = decimalString(sum(payments.map(({ amount }) => decimal(amount))));
  const after = invoicePayment(given.amount_remaining, paid);
  return {
    payments: payments.map(({ walletId, amount }) => ({ wallet_id: walletId, amount })),
    amount_remaining_after: after.amountRemaining,
    payment_status: after.paymentStatus,
  };
}

function cardWalletSplit(given: Given): unknown {
  const { byCard, byWallets } = splitWithCard(given.amount_remaining, given.wallet_payable);
  const asksCard = decimal(byCard).greaterThan(0);
  const isCardPaid = !asksCard || given.card_result === 'SUCCEEDED';
  const follow = given.allow_wallet_partial ? 'in_any_case' : 'on_success';
  const walletsPay = decimal(byWallets).greaterThan(0) && doWalletsPay(follow, isCardPaid);
  const payments = [
    ...(asksCard ? [{ method: 'CARD', amount: byCard, payment_status: isCardPaid ? 'SUCCEEDED' : 'FAILED' }] : []),
    ...(walletsPay ? [{ method: 'CREDITS', amount: byWallets, payment_status: 'SUCCEEDED' }] : []),
  ];
  const succeeded = payments.filter(({ payment_status }) => payment_status === 'SUCCEEDED');
  const paid = decimalString(sum(succeeded.map(({ amount }) => decimal(amount))));
  const after = invoicePayment(given.amount_remaining, paid);
  return {
    payments,
    amount_paid: after.amountPaid,
    amount_remaining: after.amountRemaining,
    invoice_payment_status: after.paymentStatus,
  };
}

export const walletPaymentAdapters: Adapters = {
  postpaid_payment_allocation: postpaidAllocation,
  card_wallet_split: cardWalletSplit,
};
