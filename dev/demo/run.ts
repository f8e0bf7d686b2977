import { Temporal } from 'temporal-polyfill';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { airportNames, zoneOf } from './airports.ts';
import { airportTerms, createCatalogue, currency, type DemoCatalogue } from './catalogue.ts';
import { type DemoClient, demoClient, inParallel } from './client.ts';
import { busiestAirports, dataPackage, type Flight, readFlights, usageEvent } from './flights.ts';
import type { DemoAirport, DemoExplanation, DemoInvoice, DemoPayment, DemoResult } from './result.ts';
import { advance, type DemoProgress, daysBetween, type Report, readAll, reportedSteps } from './steps.ts';

export interface DemoOptions {
  /** Of a running installation, with or without `/v1`. */
  address: string;
  apiKey: string;
  onProgress?: (progress: DemoProgress) => void;
}

export const airportCount = 40;
const subscribedOn = '2001-01-01';
/** Before any of the airports' midnights, and after the last of April the 1st with its delay of finalization. */
const clockStart = '2001-01-01T00:00:00.000Z';
const clockEnd = '2001-04-02T00:00:00.000Z';
const batchSize = 1_000;
const lanes = 4;

type Subscriber = Pick<DemoAirport, 'code' | 'zone' | 'customerId' | 'subscriptionId' | 'declines'>;

/** Bills the airports for their flights through the public API alone, from the catalogue to the last payment. */
export async function runDemo({ address, apiKey, onProgress }: DemoOptions): Promise<DemoResult> {
  const startedMs = performance.now();
  const api = demoClient(address, apiKey);
  const flights = readFlights();
  const codes = busiestAirports(flights, airportCount);
  const step = reportedSteps(onProgress);

  const catalogue = await step('Making the plan', 1, 'plan', () => createCatalogue(api));
  const clock = await api.send<{ id: string }>('POST', '/test-clocks', {
    name: `Flights of 2001${catalogue.suffix}`,
    frozen_time: clockStart,
  });
  const subscribers = await step('Subscribing airports', codes.length, 'airports', (report) =>
    subscribeAll(api, catalogue, clock.id, codes, report),
  );
  await step('Sending usage events', flights.length, 'events', (report) =>
    sendEvents(api, flights, catalogue.suffix, report),
  );
  await step('Advancing the clock', daysBetween(clockStart, clockEnd), 'days', (report) =>
    advance(api, { id: clock.id, from: clockStart, to: clockEnd }, report),
  );
  const airports = await step('Reading invoices and payments', codes.length, 'airports', (report) =>
    readAirports(api, catalogue, subscribers, report),
  );
  const explained = await explainLine(api, catalogue, airports[0]!);
  const seconds = (performance.now() - startedMs) / 1000;
  return { catalogue, clockId: clock.id, events: flights.length, airports, explained, seconds };
}

function subscribeAll(
  api: DemoClient,
  catalogue: DemoCatalogue,
  clockId: string,
  codes: readonly string[],
  report: Report,
): Promise<Subscriber[]> {
  const names = airportNames(dataPackage());
  let done = 0;
  return inParallel([...codes.entries()], lanes, async ([index, code]) => {
    // Every eighth airport has a card that declines its first charge.
    const declines = index % 8 === 3 ? 1 : 0;
    const airport = { code, name: names.get(code) ?? code, declines, terms: airportTerms(catalogue, index) };
    const subscriber = await subscribe(api, catalogue, clockId, airport);
    done += 1;
    report(done);
    return subscriber;
  });
}

/** An airport becomes a customer with a card and subscribes at its own midnight. */
async function subscribe(
  api: DemoClient,
  catalogue: DemoCatalogue,
  clockId: string,
  { code, name, declines, terms }: { code: string; name: string; declines: number; terms: Record<string, unknown> },
): Promise<Subscriber> {
  const zone = zoneOf(code);
  const { id: customerId } = await api.send<{ id: string }>('POST', '/customers', {
    external_id: `${code}${catalogue.suffix}`,
    name,
    timezone: zone,
    test_clock_id: clockId,
  });
  await api.send('POST', `/customers/${customerId}/payment-methods`, {
    gateway: 'sandbox',
    card_number: declines > 0 ? sandboxCardNumber('declines_times', declines) : sandboxCardNumber('succeeds'),
    set_default: true,
  });
  const { id: subscriptionId } = await api.send<{ id: string }>('POST', '/subscriptions', {
    customer_id: customerId,
    plan_id: catalogue.planId,
    currency,
    billing_period: 'MONTHLY',
    start_date: Temporal.PlainDate.from(subscribedOn).toZonedDateTime(zone).toInstant().toString(),
    ...terms,
  });
  return { code, zone, customerId, subscriptionId, declines };
}

/** All flights, also those of airports that are nobody's customers: they are stored and billed to nobody. */
async function sendEvents(api: DemoClient, flights: readonly Flight[], suffix: string, report: Report): Promise<void> {
  const events = flights.map((flight, index) => usageEvent(flight, index, suffix));
  const batches = Array.from({ length: Math.ceil(events.length / batchSize) }, (_, index) =>
    events.slice(index * batchSize, (index + 1) * batchSize),
  );
  let done = 0;
  await inParallel(batches, 2, async (batch) => {
    await api.send('POST', '/events/bulk', { events: batch });
    done += batch.length;
    report(done);
  });
}

/** The miles of the busiest airport's first month: the line with most steps. */
async function explainLine(
  api: DemoClient,
  catalogue: DemoCatalogue,
  { code, invoices }: DemoAirport,
): Promise<DemoExplanation> {
  const invoice = invoices[1]!;
  const { lines } = await api.send<{
    lines: { price_id: string; display_name: string; amount: string; steps: { sentence: string }[] }[];
  }>('GET', `/invoices/${invoice.id}/explain`);
  const line = lines.find((each) => each.price_id === catalogue.prices.miles)!;
  return {
    airport: code,
    invoiceNumber: invoice.invoice_number,
    line: line.display_name,
    amount: line.amount,
    sentences: line.steps.map((step) => step.sentence),
  };
}

async function readAirports(
  api: DemoClient,
  catalogue: DemoCatalogue,
  subscribers: readonly Subscriber[],
  report: Report,
): Promise<DemoAirport[]> {
  // Payments of this run began after its plan; what others paid meanwhile matches no invoice.
  const since = encodeURIComponent(catalogue.createdAt);
  const payments = await readAll<DemoPayment>(api, `/payments?start_time=${since}`);
  const paymentsOf = Map.groupBy(payments, (payment) => payment.destination_id);
  let done = 0;
  return inParallel(subscribers, lanes, async (subscriber) => {
    const invoices = await readAll<DemoInvoice>(api, `/invoices?subscription_id=${subscriber.subscriptionId}`);
    invoices.sort((a, b) => a.billing_sequence - b.billing_sequence);
    done += 1;
    report(done);
    return { ...subscriber, invoices, payments: invoices.flatMap(({ id }) => paymentsOf.get(id) ?? []) };
  });
}
