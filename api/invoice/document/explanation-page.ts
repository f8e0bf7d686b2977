import type { ExplanationStep } from '../../../billing/explanation/explanation-step.ts';
import { explainDates, explainLine } from '../../../billing/explanation/invoice-explanation.ts';
import {
  creditText,
  explainTotals,
  isZero,
  noTaxText,
  type StoredCoupon,
} from '../../../billing/explanation/invoice-total-explanation.ts';
import { decimal } from '../../../billing/money/money.ts';
import type { ExplanationPage, ExplanationRow } from '../../../integrations/explanation-page/render.ts';
import type { InvoiceEvidence, LineEvidence } from '../../../services/invoice/document/invoice-explain.ts';
import type { InvoicePageSource } from '../../../services/invoice/document/invoice-page.ts';
import { exactMoney, momentText, pageWords } from './explanation-words.ts';
import { storedCoupon, storedCredit, storedDates, storedInvoice, storedLine, storedTax } from './invoice-evidence.ts';
import { dateText, invoicePage, periodText } from './invoice-page.ts';

type Words = ReturnType<typeof pageWords>;

/**
 * An explained invoice as a page for whoever pays it: the document, each line with its steps, what came off and on, payments
 * and dates. Who did what inside the seller's house is left to the answer in JSON. spec: subscriptions-and-invoicing §2.16
 */
export function explanationPage(evidence: InvoiceEvidence, source: InvoicePageSource): ExplanationPage {
  const document = invoicePage(source);
  const timezone = source.invoice.customer?.timezone ?? 'UTC';
  const paidAt = document.stamp === 'PAID' ? source.invoice.row.paidAt : null;
  const words = pageWords(timezone);
  const texts = (entries: { text: string }[]) => entries.map(({ text }) => text);
  return {
    title: 'Invoice explained',
    number: document.number,
    stamp: document.stamp,
    accent: document.accent,
    logo: document.logo ? source.config.logo : '',
    footer: document.footer,
    seller: { name: document.seller.name, lines: texts(document.seller.lines) },
    customer: { name: document.customer.title.text, lines: texts(document.customer.lines) },
    // An invoice that is paid says when, and no longer until when it had to be, as on paper.
    dates: [
      ...document.dates.flatMap(([label, text]): [string, string][] =>
        paidAt && label === 'Due date' ? [] : [[label, text]],
      ),
      ...(paidAt ? [['Paid on', dateText(paidAt, timezone)] as [string, string]] : []),
    ],
    headline: document.headline,
    lines: evidence.lines.map((line) => pageLine(line, evidence, words, timezone)),
    totals: pageTotals(evidence, words),
    payments: evidence.payments.map((payment) => paymentRow(payment, timezone)),
    moments: explainDates({ ...storedDates(evidence), dueDate: source.invoice.row.dueDate ?? null })
      .filter(({ date }) => !date.startsWith('period_'))
      .map(({ at, sentence }) => ({ at: momentText(at, timezone), text: sentence })),
    timezone,
  };
}

const labels: Record<string, string> = {
  quantity: 'Quantity',
  usage: 'Usage',
  allowance: 'Included',
  price: 'Price',
  conversion: 'Conversion',
  proration: 'Part of a period',
  commitment: 'Commitment',
  rounding: 'Rounding',
  billed_before: 'Billed before',
  sum: 'Sum',
};

function pageLine(
  line: LineEvidence,
  evidence: InvoiceEvidence,
  words: Words,
  timezone: string,
): ExplanationPage['lines'][number] {
  const { row } = line;
  const steps = explainLine(storedLine(line, evidence), words);
  const money = (amount: string) => exactMoney(amount, row.currency);
  const rowsOf = (isShown: (step: ExplanationStep) => boolean) =>
    steps.filter(isShown).map((step) => rowOf(step, money));
  return {
    name: row.displayName || 'Item',
    note: row.planDisplayName && row.planDisplayName !== row.displayName ? row.planDisplayName : '',
    period: periodText(row.periodStart, row.periodEnd, timezone),
    quantity: words.quantity(row.quantity),
    amount: money(row.amount),
    rows: withoutIdleRounding(steps.filter(({ kind }) => kind in labels)).map((step) => rowOf(step, money)),
    takenOff: rowsOf(({ kind }) => kind === 'discount' || kind === 'credit'),
    late: steps.filter(({ kind }) => kind.startsWith('late_')).map(({ sentence }) => sentence),
  };
}

function rowOf({ kind, sentence, amount }: ExplanationStep, money: (amount: string) => string): ExplanationRow {
  const label = labels[kind] ?? (kind === 'discount' ? 'Discount' : 'Prepaid credits');
  return { label, text: sentence, amount: amount === undefined ? null : money(amount) };
}

/** Rounding that changed nothing is no news to a reader. */
function withoutIdleRounding(steps: readonly ExplanationStep[]): ExplanationStep[] {
  return steps.filter(({ kind, amount }, index) => {
    const before = steps[index - 1]?.amount;
    return kind !== 'rounding' || before === undefined || amount === undefined || !decimal(before).equals(amount);
  });
}

type TotalRow = ExplanationPage['totals'][number];

/** From the sum of the lines to what is left to pay: what took part, and each coupon, wallet and rate by itself. */
function pageTotals(evidence: InvoiceEvidence, words: Words): TotalRow[] {
  const stored = storedInvoice(evidence);
  const { currency } = stored;
  const sentences = new Map(explainTotals(stored, words).map(({ step, sentence }) => [step, sentence]));
  const money = (amount: string) => exactMoney(amount, currency);
  const row = (label: string, text: string, amount: string | null, isSum = false): TotalRow => ({
    ...{ label, text, isSum },
    amount: amount === null ? null : money(amount),
  });
  const unlessZero = (label: string, text: string, amount: string) =>
    isZero(amount) ? [] : [row(label, text, amount)];
  const left = evidence.row.invoiceStatus === 'VOIDED' ? '0' : stored.amountRemaining;
  return [
    row('Subtotal', sentences.get('subtotal') ?? '', stored.subtotal),
    ...couponRows(evidence, words).map(({ label, text, amount }) => row(label, text, amount)),
    ...creditRows(evidence, words).map(({ label, text, amount }) => row(label, text, amount)),
    ...taxRows(evidence, words).map(({ isContained, label, text, amount }) => {
      const shown = row(label, text, amount);
      return isContained ? { ...shown, amount: `(${shown.amount})` } : shown;
    }),
    row('Total', sentences.get('total') ?? '', stored.total, true),
    ...unlessZero('Credit notes', 'Taken off what is due by credit notes.', negative(stored.adjustmentAmount)),
    ...unlessZero('Paid', '', negative(stored.amountPaid)),
    ...unlessZero('Given back', 'Refunded of what was paid.', stored.refundedAmount),
    ...unlessZero('Paid too much', '', stored.overpaidAmount),
    row('Amount due', '', left, true),
  ];
}

function couponRows({ row, lines, coupons }: InvoiceEvidence, words: Words): ExplanationRow[] {
  if (coupons.length === 0 && !isZero(row.totalDiscount)) {
    return [{ label: 'Discount', text: '', amount: negative(row.totalDiscount) }];
  }
  const names = new Map(lines.map((line) => [line.row.id, line.row.displayName]));
  return coupons.map((coupon) => {
    const stored = storedCoupon(coupon);
    const line = names.get(coupon.invoiceLineItemId ?? '');
    const of = line === undefined ? 'of the invoice' : `of ${words.name(line)}`;
    return {
      label: stored.name,
      text: couponBasis(stored, of, row.currency, words),
      amount: negative(stored.discountedAmount),
    };
  });
}

function couponBasis({ percentage, originalPrice }: StoredCoupon, of: string, currency: string, words: Words): string {
  const base = `${words.money(originalPrice, currency)} ${of}`;
  return percentage === null ? `Coupon, a fixed amount off ${base}` : `Coupon, ${percentage} % of ${base}`;
}

function creditRows({ row, credits }: InvoiceEvidence, words: Words): ExplanationRow[] {
  if (credits.length === 0 && !isZero(row.totalPrepaidCreditsApplied)) {
    return [{ label: 'Prepaid credits', text: '', amount: negative(row.totalPrepaidCreditsApplied) }];
  }
  return credits.map((credit) => {
    const stored = storedCredit(credit);
    return { label: 'Prepaid credits', text: creditText(stored, row.currency, words), amount: negative(stored.amount) };
  });
}

/** Contained tax is told beside the sum, of which it is no part. */
function taxRows(evidence: InvoiceEvidence, words: Words): (ExplanationRow & { isContained: boolean })[] {
  const { noTaxReason, currency, taxedCreditsApplied } = storedInvoice(evidence);
  if (noTaxReason !== null) {
    return [{ label: 'Tax', text: noTaxText(noTaxReason, taxedCreditsApplied), amount: '0', isContained: false }];
  }
  const left = isZero(taxedCreditsApplied)
    ? 'which is left after coupons'
    : `which is left after coupons and ${words.money(taxedCreditsApplied, currency)} of credits that were taxed when they were bought`;
  return evidence.taxes.map((tax) => {
    const { name, percentage, taxBehavior, taxableAmount, taxAmount } = storedTax(tax);
    const base = `${percentage} % of ${words.money(taxableAmount, currency)}`;
    const isContained = taxBehavior === 'inclusive';
    const text = isContained ? `${base}, contained in the prices` : `${base}, ${left}`;
    return { label: name, text, amount: taxAmount, isContained };
  });
}

function paymentRow({ row }: InvoiceEvidence['payments'][number], timezone: string): ExplanationRow {
  const at = row.succeededAt ?? row.failedAt ?? null;
  const when = at === null ? '' : `, ${momentText(at, timezone)}`;
  const because = row.errorMessage ? `: ${row.errorMessage}` : '';
  const status = row.paymentStatus.toLowerCase().replaceAll('_', ' ');
  const method = row.paymentMethodType.toLowerCase().replaceAll('_', ' ');
  return {
    label: capital(status),
    text: `By ${method}${when}${because}`,
    amount: exactMoney(row.amount, row.currency),
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function negative(amount: string): string {
  return isZero(amount) ? '0' : `-${amount}`;
}
