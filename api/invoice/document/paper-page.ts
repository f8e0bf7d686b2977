import { creditedTax } from '../../../billing/invoice/e-invoice.ts';
import type { TaxRateSnapshot } from '../../../billing/invoice/own-terms.ts';
import { decimal, decimalString, sum } from '../../../billing/money/money.ts';
import type { Derivation } from '../../../billing/price/derivation.ts';
import type { InvoicePage, PageText } from '../../../integrations/invoice-pdf/render.ts';
import type { ECreditNoteSource } from '../../../services/invoice/document/e-invoice.ts';
import type { PaperInvoice, PaperSource, PrintedInvoice } from '../../../services/invoice/document/invoice-page.ts';
import { untaxedOf } from './e-invoice-document.ts';
import { invoicePage, pageDiscounts, pageText, untaxedCredits } from './invoice-page.ts';
import { type PaperWords, paperWords } from './paper-words.ts';

/*
 * Pages of printed documents. A document is laid out as the layout that was recorded when it was issued says: 1 before there were
 * languages and unit prices, which `invoicePage` makes; 2 as here. So an issued document looks the same for ever. docs: invoice-documents.md
 */

type Total = InvoicePage['totals'][number];

/** The page of an invoice as a usable VAT invoice in the customer's language. spec: subscriptions-and-invoicing §1.11 */
export function printedInvoice(source: PrintedInvoice): InvoicePage {
  if (source.layout < 2) return invoicePage(source);
  const { invoice, terms } = source;
  const { row, customer } = invoice;
  const words = paperWords(customer?.metadata.language);
  const old = invoicePage(source, words.language);
  const timezone = customer?.timezone ?? 'UTC';
  const money = (amount: string) => words.money(amount, row.currency);
  const stamp = old.stamp === null ? null : (words.stamps[old.stamp] ?? old.stamp);
  const isOwed = row.invoiceStatus === 'FINALIZED' && decimal(row.amountRemaining).gt(0);
  return {
    ...old,
    ...languageOf(words),
    title: words.invoice,
    number: row.invoiceNumber ?? words.draft,
    stamp,
    ...partiesOf(source, old, words, words.billedTo),
    dates: datesOf(invoice, words, timezone),
    headline: headlineOf(row, words, timezone),
    lines: invoice.lines.map((line) => {
      const { price, note } = priceOf(line, source.derivations.get(line.id) ?? null, words, row.currency);
      const plan = line.planDisplayName && line.planDisplayName !== line.displayName ? line.planDisplayName : '';
      return {
        name: pageText(line.displayName || words.item),
        note: [plan, note].filter((text) => text !== '').join(' · '),
        period: words.days(line.periodStart, line.periodEnd, timezone),
        quantity: words.quantity(line.quantity),
        price,
        amount: money(line.amount),
      };
    }),
    totals: totalsOf(source, words, timezone),
    notes: [
      ...(row.description ? [pageText(row.description)] : []),
      ...untaxedNotes(invoice, terms, words),
      ...(isOwed && terms.iban
        ? [fixedText(`${accountText(terms, words)} · ${words.invoice} ${row.invoiceNumber ?? row.id}`)]
        : []),
    ],
  };
}

/** The page of an issued credit note; the tax in its gross amount is at the rates of its invoice. spec: §2.19 */
export function printedCreditNote(source: ECreditNoteSource): InvoicePage {
  const { note, lines, invoice, terms } = source;
  const { row, customer } = invoice;
  const words = paperWords(customer?.metadata.language);
  const timezone = customer?.timezone ?? 'UTC';
  const money = (amount: string) => words.money(amount, note.currency);
  const old = invoicePage(source, words.language);
  const rates = invoice.taxes.map(({ taxRate, taxAmount, taxBehavior }) => ({
    percentage: (taxRate as unknown as TaxRateSnapshot).percentageValue,
    taxAmount,
    taxBehavior,
  }));
  const taxes = creditedTax(note.totalAmount, rates, note.currency).filter(({ taxAmount }) => /[1-9]/.test(taxAmount));
  return {
    ...old,
    ...languageOf(words),
    title: words.creditNote,
    number: note.creditNoteNumber,
    stamp: null,
    ...partiesOf(source, old, words, words.creditedTo),
    dates: given([
      [words.issueDate, words.day(note.finalizedAt ?? note.createdAt, timezone)],
      [words.ofInvoice, row.invoiceNumber ?? row.id, true],
      [words.reason, words.reasons[note.reason]],
      [words.purchaseOrder, row.metadata.purchase_order, true],
      [words.yourReference, referenceOf(invoice), true],
    ]),
    headline: [words.credited, money(note.totalAmount)],
    lines: lines.map(({ displayName, amount }) => ({
      ...{ name: pageText(displayName || words.item), note: '', period: '', quantity: '1', price: '' },
      amount: money(amount),
    })),
    totals: [
      ...taxes.map(
        ({ percentage, taxAmount }): Total => [
          fixedText(`${words.tax} ${words.quantity(percentage)} % (${words.included})`),
          money(taxAmount),
          false,
        ],
      ),
      [fixedText(words.totalCredited), money(note.totalAmount), true],
    ],
    notes: [...(note.memo ? [pageText(note.memo)] : []), ...untaxedNotes(invoice, terms, words)],
  };
}

/** A text of ours, which stays when letters of others are not shown. */
const fixedText = (text: string): PageText => ({ ...pageText(text), isFixed: true });

/**
 * Why there is no tax, where the seller gave a reason, sells under a category that names one, or the customer is exempt. "Not subject to
 * VAT" is the category of sellers who said nothing, and stands on no page by itself.
 */
function untaxedNotes(invoice: PaperInvoice, terms: PaperSource['terms'], words: PaperWords): PageText[] {
  if (invoice.taxes.length > 0) return [];
  const { category, reason } = untaxedOf(invoice, terms);
  if (reason !== '') return [pageText(reason)];
  if (category === 'S' || category === 'Z' || (category === 'O' && terms.vat_id === '')) return [];
  return [fixedText(words.untaxed[category])];
}

function languageOf(words: PaperWords): Pick<InvoicePage, 'language' | 'heads'> {
  return { language: words.language, heads: words.heads };
}

/** The two parties with their numbers. */
function partiesOf(
  { invoice, terms }: Pick<PaperSource, 'invoice' | 'terms'>,
  old: InvoicePage,
  words: PaperWords,
  label: string,
): Pick<InvoicePage, 'seller' | 'customer'> {
  const { vat_id, tax_number, registration_id } = invoice.customer?.metadata ?? {};
  const numbers = (vatId?: string, taxNumber?: string, registration?: string): PageText[] =>
    given([
      [words.vatId, vatId],
      [words.taxNumber, taxNumber],
      [words.registered, registration],
    ]).map(([name, number]) => pageText(`${name} ${number}`));
  return {
    seller: {
      ...old.seller,
      lines: [...old.seller.lines, ...numbers(terms.vat_id, terms.tax_number, terms.registration_id)],
    },
    customer: {
      ...old.customer,
      label,
      lines: [...old.customer.lines, ...numbers(vat_id, tax_number, registration_id)],
    },
  };
}

/** Rows that have a value. */
function given(rows: [string, string | null | undefined, boolean?][]): InvoicePage['dates'] {
  return rows.flatMap(([label, text, isGiven]) => (text ? [[label, text, isGiven ?? false]] : []));
}

const referenceOf = ({ row, customer }: PaperInvoice) =>
  row.metadata.buyer_reference || customer?.metadata.buyer_reference;

/** An invoice that is paid says when, and no longer until when it had to be. */
function datesOf(invoice: PaperInvoice, words: PaperWords, timezone: string): InvoicePage['dates'] {
  const { row } = invoice;
  const day = (instant: string | null | undefined) => (instant ? words.day(instant, timezone) : null);
  const isSettled = row.amountRemaining === '0' || row.invoiceStatus === 'VOIDED';
  return given([
    [words.issueDate, day(row.issueDate)],
    [words.dueDate, isSettled ? null : day(row.dueDate)],
    [words.paidOn, isSettled && decimal(row.amountPaid).gt(0) ? day(row.paidAt) : null],
    [words.period, words.days(row.periodStart, row.periodEnd, timezone)],
    [words.purchaseOrder, row.metadata.purchase_order, true],
    [words.yourReference, referenceOf(invoice), true],
  ]);
}

function headlineOf(row: PaperInvoice['row'], words: PaperWords, timezone: string): [string, string] {
  const money = (amount: string) => words.money(amount, row.currency);
  if (row.invoiceStatus === 'VOIDED') return [words.voided, money('0')];
  if (row.amountRemaining === '0') {
    return [row.amountDue === '0' ? words.nothingDue : words.paidInFull, money(row.total)];
  }
  const label = row.dueDate ? `${words.amountDueBy} ${words.day(row.dueDate, timezone)}` : words.amountDue;
  return [label, money(row.amountRemaining)];
}

/** Unit price of a line, or in its note what each part of a tiered quantity costs. */
function priceOf(
  { quantity, amount }: { quantity: string; amount: string },
  derivation: Derivation | null,
  words: PaperWords,
  currency: string,
): { price: string; note: string } {
  const [part, ...more] = derivation?.parts ?? [];
  if (!derivation || !part) return { price: wholePrice(quantity, amount, words, currency), note: '' };
  const isPlain = more.length === 0 && !part.buckets && !part.bucketCount && !derivation.price.price_unit;
  if (!isPlain || derivation.price.billing_model === 'PERCENTAGE') return { price: '', note: '' };
  const [step, ...others] = part.steps;
  if (step && others.length === 0 && step.tier === null && derivation.price.billing_model === 'FLAT_FEE') {
    return { price: words.money(step.unit_amount, currency), note: '' };
  }
  const terms = part.steps.slice(0, 6).map(({ quantity: units, unit_amount, flat_amount }) => {
    const flat = /[1-9]/.test(flat_amount) ? ` + ${words.money(flat_amount, currency)}` : '';
    return `${words.quantity(units)} × ${words.money(unit_amount, currency)}${flat}`;
  });
  return { price: '', note: [...terms, ...(part.steps.length > 6 ? ['…'] : [])].join(' + ') };
}

/** Unit price of a line that was written by hand: its amount by its quantity, empty where that division has no end. */
function wholePrice(quantity: string, amount: string, words: PaperWords, currency: string): string {
  if (!/[1-9]/.test(quantity)) return '';
  const price = decimal(amount).div(decimal(quantity));
  if (price.decimalPlaces() > 6) return '';
  return words.money(decimalString(price), currency);
}

function totalsOf(source: PrintedInvoice, words: PaperWords, timezone: string): Total[] {
  const { row, taxes } = source.invoice;
  const money = (amount: string) => words.money(amount, row.currency);
  const unlessZero = (label: string, amount: string, sign = ''): Total[] =>
    amount === '0' ? [] : [[fixedText(label), money(`${sign}${amount}`), false]];
  return [
    [fixedText(words.subtotal), money(row.subtotal), false],
    ...pageDiscounts(source.invoice, words.discount).map(
      ({ label, amount }): Total => [pageText(label), money(`-${amount}`), false],
    ),
    ...unlessZero(words.taxedCredits, row.taxedCreditsApplied, '-'),
    ...unlessZero(words.prepaidCredits, untaxedCredits(row), '-'),
    ...taxes.map((tax): Total => {
      const { name, percentageValue } = tax.taxRate as unknown as TaxRateSnapshot;
      const included = tax.taxBehavior === 'inclusive' ? ` (${words.included})` : '';
      const rate = words.apart(`${words.quantity(percentageValue)} %`);
      const label = `${words.apart(name)} ${rate} ${words.of} ${words.apart(money(tax.taxableAmount))}${included}`;
      return [pageText(label), money(tax.taxAmount), false];
    }),
    [fixedText(words.total), money(row.total), true],
    ...unlessZero(words.creditNotes, row.adjustmentAmount, '-'),
    ...paymentsOf(source, words, timezone),
    ...unlessZero(words.givenBack, row.refundedAmount),
    [fixedText(words.amountDue), money(row.invoiceStatus === 'VOIDED' ? '0' : row.amountRemaining), true],
  ];
}

/** Each payment with its day and means; one row where they are not all of what was paid. */
function paymentsOf({ invoice: { row }, payments }: PrintedInvoice, words: PaperWords, timezone: string): Total[] {
  if (row.amountPaid === '0') return [];
  const told = payments.length <= 8 && sum(payments.map(({ amount }) => decimal(amount))).equals(row.amountPaid);
  const negative = (amount: string) => words.money(`-${amount}`, row.currency);
  if (!told) return [[fixedText(words.paid), negative(row.amountPaid), false]];
  return payments.map(({ amount, paidAt, type, lastFour }): Total => {
    const means = [words.means[type] ?? null, lastFour && `•••• ${lastFour}`].filter(Boolean).join(' ');
    const label = [`${words.paidOn} ${words.day(paidAt, timezone)}`, means].filter(Boolean).join(' · ');
    return [fixedText(label), negative(amount), false];
  });
}

/** The account as people copy it: its number in fours. */
function accountText({ iban, bic }: PaperSource['terms'], words: PaperWords): string {
  return `${words.payTo} IBAN ${iban.replace(/.{4}(?=.)/g, '$& ')}${bic ? `, BIC ${bic}` : ''}`;
}
