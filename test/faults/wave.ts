import { setTimeout as delay } from 'node:timers/promises';
import { Temporal } from 'temporal-polyfill';
import type { FileServer } from '../../bench/ingest/file-server.ts';
import { zoneOf } from '../../dev/demo/airports.ts';
import { airportTerms, createCatalogue, currency, type DemoCatalogue } from '../../dev/demo/catalogue.ts';
import { type DemoClient, inParallel } from '../../dev/demo/client.ts';
import { busiestAirports, type Flight, readFlights, usageEvent } from '../../dev/demo/flights.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { cloneCatalogue } from './copies.ts';
import { type ExpectedBill, subscribeFamily } from './relatives.ts';
import { actAtStop } from './restless.ts';
import { goShopping } from './shoppers.ts';
import {
  createCustomer,
  createOtherPlans,
  fillWallets,
  type NewSubscriber,
  type Place,
  strangersOf,
  watchBalance,
} from './strangers.ts';

/** One run of the demo's main job with some of its airports, under names of its own. */
export interface Wave extends Place {
  subscribers: Subscriber[];
}

/** An airport, or one of the customers that meet what no airport meets: a trial, a first invoice that is not paid, changes of mind. */
export interface Subscriber {
  code: string;
  customerId: string;
  subscriptionId: string;
  /** False for those the oracle of flights does not know. */
  isAirport: boolean;
  /** Of those whose invoices are known otherwise. */
  expected?: ExpectedBill[];
}

const clockStart = '2001-01-01T00:00:00.000Z';
const subscribedOn = '2001-01-01';
/** Boundaries, nights of notices and dates of collection lie between these; the last is past every retry of a declined card. */
const stops = [
  '2001-01-09T00:00:00.000Z',
  '2001-02-01T06:30:00.000Z',
  '2001-02-12T00:00:00.000Z',
  '2001-03-01T07:00:00.000Z',
  '2001-03-20T00:00:00.000Z',
  '2001-04-01T08:00:00.000Z',
  '2001-04-12T00:00:00.000Z',
];
const batchSize = 250;
const lanes = 4;
const lookEveryMs = 100;
const advanceLimitMs = 240_000;

/** In turn over the airports: whatever a card does, its invoices are paid in the end. */
const cards = [
  sandboxCardNumber('succeeds'),
  sandboxCardNumber('loses_answer'),
  sandboxCardNumber('declines_times', 1),
  sandboxCardNumber('answers_twice'),
  sandboxCardNumber('answers_late', 2),
  sandboxCardNumber('unreachable_times', 2),
  sandboxCardNumber('succeeds'),
  sandboxCardNumber('answers_wrongly'),
];

/** Subscribes airports, sends their flights and advances their clock past April the 1st 2001, through the public API alone. */
export async function runWave(api: DemoClient, files: FileServer, airports: number): Promise<Wave> {
  const flights = readFlights();
  const codes = busiestAirports(flights, airports);
  const catalogue = await createCatalogue(api);
  const clock = await api.send<{ id: string }>('POST', '/test-clocks', { frozen_time: clockStart });
  const place = { catalogue, clockId: clock.id };
  const billed = await inParallel([...codes.entries()], lanes, ([index, code]) =>
    subscribe(api, place, {
      code,
      zone: zoneOf(code),
      card: cards[index % cards.length]!,
      terms: airportTerms(catalogue, index),
    }),
  );
  const plans = await createOtherPlans(api, catalogue);
  // What is not paid after the last attempt pauses its subscription.
  await api.send('PUT', '/settings/dunning_config', { value: { after_last_attempt: 'pause' } });
  const others = await inParallel(strangersOf(plans), lanes, (stranger) => subscribe(api, place, stranger));
  const relatives = await subscribeFamily(api, place, plans);
  await fillWallets(api, place);
  await watchBalance(api, billed[0]!.customerId);
  await syncPrices(api, catalogue);
  await Promise.all([cloneCatalogue(api), sendFlights(api, files, flights, new Set(codes), catalogue.suffix)]);
  await goShopping(api, place, plans);
  const strangers = [...others, ...relatives];
  const subscriptionOf = (code: string) => strangers.find((each) => each.code === code)!.subscriptionId;
  const occasion = { plans, suffix: catalogue.suffix, subscriptionOf };
  for (const [index, stop] of stops.entries()) {
    await advance(api, clock.id, stop);
    await actAtStop(api, index, occasion);
  }
  return {
    ...place,
    subscribers: [
      ...billed.map((each) => ({ ...each, isAirport: true })),
      ...strangers.map((each) => ({ ...each, isAirport: false })),
    ],
  };
}

async function subscribe(
  api: DemoClient,
  place: Place,
  { code, zone, card, terms }: NewSubscriber,
): Promise<Omit<Subscriber, 'isAirport'>> {
  const customerId = await createCustomer(api, place, { code, zone, card });
  const { id: subscriptionId } = await api.send<{ id: string }>('POST', '/subscriptions', {
    customer_id: customerId,
    plan_id: place.catalogue.planId,
    currency,
    billing_period: 'MONTHLY',
    start_date: Temporal.PlainDate.from(subscribedOn).toZonedDateTime(zone).toInstant().toString(),
    ...terms,
  });
  return { code, customerId, subscriptionId };
}

/** Syncs the plan with a price in a currency nobody pays in: every subscription is looked at and nothing is billed otherwise. */
async function syncPrices(api: DemoClient, { planId, suffix }: DemoCatalogue): Promise<void> {
  const meter = { event_name: `departure${suffix}`, aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' };
  const name = `Departures in euro${suffix}`;
  const feature = await api.send<{ meter_id: string }>('POST', '/features', {
    name,
    type: 'metered',
    meter: { name, ...meter },
  });
  await api.send('POST', '/prices', {
    plan_id: planId,
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    currency: 'eur',
    amount: '1.6',
    meter_id: feature.meter_id,
  });
  await api.send('POST', `/plans/${planId}/sync/subscriptions`);
}

async function sendFlights(
  api: DemoClient,
  files: FileServer,
  flights: readonly Flight[],
  codes: ReadonlySet<string>,
  suffix: string,
): Promise<void> {
  const wanted = flights
    .map((flight, index) => usageEvent(flight, index, suffix))
    .filter((_, index) => codes.has(flights[index]!.origin));
  const importing = importEvents(api, files, wanted.slice(0, wanted.length / 2), suffix);
  const events = wanted.slice(wanted.length / 2);
  const batches = Array.from({ length: Math.ceil(events.length / batchSize) }, (_, index) =>
    events.slice(index * batchSize, (index + 1) * batchSize),
  );
  await inParallel(batches, lanes, (batch) => api.send('POST', '/events/bulk', { events: batch }));
  await importing;
}

/** Half of the flights come in a file, without ids: a record that is imported twice is billed twice. */
async function importEvents(
  api: DemoClient,
  files: FileServer,
  events: readonly ReturnType<typeof usageEvent>[],
  suffix: string,
): Promise<void> {
  const lines = events.map(({ event_id: _, ...event }) => JSON.stringify(event));
  const file_url = files.put(`flights${suffix}.ndjson`, lines.join('\n'));
  const task = { task_type: 'IMPORT', entity_type: 'EVENTS', file_type: 'JSON', file_url };
  const { id } = await api.send<{ id: string }>('POST', '/tasks', task);
  const end = performance.now() + advanceLimitMs;
  for (;;) {
    const made = await api.send<{ task_status: string; error_summary: string | null }>('GET', `/tasks/${id}`);
    if (made.task_status === 'COMPLETED') return;
    if (made.task_status === 'FAILED' || performance.now() > end) {
      throw new Error(`the import ${id} is ${made.task_status}: ${made.error_summary}`);
    }
    await delay(lookEveryMs);
  }
}

async function advance(api: DemoClient, clockId: string, to: string): Promise<void> {
  await api.send('POST', `/test-clocks/${clockId}/advance`, { to });
  let stands = { at: '', since: performance.now() };
  for (;;) {
    const clock = await api.send<{ clock_status: string; frozen_time: string }>('GET', `/test-clocks/${clockId}`);
    if (clock.clock_status === 'ready') return;
    if (clock.frozen_time !== stands.at) stands = { at: clock.frozen_time, since: performance.now() };
    if (performance.now() > stands.since + advanceLimitMs)
      throw new Error(`the clock ${clockId} stands at ${clock.frozen_time} on its way to ${to}`);
    await delay(lookEveryMs);
  }
}
