import { setTimeout as delay } from 'node:timers/promises';
import { Temporal } from 'temporal-polyfill';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { airportNames, zoneOf } from './airports.ts';
import { createCatalogue, currency, type DemoCatalogue } from './catalogue.ts';
import { type DemoClient, demoClient, inParallel } from './client.ts';
import { busiestAirports, dataPackage, type Flight, readFlights, usageEvent } from './flights.ts';

export interface DemoOptions {
  /** Of a running installation, with or without `/v1`. */
  address: string;
  apiKey: string;
  onProgress?: (progress: DemoProgress) => void;
}

/** How far a step is: reported often, the last time with `done` equal to `of`. */
export interface DemoProgress {
  step: string;
  done: number;
  of: number;
  unit: string;
}

/** What an invoice of the API tells the demo. Decimals are strings. */
export interface DemoInvoice {
  id: string;
  invoice_number: string | null;
  invoice_status: string;
  payment_status: string;
  billing_reason: string;
  /** Counts the invoices of the subscription. */
  billing_sequence: number;
  currency: string;
  period_start: string;
  period_end: string;
  finalized_at: string | null;
  total: string;
  amount_due: string;
  amount_paid: string;
  amount_remaining: string;
  line_items: DemoLine[];
}

export interface DemoLine {
  id: string;
  price_id: string;
  display_name: string;
  quantity: string;
  adjusted_entitlement_quantity: string | null;
  amount: string;
  period_start: string;
  period_end: string;
}

export interface DemoPayment {
  id: string;
  destination_id: string;
  payment_status: string;
  payment_gateway: string | null;
  amount: string;
  attempts: { attempt_number: number; payment_status: string }[];
}

export interface DemoAirport {
  code: string;
  zone: string;
  customerId: string;
  subscriptionId: string;
  /** Declines of its card before it pays. */
  declines: number;
  /** In the order they were billed. */
  invoices: DemoInvoice[];
  payments: DemoPayment[];
}

export interface DemoResult {
  catalogue: DemoCatalogue;
  clockId: string;
  events: number;
  /** The busiest first. */
  airports: DemoAirport[];
  seconds: number;
}

export const airportCount = 40;
const subscribedOn = '2001-01-01';
/** Before any of the airports' midnights, and after the last of April the 1st with its delay of finalization. */
const clockStart = '2001-01-01T00:00:00.000Z';
const clockEnd = '2001-04-02T00:00:00.000Z';
const batchSize = 1_000;
const lanes = 4;
const dayMs = 24 * 60 * 60 * 1000;

type Report = (done: number) => void;
type Subscriber = Pick<DemoAirport, 'code' | 'zone' | 'customerId' | 'subscriptionId' | 'declines'>;

/** Bills the airports for their flights through the public API alone, from the catalogue to the last payment. */
export async function runDemo({ address, apiKey, onProgress }: DemoOptions): Promise<DemoResult> {
  const startedMs = performance.now();
  const api = demoClient(address, apiKey);
  const flights = readFlights();
  const codes = busiestAirports(flights, airportCount);
  async function step<Result>(name: string, of: number, unit: string, work: (report: Report) => Promise<Result>) {
    let reported = -1;
    const report = (done: number) => {
      if (done > reported) onProgress?.({ step: name, done, of, unit });
      reported = Math.max(reported, done);
    };
    report(0);
    const result = await work(report);
    report(of);
    return result;
  }

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
  const days = (Date.parse(clockEnd) - Date.parse(clockStart)) / dayMs;
  await step('Advancing the clock', days, 'days', (report) => advance(api, clock.id, report));
  const airports = await step('Reading invoices and payments', codes.length, 'airports', (report) =>
    readAirports(api, catalogue, subscribers, report),
  );
  const seconds = (performance.now() - startedMs) / 1000;
  return { catalogue, clockId: clock.id, events: flights.length, airports, seconds };
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
    const subscriber = await subscribe(api, catalogue, clockId, { code, name: names.get(code) ?? code, declines });
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
  { code, name, declines }: { code: string; name: string; declines: number },
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

async function advance(api: DemoClient, clockId: string, report: Report): Promise<void> {
  await api.send('POST', `/test-clocks/${clockId}/advance`, { to: clockEnd });
  for (;;) {
    const clock = await api.send<{ clock_status: string; frozen_time: string }>('GET', `/test-clocks/${clockId}`);
    if (clock.clock_status === 'ready') return;
    report(Math.floor((Date.parse(clock.frozen_time) - Date.parse(clockStart)) / dayMs));
    await delay(250);
  }
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

async function readAll<Item>(api: DemoClient, path: string): Promise<Item[]> {
  const limit = 1_000;
  const items: Item[] = [];
  for (;;) {
    const page = await api.send<{ items: Item[]; pagination: { total: number } }>(
      'GET',
      `${path}&limit=${limit}&offset=${items.length}`,
    );
    items.push(...page.items);
    if (page.items.length === 0 || items.length >= page.pagination.total) return items;
  }
}
