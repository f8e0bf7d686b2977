import type { TaxRateSnapshot } from '../../../billing/invoice/own-terms.ts';
import { decimal, decimalString, sum } from '../../../billing/money/money.ts';
import { groupedDigits, writtenMoney } from '../../../billing/money/written-money.ts';
import type { InvoicePage, PageText } from '../../../integrations/invoice-pdf/render.ts';
import type { InvoicePageSource, PaperInvoice } from '../../../services/invoice/document/invoice-page.ts';
import { countryName } from './country.ts';
import { storedCoupon } from './invoice-evidence.ts';

type Row = PaperInvoice['row'];

/** The page of an invoice: finished texts in the customer's time zone, countries by their names in `locale`. spec: subscriptions-and-invoicing §1.11; platform §8 */
export function invoicePage({ invoice, seller, config }: InvoicePageSource, locale = 'en'): InvoicePage {
  const { row, customer } = invoice;
  const timezone = customer?.timezone ?? 'UTC';
  const money = (amount: string) => writtenMoney(amount, row.currency);
  const number = row.invoiceNumber ?? 'Draft';
  return {
    title: 'Invoice',
    number,
    accent: config.accent_color,
    paper: config.paper === 'us-letter' ? 'us-letter' : 'a4',
    logo: logoOf(config.logo),
    stamp: stampOf(row),
    footer: config.footer || (seller?.name ?? ''),
    seller: { name: seller?.name ?? '', title: pageText(seller?.name ?? ''), lines: sellerLines(seller, locale) },
    customer: {
      label: 'Billed to',
      title: pageText(customer?.name || customer?.externalId || row.customerId),
      lines: customerLines(invoice, locale),
    },
    dates: datesOf(row, timezone),
    headline: headlineOf(row, timezone, money),
    lines: invoice.lines.map((line) => ({
      name: pageText(line.displayName || 'Item'),
      note: line.planDisplayName && line.planDisplayName !== line.displayName ? line.planDisplayName : '',
      period: periodText(line.periodStart, line.periodEnd, timezone),
      quantity: groupedDigits(line.quantity),
      amount: money(line.amount),
    })),
    totals: totalsOf(invoice, money),
    notes: notesOf(row),
  };
}

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;
const anyLetter = /\p{L}/u;

/** A text runs from right to left when its first letter does. */
export function pageText(text: string): PageText {
  const first = [...text].find((letter) => anyLetter.test(letter));
  return { text, rtl: first !== undefined && rightToLeft.test(first) };
}

function given(...texts: (string | null | undefined)[]): PageText[] {
  return texts.filter((text): text is string => Boolean(text)).map(pageText);
}

interface Address {
  address_line1?: string | null;
  address_line2?: string | null;
  address_city?: string | null;
  address_state?: string | null;
  address_postal_code?: string | null;
  address_country?: string | null;
}

function sellerLines(seller: InvoicePageSource['seller'], locale: string): PageText[] {
  const details = (seller?.billingDetails ?? {}) as { email?: string; phone?: string; address?: Address | null };
  const address = details.address ?? {};
  const city = [address.address_postal_code, address.address_city].filter(Boolean).join(' ');
  return given(
    address.address_line1,
    address.address_line2,
    [city, address.address_state].filter(Boolean).join(', '),
    countryName(address.address_country, locale),
    details.email,
    details.phone,
  );
}

function customerLines({ customer }: PaperInvoice, locale: string): PageText[] {
  const city = [customer?.addressPostalCode, customer?.addressCity].filter(Boolean).join(' ');
  return given(
    customer?.addressLine1,
    customer?.addressLine2,
    [city, customer?.addressState].filter(Boolean).join(', '),
    countryName(customer?.addressCountry, locale),
    customer?.email,
  );
}

function datesOf(row: Row, timezone: string): [string, string][] {
  const rows: [string, string | null][] = [
    ['Issue date', row.issueDate ? dateText(row.issueDate, timezone) : null],
    ['Due date', row.dueDate ? dateText(row.dueDate, timezone) : null],
    ['Billing period', periodText(row.periodStart, row.periodEnd, timezone) || null],
  ];
  return rows.flatMap(([label, text]) => (text === null ? [] : [[label, text] as [string, string]]));
}

function headlineOf(row: Row, timezone: string, money: (amount: string) => string): [string, string] {
  if (row.invoiceStatus === 'VOIDED') return ['This invoice was voided; nothing is due', money('0')];
  if (row.amountRemaining === '0') return [row.amountDue === '0' ? 'Nothing is due' : 'Paid in full', money(row.total)];
  return [row.dueDate ? `Amount due by ${dateText(row.dueDate, timezone)}` : 'Amount due', money(row.amountRemaining)];
}

function stampOf(row: Row): string | null {
  if (row.invoiceStatus !== 'FINALIZED') return row.invoiceStatus;
  if (row.paymentStatus === 'REFUNDED') return 'REFUNDED';
  return row.amountRemaining === '0' ? 'PAID' : null;
}

type Total = InvoicePage['totals'][number];

function totalsOf(content: PaperInvoice, money: (amount: string) => string): InvoicePage['totals'] {
  const { row, taxes } = content;
  const unlessZero = (label: string, amount: string, sign = ''): Total[] =>
    amount === '0' ? [] : [[pageText(label), `${sign}${money(amount)}`, false]];
  const taxRows = taxes.map((tax): Total => {
    const rate = tax.taxRate as unknown as TaxRateSnapshot;
    const included = tax.taxBehavior === 'inclusive' ? ' (included)' : '';
    const label = `${rate.name} ${rate.percentageValue} % of ${money(tax.taxableAmount)}${included}`;
    return [pageText(label), money(tax.taxAmount), false];
  });
  return [
    [pageText('Subtotal'), money(row.subtotal), false],
    ...pageDiscounts(content, 'Discount').map(
      ({ label, amount }): Total => [pageText(label), `-${money(amount)}`, false],
    ),
    ...unlessZero('Prepaid credits, taxed when bought', row.taxedCreditsApplied, '-'),
    ...unlessZero('Prepaid credits', untaxedCredits(row), '-'),
    ...taxRows,
    [pageText('Total'), money(row.total), true],
    ...unlessZero('Credit notes', row.adjustmentAmount, '-'),
    ...unlessZero('Paid', row.amountPaid, '-'),
    ...unlessZero('Given back', row.refundedAmount),
    [pageText('Amount due'), money(row.invoiceStatus === 'VOIDED' ? '0' : row.amountRemaining), true],
  ];
}

/** Amount paid by prepaid credits that were not taxed when they were bought. */
export function untaxedCredits(row: Pick<Row, 'totalPrepaidCreditsApplied' | 'taxedCreditsApplied'>): string {
  return decimalString(decimal(row.totalPrepaidCreditsApplied).minus(row.taxedCreditsApplied));
}

/** What each coupon took off, by the name it had then, wherever it took it off. */
export function pageDiscounts({ row, coupons }: PaperInvoice, unnamed: string): { label: string; amount: string }[] {
  if (row.totalDiscount === '0') return [];
  if (coupons.length === 0) return [{ label: unnamed, amount: row.totalDiscount }];
  const byLabel = Map.groupBy(coupons.map(storedCoupon), ({ name, percentage }) =>
    percentage === null ? name : `${name} (${percentage} %)`,
  );
  return [...byLabel].map(([label, taken]) => ({
    label,
    amount: decimalString(sum(taken.map(({ discountedAmount }) => decimal(discountedAmount)))),
  }));
}

function notesOf(row: Row): PageText[] {
  const exempt = row.noTaxReason === 'customer_exempt' ? 'No tax is charged: the customer is exempt.' : null;
  return given(row.description, exempt);
}

/** The day of an instant as it is written on pages. */
export function dateText(instant: string, timezone: string): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: timezone, dateStyle: 'long' }).format(new Date(instant));
}

/** First and last day; the end of a period does not belong to it. */
export function periodText(start: string | null | undefined, end: string | null | undefined, timezone: string): string {
  if (!start || !end) return '';
  const day = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, dateStyle: 'medium' });
  const last = new Date(Math.max(Date.parse(end) - 1, Date.parse(start)));
  return day.formatRange(new Date(start), last);
}

const dataUrl = /^data:image\/(png|jpeg);base64,(.+)$/;

function logoOf(logo: string): InvoicePage['logo'] {
  const [, type, data] = dataUrl.exec(logo) ?? [];
  if (!type || !data) return null;
  return { type: type === 'png' ? 'png' : 'jpg', bytes: Buffer.from(data, 'base64') };
}
