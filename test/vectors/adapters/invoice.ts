import { automaticFinalization } from '../../../billing/invoice/automatic-finalization.ts';
import { computeInvoice } from '../../../billing/invoice/invoice.ts';
import { invoiceConfig } from '../../../billing/invoice/invoice-config.ts';
import type { InvoiceCoupon } from '../../../billing/invoice/invoice-input.ts';
import { invoiceDateKey, invoiceNumber, nextInvoiceSequence } from '../../../billing/invoice/invoice-number.ts';
import {
  addPayment,
  type InvoicePayment,
  invoicePayment,
  paidByPayments,
  paymentByHand,
} from '../../../billing/invoice/invoice-payment.ts';
import { type CurrencySummary, summarizeInvoices } from '../../../billing/invoice/invoice-summary.ts';
import { planVoid } from '../../../billing/invoice/invoice-void.ts';
import { defaultTaxBehavior } from '../../../billing/invoice/tax.ts';
import { subscriptionDueDate } from '../../../billing/time/due-date.ts';
import { type Adapters, type Given, instant, outcome, text } from '../adapter.ts';

function invoicePipeline(given: Given): unknown {
  const coupon =
    (line: boolean) =>
    (members: Given): InvoiceCoupon => ({
      id: members.code,
      lineId: line ? members.line_id : null,
      type: members.type,
      amountOff: text(members.amount_off),
      percentageOff: text(members.percentage_off),
    });
  const result = computeInvoice({
    currency: given.currency,
    lines: given.lines.map((line: Given) => ({
      id: line.id,
      amount: String(line.amount),
      priceType: line.price_type ?? 'FIXED',
    })),
    coupons: [...(given.line_coupons ?? []).map(coupon(true)), ...(given.invoice_coupons ?? []).map(coupon(false))],
    wallets: (given.prepaid_wallets ?? []).map((wallet: Given) => ({
      id: wallet.id,
      allowance: String(wallet.balance),
    })),
    taxes: (given.taxes ?? []).map((tax: Given) => ({
      id: tax.code,
      percentage: String(tax.percentage_value),
      taxBehavior: tax.tax_behavior,
    })),
    taxExempt: given.customer_tax_treatment === 'exempt',
    preview: given.preview === true,
    adjustmentAmount: text(given.adjustment_amount) ?? '0',
  });
  return {
    lines: result.lines.map((line) => ({
      id: line.id,
      amount: line.amount,
      line_item_discount: line.lineItemDiscount,
      invoice_level_discount: line.invoiceLevelDiscount,
      prepaid_credits_applied: line.prepaidCreditsApplied,
    })),
    subtotal: result.subtotal,
    total_discount: result.totalDiscount,
    total_prepaid_credits_applied: result.totalPrepaidCreditsApplied,
    taxable_amount: result.taxableAmount,
    taxes: result.taxes.map((tax) => ({
      code: tax.taxRateId,
      tax_behavior: tax.taxBehavior,
      taxable_amount: tax.taxableAmount,
      tax_amount: tax.taxAmount,
    })),
    inclusive_tax: result.inclusiveTax,
    exclusive_tax: result.exclusiveTax,
    total_tax: result.totalTax,
    total: result.total,
    amount_due: result.amountDue,
    no_tax_reason: result.noTaxReason,
    coupon_applications: result.couponApplications.map((row) => ({
      coupon: row.couponId,
      line_id: row.lineId,
      original_price: row.originalPrice,
      discounted_amount: row.discountedAmount,
      final_price: row.finalPrice,
    })),
    wallets: result.walletUses.map((use) => ({ wallet: use.walletId, used: use.amount })),
  };
}

function invoiceNumbering({ invoice_config: setting = null, finalized_at: instants }: Given): unknown {
  const config = invoiceConfig(setting);
  const lastOfKey = new Map<string, number>();
  const numbers = instants.map((finalizedAt: string) => {
    const dateKey = invoiceDateKey(finalizedAt, config);
    const sequence = nextInvoiceSequence(lastOfKey.get(dateKey) ?? null, config);
    lastOfKey.set(dateKey, sequence);
    return invoiceNumber(dateKey, sequence, config);
  });
  return { invoice_numbers: numbers };
}

function autoFinalization(given: Given): unknown {
  const invoice = {
    invoiceStatus: given.invoice_status,
    invoiceType: given.invoice_type ?? 'SUBSCRIPTION',
    billingReason: given.billing_reason,
    sourceType: given.source_type ?? null,
    isManuallyEdited: given.is_manually_edited === true,
    lastComputedAt: given.last_computed_at ?? null,
    periodEnd: given.period_end ?? null,
  };
  const { finalizationDelaySeconds } = invoiceConfig(given);
  return { finalize: automaticFinalization(invoice, finalizationDelaySeconds, given.now) === 'finalize' };
}

function wirePayment(payment: InvoicePayment): Given {
  return {
    amount_paid: payment.amountPaid,
    amount_remaining: payment.amountRemaining,
    overpaid_amount: payment.overpaidAmount,
    payment_status: payment.paymentStatus,
  };
}

function paymentReconciliation(given: Given): unknown {
  let paid = '0';
  const steps = given.succeeded_payments.map((payment: string) => {
    const after = addPayment(given.amount_due, paid, payment);
    paid = after.amountPaid;
    return wirePayment(after);
  });
  return { after_each: steps };
}

function manualPaymentUpdate({ invoice, updates }: Given): unknown {
  let state = { paymentStatus: invoice.payment_status, amountDue: invoice.amount_due, amountPaid: invoice.amount_paid };
  const results = updates.map((update: Given) =>
    outcome(() => {
      const hasSucceededPayment = invoice.has_succeeded_payment === true;
      const after = paymentByHand(
        { ...state, hasSucceededPayment },
        { paymentStatus: update.payment_status, amount: text(update.amount) },
      );
      state = { ...state, paymentStatus: after.paymentStatus, amountPaid: after.amountPaid };
      return wirePayment(after);
    }),
  );
  return { results };
}

function invoicePaymentStatus(given: Given): unknown {
  const steps = given.payments.map((_: Given, position: number) => {
    const sofar = given.payments.slice(0, position + 1);
    const records = sofar.map((payment: Given) => ({
      amount: String(payment.amount),
      paymentStatus: payment.payment_status,
    }));
    return wirePayment(
      invoicePayment(String(given.amount_due), paidByPayments(records), text(given.refunded_amount) ?? '0'),
    );
  });
  return { steps };
}

function voidInvoice({ invoice }: Given): unknown {
  const plan = planVoid({
    invoiceStatus: invoice.invoice_status,
    paymentStatus: invoice.payment_status,
    amountPaid: String(invoice.amount_paid),
    totalPrepaidCreditsApplied: String(invoice.total_prepaid_credits_applied),
    refundedAmount: String(invoice.refunded_amount),
  });
  return { invoice_status: 'VOIDED', wallet_credit: plan.walletCredit, payment_status: plan.paymentStatus };
}

function customerInvoiceSummary(given: Given): unknown {
  const { defaultCurrency, summaries } = summarizeInvoices({
    now: instant(given.now),
    subscriptionCurrencies: [],
    activeCurrency: given.default_currency ?? null,
    invoices: given.invoices.map((invoice: Given) => ({
      invoiceStatus: invoice.invoice_status,
      paymentStatus: invoice.payment_status,
      currency: invoice.currency,
      amountDue: String(invoice.amount_due),
      amountRemaining: String(invoice.amount_remaining),
      dueDate: invoice.due_date ? instant(invoice.due_date) : null,
      lines: (invoice.lines ?? []).map((line: Given) => ({ priceType: line.price_type, amount: String(line.amount) })),
    })),
  });
  return { default_currency: defaultCurrency, summaries: summaries.map(wireSummary) };
}

function wireSummary(summary: CurrencySummary): Given {
  return {
    currency: summary.currency,
    total_invoice_count: summary.totalInvoiceCount,
    unpaid_invoice_count: summary.unpaidInvoiceCount,
    overdue_invoice_count: summary.overdueInvoiceCount,
    total_revenue_amount: summary.totalRevenueAmount,
    total_unpaid_amount: summary.totalUnpaidAmount,
    total_overdue_amount: summary.totalOverdueAmount,
    unpaid_fixed_charges: summary.unpaidFixedCharges,
    unpaid_usage_charges: summary.unpaidUsageCharges,
  };
}

export const invoiceAdapters: Adapters = {
  invoice_pipeline: invoicePipeline,
  due_date: (given) => ({
    due_date: subscriptionDueDate({
      periodEnd: given.invoice_period_end,
      paymentTerms: given.payment_terms ?? null,
      dueDateDays: invoiceConfig({ due_date_days: given.invoice_config_due_date_days }).dueDateDays,
    }),
  }),
  invoice_numbering: invoiceNumbering,
  auto_finalization: autoFinalization,
  tax_behavior_default: (given) => ({
    tax_behavior: defaultTaxBehavior(given.level, given.currency, given.tax_behavior ?? null),
  }),
  payment_reconciliation: paymentReconciliation,
  manual_payment_update: manualPaymentUpdate,
  invoice_payment_status: invoicePaymentStatus,
  void_invoice: voidInvoice,
  customer_invoice_summary: customerInvoiceSummary,
};
