import type { PayingLots } from './taxed-credit.ts';

/** Inputs and results of the amount pipeline, decimals as strings. spec: subscriptions-and-invoicing §2.16 */
export interface InvoiceInputLine {
  /** Any id unique within the invoice. */
  id: string;
  /** Exact or rounded; rounded here once. */
  amount: string;
  priceType: 'FIXED' | 'USAGE';
  /**
   * Of the line of a credit that earlier changes left: how much of it there is. Its amount is then computed, from what the other
   * lines come to, and `amount` is not read. spec: README decision 50
   */
  creditLeft?: string;
  /** Part of `importedCredits` that pays this line, where an imported invoice says so. */
  importedCredit?: string;
}

/** A coupon in order of application. `lineId` null is an invoice coupon, for the lines of `lineIds` where those are given. */
export interface InvoiceCoupon {
  id: string;
  lineId: string | null;
  lineIds?: readonly string[];
  type: 'fixed' | 'percentage';
  amountOff?: string | null;
  percentageOff?: string | null;
}

/** A wallet in order of use; `allowance` is what it can give in the invoice's currency (wallets §2.12). */
export interface InvoiceWallet {
  id: string;
  allowance: string;
  /** Lots it pays with, where some were taxed when they were bought; absent where none was. */
  lots?: PayingLots;
}

/** A tax rate in order of priority. */
export interface InvoiceTaxRate {
  id: string;
  percentage: string;
  taxBehavior: 'inclusive' | 'exclusive';
}

export interface InvoiceInput {
  currency: string;
  lines: InvoiceInputLine[];
  coupons: InvoiceCoupon[];
  wallets: InvoiceWallet[];
  taxes: InvoiceTaxRate[];
  taxExempt: boolean;
  /** A preview takes no credits. */
  preview?: boolean;
  adjustmentAmount?: string;
  amountPaid?: string;
  /**
   * Credits of an imported invoice, taken elsewhere: they pay lines of either type, and no wallet; those that say their part that
   * part, else each in its order what it holds.
   */
  importedCredits?: string;
}

export interface CouponApplicationAmounts {
  couponId: string;
  lineId: string | null;
  originalPrice: string;
  discountedAmount: string;
  finalPrice: string;
}

export interface TaxAmounts {
  taxRateId: string;
  taxBehavior: 'inclusive' | 'exclusive';
  taxableAmount: string;
  taxAmount: string;
}
