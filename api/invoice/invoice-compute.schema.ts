import { z } from 'zod';
import type { GivenToCompute } from '../../billing/invoice/invoice-command.ts';
import { decimalInput, timestampInput } from '../scalars.schema.ts';
import { lineItemsInput, newInvoiceLines } from './invoice-line-input.schema.ts';
import { couponsOf, invoiceTermsInput, taxesOf } from './invoice-terms-input.schema.ts';

const { invoice_coupons, line_item_coupons, prepared_tax_rates } = invoiceTermsInput;

/** Body of the computation of a draft; an empty one computes it from its own content. */
export const computeInvoiceBody = z
  .object({
    line_items: lineItemsInput
      .nullish()
      .describe('Lines in place of those of the draft, which must not be an invoice of the type SUBSCRIPTION.'),
    subtotal: decimalInput().nullish().describe('Expected sum of the lines; refused when it is another.'),
    total: decimalInput().nullish().describe('Expected total; refused when the draft comes to another.'),
    amount_due: decimalInput().nullish().describe('Expected amount due; refused when the draft comes to another.'),
    description: z.string().max(10_000).nullish().describe('In place of the description of the draft.'),
    due_date: timestampInput().nullish().describe('In place of the due date of the draft; not before its issue date.'),
    invoice_coupons: invoice_coupons.describe('Coupons in place of those the draft has on the whole invoice.'),
    line_item_coupons: line_item_coupons.describe('Coupons in place of those the draft has on single lines.'),
    prepared_tax_rates: prepared_tax_rates.describe('Tax rates in place of those the draft has.'),
  })
  .meta({
    examples: [
      {
        line_items: [{ display_name: 'Onboarding', quantity: '3', amount: '180' }],
        subtotal: '180',
        due_date: '2027-01-31T00:00:00Z',
      },
    ],
  })
  .nullish();

/**
 * Content that a body gives to the computation of a draft, null where it gives nothing: lists without members and empty texts leave what
 * the draft has, because generated clients send such. spec: README decision 46
 */
export function givenToCompute(body: z.output<typeof computeInvoiceBody>): GivenToCompute | null {
  if (!body) return null;
  const given: GivenToCompute = {
    lines: unlessEmpty(newInvoiceLines(body.line_items ?? [])),
    invoiceCoupons: unlessEmpty(couponsOf({ invoice_coupons: body.invoice_coupons })),
    lineCoupons: unlessEmpty(couponsOf({ line_item_coupons: body.line_item_coupons })),
    taxes: unlessEmpty(taxesOf({ prepared_tax_rates: body.prepared_tax_rates })),
    description: body.description || null,
    dueDate: body.due_date ?? null,
    subtotal: body.subtotal ?? null,
    total: body.total ?? null,
    amountDue: body.amount_due ?? null,
  };
  return Object.values(given).some((value) => value !== null) ? given : null;
}

function unlessEmpty<Member>(list: Member[]): Member[] | null {
  return list.length === 0 ? null : list;
}
