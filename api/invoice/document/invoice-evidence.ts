import type { StoredDates, StoredLine } from '../../../billing/explanation/invoice-explanation.ts';
import type {
  StoredCoupon,
  StoredCredit,
  StoredInvoice,
  StoredTax,
} from '../../../billing/explanation/invoice-total-explanation.ts';
import type { Derivation } from '../../../billing/price/derivation.ts';
import type { CouponApplication } from '../../../db/entities/invoice/coupon-application.ts';
import type { TaxApplied } from '../../../db/entities/invoice/tax-applied.ts';
import type {
  CreditEvidence,
  InvoiceEvidence,
  LineEvidence,
} from '../../../services/invoice/document/invoice-explain.ts';

/** The evidence of an invoice in the words of `billing/explanation/invoice-explanation.ts`, which the answer and the page share. */
export function storedInvoice({ row, lines, taxes }: InvoiceEvidence): StoredInvoice {
  const { currency, subtotal, totalDiscount, totalPrepaidCreditsApplied, taxedCreditsApplied, totalTax, total } = row;
  const { adjustmentAmount, amountDue, amountPaid, amountRemaining, overpaidAmount, refundedAmount } = row;
  return {
    ...{ currency, subtotal, totalDiscount, totalPrepaidCreditsApplied, taxedCreditsApplied, totalTax, total },
    ...{ adjustmentAmount, amountDue, amountPaid, amountRemaining, overpaidAmount, refundedAmount },
    noTaxReason: (row.noTaxReason ?? null) as StoredInvoice['noTaxReason'],
    taxes: taxes.map(storedTax),
    lineCount: lines.length,
  };
}

export function storedDates({ row, isNumberGiven }: InvoiceEvidence): StoredDates {
  return {
    invoiceNumber: row.invoiceNumber ?? null,
    isNumberGiven,
    invoiceStatus: row.invoiceStatus,
    periodStart: row.periodStart ?? null,
    periodEnd: row.periodEnd ?? null,
    lastComputedAt: row.lastComputedAt ?? null,
    issueDate: row.issueDate ?? null,
    finalizedAt: row.finalizedAt ?? null,
    dueDate: row.dueDate ?? null,
    paidAt: row.paidAt ?? null,
    voidedAt: row.voidedAt ?? null,
  };
}

export function storedLine({ row, meterName, lateUsage }: LineEvidence, { coupons }: InvoiceEvidence): StoredLine {
  const own = coupons.filter((coupon) => coupon.invoiceLineItemId === row.id);
  return {
    currency: row.currency,
    amount: row.amount,
    lineItemDiscount: row.lineItemDiscount,
    invoiceLevelDiscount: row.invoiceLevelDiscount,
    prepaidCreditsApplied: row.prepaidCreditsApplied,
    coupons: own.map(storedCoupon),
    derivation: (row.derivation ?? null) as Derivation | null,
    isCarriedCredit: row.isCarriedCredit,
    meterName,
    lateUsage,
  };
}

export function storedTax(tax: TaxApplied): StoredTax {
  return {
    name: String(tax.taxRate.name),
    percentage: String(tax.taxRate.percentageValue),
    taxBehavior: tax.taxBehavior as StoredTax['taxBehavior'],
    taxableAmount: tax.taxableAmount,
    taxAmount: tax.taxAmount,
  };
}

/** The coupon as it was called then. */
export function storedCoupon(coupon: CouponApplication): StoredCoupon {
  const { name } = coupon.couponSnapshot as { name?: string | null };
  return {
    name: name || coupon.couponId,
    percentage: coupon.discountType === 'percentage' ? (coupon.discountPercentage ?? null) : null,
    originalPrice: coupon.originalPrice,
    discountedAmount: coupon.discountedAmount,
  };
}

export function storedCredit({ debit, walletName }: CreditEvidence): StoredCredit {
  return { walletName, amount: debit.amount, credits: debit.creditAmount };
}
