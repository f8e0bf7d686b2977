import { z } from 'zod';
import { couponText, creditText, taxText } from '../../billing/explanation/invoice-total-explanation.ts';
import type { InvoiceEvidence } from '../../services/invoice/document/invoice-explain.ts';
import { decimalOutput } from '../scalars.schema.ts';
import { storedCoupon, storedCredit, storedTax } from './document/invoice-evidence.ts';

/** What came off an invoice or on top of it, each as data and as a sentence. Parts of an own operation. */
export const explainedDiscount = z
  .object({
    coupon_id: z.string(),
    coupon_name: z.string(),
    coupon_association_id: z.string(),
    line_item_id: z.string().nullable().describe('null for a coupon of the whole invoice.'),
    discount_type: z.string(),
    discount_percentage: decimalOutput().nullable(),
    original_price: decimalOutput().describe('What it was computed on.'),
    discounted_amount: decimalOutput(),
    final_price: decimalOutput().describe('What is left after it and those before it.'),
    sentence: z.string(),
  })
  .meta({ id: 'ExplainedDiscount' });

export const explainedTax = z
  .object({
    tax_rate_id: z.string(),
    name: z.string(),
    percentage: decimalOutput(),
    tax_behavior: z.string(),
    taxable_amount: decimalOutput(),
    tax_amount: decimalOutput(),
    sentence: z.string(),
  })
  .meta({ id: 'ExplainedTax' });

export const explainedCredit = z
  .object({
    wallet_id: z.string(),
    wallet_name: z.string(),
    wallet_transaction_id: z.string(),
    amount: decimalOutput(),
    credit_amount: decimalOutput(),
    lots: z.array(
      z.object({
        wallet_transaction_id: z.string(),
        credits: decimalOutput(),
        is_taxed: z.boolean().describe('True where they were taxed when they were bought.'),
      }),
    ),
    sentence: z.string(),
  })
  .meta({ id: 'ExplainedCredit' });

/** Discounts, taxes and credits in order of application. spec: subscriptions-and-invoicing §2.16 */
export function viewDeductions({ row, coupons, taxes, credits }: InvoiceEvidence) {
  return {
    discounts: coupons.map((coupon): z.output<typeof explainedDiscount> => {
      const stored = storedCoupon(coupon);
      return {
        coupon_id: coupon.couponId,
        coupon_name: stored.name,
        coupon_association_id: coupon.couponAssociationId,
        line_item_id: coupon.invoiceLineItemId ?? null,
        discount_type: coupon.discountType,
        discount_percentage: coupon.discountPercentage ?? null,
        original_price: coupon.originalPrice,
        discounted_amount: coupon.discountedAmount,
        final_price: coupon.finalPrice,
        sentence: `${couponText(stored, row.currency)}.`,
      };
    }),
    taxes: taxes.map((tax): z.output<typeof explainedTax> => {
      const stored = storedTax(tax);
      return {
        tax_rate_id: tax.taxRateId,
        name: stored.name,
        percentage: stored.percentage,
        tax_behavior: stored.taxBehavior,
        taxable_amount: stored.taxableAmount,
        tax_amount: stored.taxAmount,
        sentence: `${taxText(stored, row.currency)}.`,
      };
    }),
    credits: credits.map((credit): z.output<typeof explainedCredit> => {
      const { debit, walletName, taxedLots } = credit;
      const lots = debit.consumedLots ?? [];
      return {
        wallet_id: debit.walletId,
        wallet_name: walletName,
        wallet_transaction_id: debit.id,
        amount: debit.amount,
        credit_amount: debit.creditAmount,
        lots: lots.map(({ id, credits }) => ({ wallet_transaction_id: id, credits, is_taxed: taxedLots.has(id) })),
        sentence: `${creditText(storedCredit(credit), row.currency)}.`,
      };
    }),
  };
}
