import { type Decimal, decimal, zero } from '../../billing/money.ts';
import type { DemoAirport, DemoInvoice, DemoResult } from './run.ts';

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
  const { airports, events, seconds } = result;
  const rows = airports.map(airportRow);
  const totals = totalRow(airports);
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...[...rows, totals].map((row) => row[column]?.length ?? 0)),
  );
  const rule = widths.map((width) => '─'.repeat(width)).join('──');
  const invoices = airports.flatMap((airport) => airport.invoices);
  const paid = invoices.filter((invoice) => invoice.payment_status === 'SUCCEEDED').length;
  return [
    `Departures of January to March 2001, billed to ${airports.length} airports. Amounts in US dollars, by the local date of the invoice.`,
    '',
    line(headings, widths),
    rule,
    ...rows.map((row) => line(row, widths)),
    rule,
    line(totals, widths),
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
    String(payments.length),
    String(payments.reduce((sum, payment) => sum + payment.attempts.length, 0)),
  ];
}

function totalRow(airports: readonly DemoAirport[]): string[] {
  const invoices = airports.flatMap((airport) => airport.invoices);
  const payments = airports.flatMap((airport) => airport.payments);
  const months = [0, 1, 2, 3].map((month) =>
    money(total(airports.flatMap((airport) => airport.invoices[month]?.total ?? '0'))),
  );
  return [
    'Total',
    '',
    String(invoices.length),
    ...months,
    ...amounts(invoices),
    String(payments.length),
    String(payments.reduce((sum, payment) => sum + payment.attempts.length, 0)),
  ];
}

function amounts(invoices: readonly DemoInvoice[]): string[] {
  return [money(total(invoices.map((each) => each.total))), money(total(invoices.map((each) => each.amount_paid)))];
}

function total(values: readonly string[]): Decimal {
  return values.reduce((sum, value) => sum.plus(value), zero);
}

/** Two decimals with thousands separated; nothing is rounded that the invoice did not round. */
function money(amount: Decimal): string {
  const [whole = '0', decimals] = amount.toFixed(2).split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${decimals}`;
}

function line(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) =>
      column < leftColumns ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    )
    .join('  ')
    .trimEnd();
}
