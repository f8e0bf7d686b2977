import { type Decimal, decimal, zero } from '../../billing/money/money.ts';
import type { DemoAirport, DemoInvoice, DemoPayment, DemoResult } from './result.ts';

const headings = [
  'Airport',
  'Time zone',
  'Invoices',
  '1 Jan',
  '1 Feb',
  '1 Mar',
  '1 Apr',
  'Total',
  'Paid',
  'Payments',
  'Attempts',
];
const leftColumns = 2;

/** The result for a person: a row an airport, what they sum up to, and how long it took. */
export function demoReport(result: DemoResult): string {
  const { airports, explained, events, seconds } = result;
  const invoices = airports.flatMap((airport) => airport.invoices);
  const paid = invoices.filter((invoice) => invoice.payment_status === 'SUCCEEDED').length;
  return [
    `The flights of January to March 2001, billed to the ${airports.length} busiest airports on their own local dates, in US dollars.`,
    'The first invoice is the fee of January; each later one a month of flights and the fee of the next month.',
    '',
    ...table(headings, leftColumns, airports.map(airportRow), totalRow(airports)),
    '',
    `Sales tax is ${money(total(invoices.map((each) => each.total_tax)))} of it; the coupon of every fourth airport took ${money(total(invoices.map((each) => each.total_discount)))} off its first two months.`,
    '',
    `How "${explained.line}" on invoice ${explained.invoiceNumber} of ${explained.airport} comes to ${money(decimal(explained.amount))}:`,
    ...explained.sentences.map((sentence, index) => `  ${index + 1}. ${sentence}`),
    '',
    `${events.toLocaleString('en-US')} usage events, ${invoices.length} invoices, ${paid} of them paid, in ${seconds.toFixed(1)} s.`,
  ].join('\n');
}

function airportRow(airport: DemoAirport): string[] {
  const { code, zone, invoices, payments } = airport;
  return [
    code,
    zone,
    String(invoices.length),
    ...invoices.slice(0, 4).map((invoice) => money(decimal(invoice.total))),
    ...amounts(invoices),
    ...counts(payments),
  ];
}

function totalRow(airports: readonly DemoAirport[]): string[] {
  const invoices = airports.flatMap((airport) => airport.invoices);
  const payments = airports.flatMap((airport) => airport.payments);
  const months = [0, 1, 2, 3].map((month) =>
    money(total(airports.flatMap((airport) => airport.invoices[month]?.total ?? '0'))),
  );
  return ['Total', '', String(invoices.length), ...months, ...amounts(invoices), ...counts(payments)];
}

function amounts(invoices: readonly DemoInvoice[]): string[] {
  return [money(total(invoices.map((each) => each.total))), money(total(invoices.map((each) => each.amount_paid)))];
}

/** Payments that brought money, and how often a card was tried for them. */
function counts(payments: readonly DemoPayment[]): string[] {
  const succeeded = payments.filter((payment) => payment.payment_status === 'SUCCEEDED').length;
  return [succeeded, payments.reduce((sum, payment) => sum + payment.attempts.length, 0)].map(String);
}

function total(values: readonly string[]): Decimal {
  return values.reduce((sum, value) => sum.plus(value), zero);
}

/** Lines of a table: its first columns are set to the left, the others, which are numbers, to the right. */
export function table(
  headings: readonly string[],
  leftColumns: number,
  rows: readonly string[][],
  totals: readonly string[],
): string[] {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...[...rows, totals].map((row) => row[column]?.length ?? 0)),
  );
  const rule = widths.map((width) => '─'.repeat(width)).join('──');
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column < leftColumns ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(headings), rule, ...rows.map(line), rule, line(totals)];
}

/** Two decimals with thousands separated; nothing is rounded that the invoice did not round. */
export function money(amount: Decimal): string {
  const [whole = '0', decimals] = amount.toFixed(2).split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${decimals}`;
}
