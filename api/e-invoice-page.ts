import type { EInvoiceSource } from '../db/stores/e-invoice.ts';
import type { EInvoiceDocument, EInvoiceParty } from '../integrations/e-invoice/document.ts';
import type { InvoicePage } from '../integrations/invoice-pdf/render.ts';
import { invoicePage, pageText } from './invoice-page.ts';

/**
 * The page of an invoice as it was issued, which says to people what its e-invoice says to machines: nothing of payments and
 * credit notes, and the numbers of both parties, the account and why there is no tax. EN 16931-1; Factur-X 1.0 §4
 */
export function issuedPage(source: EInvoiceSource, document: EInvoiceDocument): InvoicePage {
  const { invoice } = source;
  const { row } = invoice;
  const issued = {
    paymentStatus: 'PENDING',
    adjustmentAmount: '0',
    amountDue: row.total,
    amountPaid: '0',
    amountRemaining: row.total,
    refundedAmount: '0',
  };
  const page = invoicePage({ ...source, invoice: { ...invoice, row: { ...row, ...issued } } });
  const { account, exemption, buyerReference, purchaseOrder } = document;
  const notes = [
    exemption && `No tax is charged: ${exemption.reason}.`,
    account && ['Account', account.iban, account.bic].filter(Boolean).join(' '),
    buyerReference && `Your reference: ${buyerReference}`,
    purchaseOrder && `Your order: ${purchaseOrder}`,
  ];
  return {
    ...page,
    stamp: null,
    seller: { ...page.seller, lines: [...page.seller.lines, ...numbersOf(document.seller)] },
    customer: { ...page.customer, lines: [...page.customer.lines, ...numbersOf(document.buyer)] },
    notes: [
      ...(row.description ? [pageText(row.description)] : []),
      ...notes.filter((note) => note !== null).map(pageText),
    ],
  };
}

function numbersOf({ vatId, taxNumber, registrationId }: EInvoiceParty): InvoicePage['seller']['lines'] {
  const numbers: [string, string | null][] = [
    ['VAT', vatId],
    ['Tax number', taxNumber],
    ['Registered', registrationId],
  ];
  return numbers.flatMap(([label, number]) => (number === null ? [] : [pageText(`${label} ${number}`)]));
}
