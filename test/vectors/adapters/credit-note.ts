import { applyCreditNote, type CreditableInvoice, planCreditNote } from '../../../billing/invoice/credit-note.ts';
import { planRefunds, rollUpRefunds } from '../../../billing/payment/refund.ts';
import { type Adapters, type Given, outcome, text } from '../adapter.ts';

function creditNote(given: Given): unknown {
  const invoice: CreditableInvoice = {
    invoiceStatus: given.invoice.invoice_status,
    paymentStatus: given.invoice.payment_status,
    currency: given.invoice.currency,
    total: String(given.invoice.total),
    amountPaid: String(given.invoice.amount_paid),
    adjustmentAmount: text(given.invoice.adjustment_amount) ?? '0',
    refundedAmount: text(given.invoice.refunded_amount) ?? '0',
  };
  const { type, maximum, totalAmount } = planCreditNote(
    invoice,
    given.line_items.map((line: Given) => ({
      invoiceLineItemId: line.invoice_line_item_id,
      amount: String(line.amount),
      lineAmount: String(line.line_amount),
      creditedBefore: text(line.already_credited) ?? undefined,
    })),
  );
  const after = applyCreditNote(invoice, type, totalAmount);
  const [refund] = type === 'REFUND' ? planRefunds(totalAmount, given.refund_target ?? 'PREPAID_WALLET', []) : [];
  return {
    credit_note_type: type,
    max_creditable: maximum,
    total_amount: totalAmount,
    invoice_after: {
      total: invoice.total,
      amount_paid: invoice.amountPaid,
      refunded_amount: after.refundedAmount,
      adjustment_amount: after.adjustmentAmount,
      amount_due: after.amountDue,
      amount_remaining: after.amountRemaining,
      payment_status: after.paymentStatus,
    },
    refund_destination: refund?.destination.toLowerCase(),
  };
}

function plan(given: Given, amount: string, target: 'PREPAID_WALLET' | 'BACK_TO_SOURCE') {
  return planRefunds(
    amount,
    target,
    given.payments.map((payment: Given) => ({
      id: payment.id,
      amount: String(payment.amount),
      refundedAmount: text(payment.refunded_amount ?? payment.refunded_or_pending) ?? '0',
      paymentStatus: payment.payment_status,
      succeededAt: payment.succeeded_at,
      refundable: payment.refundable ?? payment.refund_capable,
    })),
  );
}

function refundPlan(given: Given): unknown {
  const refunds = plan(given, String(given.refund_amount), given.refund_target ?? 'PREPAID_WALLET');
  return {
    refunds: refunds.map(({ destination, paymentId, amount }) => ({
      destination: destination.toLowerCase(),
      payment_id: paymentId,
      amount,
    })),
  };
}

function refundAllocation(given: Given): unknown {
  const refunds = plan(given, String(given.amount), 'BACK_TO_SOURCE');
  const wallet = refunds.filter(({ destination }) => destination === 'WALLET');
  return {
    outcome: 'planned',
    refunds: refunds
      .filter(({ destination }) => destination === 'GATEWAY')
      .map(({ paymentId, amount }) => ({ payment_id: paymentId, amount })),
    to_wallet: wallet.length === 0 ? null : total(wallet.map(({ amount }) => amount)),
  };
}

function total(amounts: readonly string[]): string {
  return rollUpRefunds(
    '0',
    amounts.map((amount) => ({ amount, refundStatus: 'SUCCEEDED' })),
  ).refunded;
}

function refundRollup(given: Given): unknown {
  const { refunded, paymentStatus, stillRefundable } = rollUpRefunds(
    String(given.payment_amount),
    given.refunds.map((refund: Given) => ({ amount: String(refund.amount), refundStatus: refund.refund_status })),
  );
  return { refunded, payment_status: paymentStatus, still_refundable: stillRefundable };
}

export const creditNoteAdapters: Adapters = {
  credit_note: (given) => outcome(() => creditNote(given)),
  refund_plan: (given) => outcome(() => refundPlan(given)),
  refund_allocation: (given) => outcome(() => refundAllocation(given)),
  refund_rollup: (given) => outcome(() => refundRollup(given)),
};
