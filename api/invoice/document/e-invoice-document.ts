import {
  creditedTax,
  type EInvoiceInput,
  eInvoiceAmounts,
  type VatCategory,
} from '../../../billing/invoice/e-invoice.ts';
import type { TaxRateSnapshot } from '../../../billing/invoice/own-terms.ts';
import { writtenMoney } from '../../../billing/money/written-money.ts';
import { refuse } from '../../../billing/refusal.ts';
import {
  type EInvoiceDocument,
  type EInvoicePeriod,
  type EInvoiceProfile,
  paymentCode,
} from '../../../integrations/e-invoice/document.ts';
import type { ECreditNoteSource, EInvoiceSource } from '../../../services/invoice/document/e-invoice.ts';
import type { PaperInvoice } from '../../../services/invoice/document/invoice-page.ts';
import { eInvoiceParties } from './e-invoice-party.ts';
import { asXRechnung, xRechnungGaps } from './x-rechnung.ts';

type Terms = EInvoiceSource['terms'];

/**
 * An issued invoice in the terms of EN 16931, as it was issued: what is paid or credited afterwards does not change it. Days
 * are the customer's. Throws `validation_error` where the standard demands what is not known. spec: §1.11; EN 16931-1
 */
export function eInvoiceOf(source: EInvoiceSource, profile: EInvoiceProfile): EInvoiceDocument {
  const { invoice, terms } = source;
  const { row, lines, customer } = invoice;
  const timezone = customer?.timezone ?? 'UTC';
  if (lines.length === 0) {
    throw refuse('validation_error', `invoice ${row.id} has no line, and an e-invoice needs one; send the PDF instead`);
  }
  const amounts = eInvoiceAmounts({
    currency: row.currency,
    lines: lines.map(({ quantity, amount, lineItemDiscount }) => ({ quantity, amount, discount: lineItemDiscount })),
    totalDiscount: row.totalDiscount,
    rates: ratesOf(invoice),
    untaxed: untaxedOf(invoice, terms).category,
    credits: row.totalPrepaidCreditsApplied,
    taxedCredits: row.taxedCreditsApplied,
    total: row.total,
  });
  const head = { kind: 'invoice', ...referenceOf(invoice), account: accountOf(terms) } as const;
  return inProfile(profile, {
    ...head,
    profile: 'en16931',
    number: row.invoiceNumber ?? row.id,
    issued: dayOf(row.issueDate ?? row.finalizedAt ?? row.createdAt, timezone),
    due: row.dueDate ? dayOf(row.dueDate, timezone) : null,
    terms: row.dueDate ? null : 'Due on receipt',
    currency: currencyOf(row.currency),
    notes: notesOf(invoice),
    purchaseOrder: row.metadata.purchase_order || null,
    preceding: null,
    period: periodOf(row.periodStart, row.periodEnd, timezone),
    ...partiesOf(source, amounts.category, profile, head),
    paymentCode: head.account && paymentCode.transfer,
    lines: lines.map((line) => ({
      name: line.displayName || 'Item',
      description: line.planDisplayName && line.planDisplayName !== line.displayName ? line.planDisplayName : null,
      period: periodOf(line.periodStart, line.periodEnd, timezone),
    })),
    amounts,
    vatRate: amounts.percent,
    exemption: exemptionOf(invoice, terms, amounts.category),
  });
}

/**
 * A credit note in the terms of EN 16931. Its amount is gross; the tax in it is at the rates its invoice was charged with.
 * Throws `validation_error` where the standard demands what is not known. spec: §2.19; EN 16931-1
 */
export function eCreditNoteOf(source: ECreditNoteSource, profile: EInvoiceProfile): EInvoiceDocument {
  const { note, lines, invoice, terms } = source;
  const { row, customer } = invoice;
  const timezone = customer?.timezone ?? 'UTC';
  const amounts = eInvoiceAmounts({
    currency: note.currency,
    lines: lines.map(({ amount }) => ({ quantity: '1', amount, discount: '0' })),
    totalDiscount: '0',
    rates: creditedTax(note.totalAmount, ratesOf(invoice), note.currency),
    untaxed: untaxedOf(invoice, terms).category,
    credits: '0',
    total: note.totalAmount,
  });
  const head = { kind: 'credit_note', ...referenceOf(invoice), account: null } as const;
  return inProfile(profile, {
    ...head,
    profile: 'en16931',
    number: note.creditNoteNumber,
    issued: dayOf(note.finalizedAt ?? note.createdAt, timezone),
    due: null,
    terms: 'Taken off the invoice, or given back',
    currency: currencyOf(note.currency),
    notes: note.memo ? [note.memo] : [],
    purchaseOrder: row.metadata.purchase_order || null,
    preceding: {
      number: row.invoiceNumber ?? row.id,
      issued: row.issueDate ? dayOf(row.issueDate, timezone) : null,
    },
    period: periodOf(row.periodStart, row.periodEnd, timezone),
    ...partiesOf(source, amounts.category, profile, head),
    paymentCode: null,
    lines: lines.map((line) => ({ name: line.displayName || 'Item', description: null, period: null })),
    amounts,
    vatRate: amounts.percent,
    exemption: exemptionOf(invoice, terms, amounts.category),
  });
}

function inProfile(profile: EInvoiceProfile, document: EInvoiceDocument): EInvoiceDocument {
  return profile === 'xrechnung' ? asXRechnung(document) : document;
}

function referenceOf({ row, customer }: PaperInvoice): Pick<EInvoiceDocument, 'buyerReference'> {
  return { buyerReference: row.metadata.buyer_reference || customer?.metadata.buyer_reference || null };
}

function partiesOf(
  { seller, terms, invoice }: Pick<EInvoiceSource, 'seller' | 'terms' | 'invoice'>,
  category: VatCategory,
  profile: EInvoiceProfile,
  head: Parameters<typeof xRechnungGaps>[0],
): Pick<EInvoiceDocument, 'seller' | 'buyer'> {
  return eInvoiceParties({ seller, terms, customer: invoice.customer }, category, (...parties) =>
    profile === 'xrechnung' ? xRechnungGaps(head, ...parties) : {},
  );
}

function ratesOf({ taxes }: PaperInvoice): EInvoiceInput['rates'] {
  return taxes.map(({ taxRate, taxAmount, taxBehavior }) => ({
    percentage: (taxRate as unknown as TaxRateSnapshot).percentageValue,
    taxAmount,
    taxBehavior,
  }));
}

/** Codes and words of the categories without tax, for a seller who gives no reason of its own. */
const exemptions: Partial<Record<VatCategory, { code: string | null; reason: string }>> = {
  AE: { code: 'VATEX-EU-AE', reason: 'Reverse charge' },
  K: { code: 'VATEX-EU-IC', reason: 'Intra-Community supply' },
  G: { code: 'VATEX-EU-G', reason: 'Export outside the EU' },
  O: { code: 'VATEX-EU-O', reason: 'Not subject to VAT' },
  E: { code: null, reason: 'Exempt from VAT' },
};

/** Category of what bears no tax, and the seller's own reason for it, empty where there is none. */
export function untaxedOf({ row }: PaperInvoice, terms: Terms): { category: VatCategory; reason: string } {
  const isExempt = row.noTaxReason === 'customer_exempt';
  return {
    category: (isExempt ? terms.exempt_category : terms.untaxed_category) as VatCategory,
    reason: isExempt ? terms.exempt_reason : terms.untaxed_reason,
  };
}

function exemptionOf(invoice: PaperInvoice, terms: Terms, category: VatCategory): EInvoiceDocument['exemption'] {
  const usual = exemptions[category];
  return usual ? { code: usual.code, reason: untaxedOf(invoice, terms).reason || usual.reason } : null;
}

/** The description, and each rate where several are charged, since the document shows them as one. */
function notesOf({ row, taxes }: PaperInvoice): string[] {
  const rates = taxes.map((tax) => {
    const { name, percentageValue } = tax.taxRate as unknown as TaxRateSnapshot;
    const [base, amount] = [tax.taxableAmount, tax.taxAmount].map((value) => writtenMoney(value, row.currency));
    return `${name} ${percentageValue} % of ${base}: ${amount}`;
  });
  return [row.description, ...(rates.length > 1 ? rates : [])].filter(Boolean);
}

function accountOf(terms: Terms): EInvoiceDocument['account'] {
  return terms.iban === '' ? null : { iban: terms.iban, bic: terms.bic || null };
}

const currencies = new Set(Intl.supportedValuesOf('currency'));

function currencyOf(currency: string): string {
  const code = currency.toUpperCase();
  if (currencies.has(code)) return code;
  throw refuse('validation_error', `an e-invoice is in a currency of ISO 4217, and ${currency} is none; send the PDF`, {
    fields: { currency: 'not in ISO 4217' },
  });
}

function dayOf(instant: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return format.format(new Date(instant));
}

/** First and last day; the end of a period does not belong to it. */
function periodOf(
  start: string | null | undefined,
  end: string | null | undefined,
  timezone: string,
): EInvoicePeriod | null {
  if (!start || !end) return null;
  const last = new Date(Math.max(Date.parse(end) - 1, Date.parse(start))).toISOString();
  return { first: dayOf(start, timezone), last: dayOf(last, timezone) };
}
