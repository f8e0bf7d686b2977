/** Inputs and results of the amount pipeline, decimals as strings. spec: subscriptions-and-invoicing §2.16 */
export interface InvoiceInputLine {
  /** Any id unique within the invoice. */
  id: string;
  /** Exact or rounded; rounded here once. */
  amount: string;
  priceType: 'FIXED' | 'USAGE';
}

/** A coupon in order of application. `lineId` null is an invoice coupon. */
export interface InvoiceCoupon {
  id: string;
  lineId: string | null;
  type: 'fixed' | 'percentage';
  amountOff?: string | null;
  percentageOff?: string | null;
}

/** A wallet in order of use; `allowance` is what it can give in the invoice's currency (wallets §2.12). */
export interface InvoiceWallet {
  id: string;
  allowance: string;
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
  adjustmentAmount?: string;
  amountPaid?: string;
}

export interface InvoiceLineAmounts {
  id: string;
  amount: string;
  lineItemDiscount: string;
  invoiceLevelDiscount: string;
  prepaidCreditsApplied: string;
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

export interface InvoiceAmounts {
  lines: InvoiceLineAmounts[];
  subtotal: string;
  totalDiscount: string;
  totalPrepaidCreditsApplied: string;
  taxableAmount: string;
  inclusiveTax: string;
  exclusiveTax: string;
  totalTax: string;
  total: string;
  amountDue: string;
  amountRemaining: string;
  couponApplications: CouponApplicationAmounts[];
  walletUses: { walletId: string; amount: string }[];
  taxes: TaxAmounts[];
  noTaxReason: 'customer_exempt' | 'no_tax_rates' | 'zero_taxable_amount' | null;
}

/** The whole pipeline of §2.16; all amounts at the currency's precision. */
export declare function computeInvoice(input: InvoiceInput): InvoiceAmounts;
