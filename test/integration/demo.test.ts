import { beforeAll, expect, test } from 'vitest';
import { createCatalogue } from '../../dev/demo/catalogue.ts';
import { demoClient } from '../../dev/demo/client.ts';
import { demoReport } from '../../dev/demo/report.ts';
import type { DemoAirport, DemoLine, DemoResult } from '../../dev/demo/result.ts';
import { runDemo } from '../../dev/demo/run.ts';
import { testPlatform } from '../support/billing.ts';
import { type ExpectedInvoice, type ExpectedLine, expectedInvoices } from '../support/flights-oracle.ts';

const { app, api, base } = await testPlatform();
const address = await app.listen({ host: '127.0.0.1', port: 0 });
const expected = expectedInvoices();
let demo: DemoResult;

beforeAll(async () => {
  demo = await runDemo({ address, apiKey: base.apiKey });
}, 180_000);

test('the 40 busiest airports have every invoice and line to the cent', () => {
  const billed = demo.airports.map((airport): [string, ExpectedInvoice[]] => [airport.code, invoicesOf(airport)]);
  expect(billed.length).toBe(40);
  expect(billed).toEqual([...expected]);
});

test('every invoice is finalized in dollars under a number of its own', () => {
  const invoices = demo.airports.flatMap((airport) => airport.invoices);
  expect(invoices.length).toBe(160);
  expect(new Set(invoices.map((invoice) => invoice.invoice_number)).size).toBe(160);
  for (const invoice of invoices) {
    expect(invoice).toMatchObject({ invoice_status: 'FINALIZED', currency: 'usd' });
    expect(invoice.invoice_number).toMatch(/^INV-20010[1-4]-\d{5}$/);
  }
});

test('every invoice is paid in full, also where the card declined first', () => {
  const declining = demo.airports.filter((airport) => airport.declines > 0);
  expect(declining.length).toBe(5);
  for (const airport of demo.airports) {
    for (const [index, invoice] of airport.invoices.entries()) {
      expect(invoice, airport.code).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0' });
      expect(invoice.amount_paid).toBe(invoice.total);
      const payments = airport.payments.filter((payment) => payment.destination_id === invoice.id);
      const captured = payments.filter((payment) => payment.payment_status === 'SUCCEEDED');
      expect(captured.map((payment) => dollars(payment.amount))).toEqual([dollars(invoice.total)]);
      // A card declines the first charge it ever sees, which is that of the opening invoice.
      const declines = index === 0 ? airport.declines : 0;
      const attempts = payments.flatMap((payment) => payment.attempts.map((attempt) => attempt.payment_status));
      expect(attempts.toSorted()).toEqual([...Array(declines).fill('FAILED'), 'SUCCEEDED']);
    }
  }
});

test('all 20 000 flights are stored, and those of other airports are billed to nobody', async () => {
  const { body } = await api<{ total_count: number }>('POST', '/events/query', {
    start_time: '2001-01-01T00:00:00Z',
    end_time: '2001-04-02T00:00:00Z',
    page_size: 1,
  });
  expect(body.total_count).toBe(20_000);
  const departures = demo.airports
    .flatMap((airport) => invoicesOf(airport).flatMap((invoice) => invoice.lines))
    .filter((line) => line.price === 'departures');
  expect(departures.reduce((sum, line) => sum + Number(line.quantity) + Number(line.forgiven), 0)).toBe(15_096);
});

test('one line is explained in the words of the API, up to its amount', () => {
  const { airport, line, amount, sentences } = demo.explained;
  expect({ airport, line, amount }).toEqual({ airport: 'DFW', line: 'Miles flown', amount: '2142.69' });
  expect(sentences.join('\n')).toMatch(/271952[\s\S]*0\.0125[\s\S]*0\.0095[\s\S]*0\.0065[\s\S]*2142\.69/);
});

test('the table shows every airport and the total of all', () => {
  const table = demoReport(demo).split('\n');
  for (const code of expected.keys()) expect(table.filter((row) => row.startsWith(`${code} `)).length).toBe(1);
  const cents = [...expected.values()].flat().reduce((sum, { total }) => sum + Number(total.replace('.', '')), 0);
  expect(cents).toBe(18_531_566);
  expect(table.find((row) => row.startsWith('Total'))).toMatch(/ 185,315\.66 {2}185,315\.66 +160 +165$/);
});

test('another run on the same environment takes names of its own', async () => {
  expect(demo.catalogue.suffix).toBe('');
  expect(await createCatalogue(demoClient(address, base.apiKey))).toMatchObject({ suffix: '-2' });
});

/** An airport's invoices in the words of the oracle. */
function invoicesOf(airport: DemoAirport): ExpectedInvoice[] {
  return airport.invoices.map((invoice) => ({
    reason: invoice.billing_reason as ExpectedInvoice['reason'],
    start: invoice.period_start,
    end: invoice.period_end,
    total: dollars(invoice.total),
    lines: invoice.line_items.map(lineOf),
  }));
}

function lineOf(line: DemoLine): ExpectedLine {
  const prices = Object.entries(demo.catalogue.prices);
  return {
    price: prices.find(([, id]) => id === line.price_id)?.[0] as ExpectedLine['price'],
    quantity: line.quantity,
    forgiven: line.adjusted_entitlement_quantity ?? '0',
    amount: dollars(line.amount),
    start: line.period_start,
    end: line.period_end,
  };
}

/** A decimal of the API with two decimals; one with more stays as it is and equals no cents. */
function dollars(amount: string): string {
  const [whole, decimals = ''] = amount.split('.');
  return `${whole}.${decimals.padEnd(2, '0')}`;
}
