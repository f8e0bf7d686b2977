import { beforeAll, describe, expect, test } from 'vitest';
import { createCatalogue } from '../../../dev/demo/catalogue.ts';
import { demoClient } from '../../../dev/demo/client.ts';
import { demoReport } from '../../../dev/demo/report.ts';
import type { DemoAirport, DemoLine, DemoResult } from '../../../dev/demo/result.ts';
import { runDemo } from '../../../dev/demo/run.ts';
import { created, testPlatform } from '../../support/billing.ts';
import { type ExpectedInvoice, type ExpectedLine, expectedInvoices } from '../../support/oracles/flights-oracle.ts';
import { type OraclePrice, oracleCost, oracleLineAmount } from '../../unit/billing/rating-oracle.ts';

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

describe('simulating a plan on the flights', () => {
  const window = { start_time: '2001-01-01T00:00:00Z', end_time: '2001-04-02T00:00:00Z' };
  /** What the airports were billed for January to March: all but the fee for April. */
  const issued = (airport: DemoAirport) =>
    invoicesOf(airport)
      .flatMap((invoice) => invoice.lines)
      .filter((line) => line.end < '2001-04-02')
      .sort(byTimeAndPrice);

  async function simulate(planId: string): Promise<Simulation> {
    const body = { ...window, current_plan_id: demo.catalogue.planId, include_lines: true };
    const answer = await api<Simulation>('POST', `/plans/${planId}/simulate`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  }

  test('agrees with the invoices that were really issued, line by line', async () => {
    const { customers, totals } = await simulate(demo.catalogue.planId);
    expect(totals).toMatchObject([{ customers: 40, periods: 120, current: '175315.66', simulated: '175315.66' }]);
    for (const airport of demo.airports) {
      const periods = customers.find(({ customer_id }) => customer_id === airport.customerId)!.subscriptions[0]!
        .periods;
      for (const side of ['current', 'simulated'] as const) {
        const lines = periods.flatMap(({ lines }) => lines[side]).map(lineOf);
        expect(lines.sort(byTimeAndPrice), airport.code).toEqual(issued(airport));
      }
    }
  });

  test('costs under another plan what an oracle in fractions says', async () => {
    const { prices } = demo.catalogue;
    const meters = await Promise.all(
      [prices.miles, prices.departures].map(
        async (id) => (await api<{ meter_id: string }>('GET', `/prices/${id}`)).body.meter_id,
      ),
    );
    const tiers = [
      { up_to: '50000', unit_amount: '0.0111', flat_amount: '20' },
      { up_to: null, unit_amount: '0.0087', flat_amount: '0' },
    ];
    const miles: OraclePrice = { billing_model: 'TIERED', tier_mode: 'VOLUME', currency: 'usd', tiers };
    const departures: OraclePrice = {
      billing_model: 'PACKAGE',
      currency: 'usd',
      amount: '9.99',
      transform_quantity: { divide_by: 7, round: 'down' },
    };
    const priced: Partial<Record<ExpectedLine['price'], OraclePrice>> = { miles, departures };
    const plan = await created(api, '/plans', { name: 'Volume' });
    const common = { plan_id: plan.id, billing_period: 'MONTHLY', type: 'USAGE', invoice_cadence: 'ARREAR' };
    const whole = tiers.map((tier) => ({ ...tier, up_to: tier.up_to === null ? null : Number(tier.up_to) }));
    await created(api, '/prices', { ...common, ...miles, tiers: whole, meter_id: meters[0] });
    await created(api, '/prices', { ...common, ...departures, meter_id: meters[1] });
    const { customers } = await simulate(plan.id);
    expect(customers.length).toBe(40);
    for (const airport of demo.airports) {
      const amounts = issued(airport).map(({ price, quantity, forgiven }) => {
        const terms = priced[price];
        // The other plan forgives no departures.
        const used = String(Number(quantity) + Number(forgiven));
        return terms ? oracleLineAmount(terms, oracleCost(terms, used)) : '0.00';
      });
      const cents = amounts.reduce((sum, amount) => sum + Number(amount.replace('.', '')), 0);
      const found = customers.find(({ customer_id }) => customer_id === airport.customerId)!;
      expect(Number(dollars(found.simulated).replace('.', '')), airport.code).toBe(cents);
    }
  });
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
  expect(cents).toBe(19_564_645);
  expect(table.find((row) => row.startsWith('Total'))).toMatch(/ 195,646\.45 {2}195,646\.45 +160 +165$/);
});

test('another run on the same environment takes names of its own', async () => {
  expect(demo.catalogue.suffix).toBe('');
  expect(await createCatalogue(demoClient(address, base.apiKey))).toMatchObject({ suffix: '-2' });
});

interface Simulation {
  totals: unknown[];
  customers: {
    customer_id: string;
    simulated: string;
    subscriptions: { periods: { lines: { current: DemoLine[]; simulated: DemoLine[] } }[] }[];
  }[];
}

function byTimeAndPrice(a: ExpectedLine, b: ExpectedLine): number {
  return a.start + a.price < b.start + b.price ? -1 : 1;
}

/** An airport's invoices in the words of the oracle. */
function invoicesOf(airport: DemoAirport): ExpectedInvoice[] {
  return airport.invoices.map((invoice) => ({
    reason: invoice.billing_reason as ExpectedInvoice['reason'],
    start: invoice.period_start,
    end: invoice.period_end,
    discount: dollars(invoice.total_discount),
    tax: dollars(invoice.total_tax),
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
