import { writtenMoney } from '../../../billing/money/written-money.ts';
import type { EInvoiceDocument, EInvoiceParty } from '../../../integrations/e-invoice/document.ts';
import type { InvoicePage } from '../../../integrations/invoice-pdf/render.ts';
import type { ECreditNoteSource, EInvoiceSource } from '../../../services/invoice/document/e-invoice.ts';
import { dateText, invoicePage, pageText } from './invoice-page.ts';
import { printedCreditNote, printedInvoice } from './paper-page.ts';

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
  const asIssued = { ...source, invoice: { ...invoice, row: { ...row, ...issued } } };
  if (source.layout >= 2) return { ...printedInvoice({ ...asIssued, payments: [] }), stamp: null };
  const page = invoicePage(asIssued);
  const { account, exemption, buyerReference, purchaseOrder } = document;
  const notes = [
    exemption && `No tax is charged: ${exemption.reason}.`,
    account && accountText(account),
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

/**
 * The page of a credit note in the look of its invoice, which says to people what its e-invoice says to machines: which invoice
 * it takes from, each line's amount, and the tax in the sum. spec: subscriptions-and-invoicing §2.19; Factur-X 1.0 §4
 */
export function creditNotePage(source: ECreditNoteSource, document: EInvoiceDocument): InvoicePage {
  if (source.layout >= 2) return printedCreditNote(source);
  const { note, lines, invoice } = source;
  const { row, customer } = invoice;
  const timezone = customer?.timezone ?? 'UTC';
  const page = invoicePage(source);
  const money = (amount: string) => writtenMoney(amount, note.currency);
  const { tax, percent } = document.amounts;
  const { exemption, buyerReference, purchaseOrder } = document;
  const taxRow: InvoicePage['totals'][number] = [pageText(`Tax of ${percent} % (included)`), money(tax), false];
  const notes = [
    note.memo || null,
    exemption && `No tax is charged: ${exemption.reason}.`,
    buyerReference && `Your reference: ${buyerReference}`,
    purchaseOrder && `Your order: ${purchaseOrder}`,
  ];
  return {
    ...page,
    title: 'Credit note',
    number: note.creditNoteNumber,
    stamp: null,
    seller: { ...page.seller, lines: [...page.seller.lines, ...numbersOf(document.seller)] },
    customer: {
      ...page.customer,
      label: 'Credited to',
      lines: [...page.customer.lines, ...numbersOf(document.buyer)],
    },
    dates: [
      ['Issue date', dateText(note.finalizedAt ?? note.createdAt, timezone)],
      ['Of invoice', row.invoiceNumber ?? row.id],
      ['Reason', wordsOf(note.reason)],
    ],
    headline: ['Credited', money(note.totalAmount)],
    lines: lines.map(({ displayName, amount }) => ({
      ...{ name: pageText(displayName || 'Item'), note: '', period: '', quantity: '1' },
      amount: money(amount),
    })),
    totals: [...(/[1-9]/.test(tax) ? [taxRow] : []), [pageText('Total credited'), money(note.totalAmount), true]],
    notes: notes.filter((text) => text !== null).map(pageText),
  };
}

/** The account as people copy it: its number in fours. */
function accountText({ iban, bic }: NonNullable<EInvoiceDocument['account']>): string {
  const inFours = iban.replace(/.{4}(?=.)/g, '$& ');
  return `Pay to IBAN ${inFours}${bic === null ? '' : `, BIC ${bic}`}`;
}

/** `SERVICE_ISSUE` in words: `Service issue`. */
function wordsOf(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function numbersOf({ vatId, taxNumber, registrationId }: EInvoiceParty): InvoicePage['seller']['lines'] {
  const numbers: [string, string | null][] = [
    ['VAT', vatId],
    ['Tax number', taxNumber],
    ['Registered', registrationId],
  ];
  return numbers.flatMap(([label, number]) => (number === null ? [] : [pageText(`${label} ${number}`)]));
}
