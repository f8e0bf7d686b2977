import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../../api/plugins/json-body.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { prepareEvent } from '../../../metering/event.ts';
import type { UsageQuestion, UsageStore } from '../../../metering/usage-store.ts';
import { testDatabase } from '../../support/database.ts';
import { parsed, plainText, sumOf } from '../../support/fraction.ts';
import { windowStart } from '../../support/local-clock.ts';
import { newMeter } from '../../support/metering.ts';
import {
  type KnownEvent,
  type KnownMeasure,
  type KnownQuestion,
  type KnownValue,
  knownUsage,
} from '../../support/oracles/usage-oracle.ts';
import { openEngine, type TestedEngine, usageEngines } from '../../support/usage-engines.ts';
import { hourMs, type Scenario, scenario, sizes } from './usage-property.fixture.ts';

const { database, scope } = await testDatabase();
const engines = await Promise.all(usageEngines.map((engine) => openEngine(engine, database)));
const [{ store }] = engines as [TestedEngine];
test('usage of every kind is what plain arithmetic over the events gives', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(scenario, (given) => holdsFor(given)),
    { numRuns: 10 },
  );
});

let streams = 0;

/** Ingests a generated stream, half of the meters before it and half after, and compares every answer. */
async function holdsFor(given: Scenario): Promise<void> {
  const run = randomUUID();
  const origin = Date.parse(given.place.around);
  const before = await metersOf(run, given.measures.slice(0, 8));
  const stream: KnownEvent[] = [];
  for (const [index, batch] of given.batches.entries()) {
    if (index > 0) await settled();
    stream.push(...(await ingested(run, origin, batch)));
  }
  const meters = [...before, ...(await metersOf(run, given.measures.slice(8)))];
  if (given.isSettled) await settled();
  const asked = meters.flatMap((meter) => questionsOf(run, origin, given, meter));
  streams += 1;
  for (const engine of asksOf(streams)) await answersAgree(engine.store, asked, stream, given);
  expect(await inSqlTransaction(database, scope, (tx) => store.verify(tx, scope))).toEqual([]);
}

/** ClickHouse is asked about every third stream: it plans a statement for longer than it adds such a stream up. */
function asksOf(ordinal: number): TestedEngine[] {
  return engines.filter(({ behind }) => behind === null || ordinal % 3 === 1);
}

async function settled(): Promise<void> {
  for (const { settle } of engines) await settle();
}

async function answersAgree(engine: UsageStore, asked: readonly Asked[], stream: KnownEvent[], given: Scenario) {
  const ask = (questions: UsageQuestion[]) =>
    inSqlTransaction(database, scope, (tx) => engine.usage(tx, scope, questions));
  const answers = await ask(asked.map(({ question }) => question));
  for (const { question, measure, known } of asked) {
    const { value, eventCount, rows } = knownUsage(stream, measure, known);
    const answer = answers.get(question.key);
    const found = answer?.buckets?.map((row) => ({ ...row, start: Date.parse(row.start) })) ?? null;
    expect({
      about: about(question, measure),
      value: answer?.value,
      eventCount: answer?.eventCount,
      rows: found,
    }).toEqual({
      about: about(question, measure),
      value,
      eventCount,
      rows: measure.bucketSize || measure.groupBy ? rows : null,
    });
  }
  await seriesAgree(engine, asked, stream, given);
  // At the watermark of their answers the same questions are answered from events alone, and give the same.
  const again = await ask(
    asked.map(({ question }) => ({ ...question, watermark: answers.get(question.key)?.watermark ?? '' })),
  );
  for (const [key, answer] of again) {
    const { value, buckets } = answers.get(key) ?? {};
    expect({ key, value: answer.value, buckets: answer.buckets }).toEqual({ key, value, buckets });
  }
}

function metersOf(run: string, all: readonly KnownMeasure[]) {
  return Promise.all(
    all.map(async (measure) => {
      const aggregation = {
        type: measure.type,
        field: measure.field,
        expression: measure.expression?.text ?? null,
        multiplier: measure.multiplier,
        bucket_size: measure.bucketSize,
        group_by: measure.groupBy,
      };
      const filters = measure.filters.map(({ key, values: of }) => ({ key, values: [...of] }));
      const { id } = await newMeter(database, scope, aggregation, { eventName: run, filters });
      return { id, measure };
    }),
  );
}

async function ingested(run: string, origin: number, batch: Scenario['batches'][number]): Promise<KnownEvent[]> {
  const known = batch.map(({ id, customer, offsetMs: offset, ...properties }) => ({
    id: `${run}-${id}`,
    customer: `${run}-${customer}`,
    atMs: origin + offset,
    properties: Object.fromEntries(
      Object.entries(properties).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    ),
  }));
  const wire = known.map((event) => ({
    event_name: run,
    external_customer_id: event.customer,
    event_id: event.id,
    timestamp: new Date(event.atMs).toISOString(),
    properties: parseJson(propertiesText(event.properties)) as Record<string, unknown>,
  }));
  await store.append(
    scope,
    wire.map((event) => prepareEvent(event)),
  );
  return known;
}

function propertiesText(properties: Readonly<Record<string, KnownValue>>): string {
  return `{${Object.entries(properties)
    .map(([name, { json }]) => `"${name}":${json}`)
    .join(',')}}`;
}

interface Asked {
  question: UsageQuestion;
  measure: KnownMeasure;
  known: KnownQuestion;
}

/** Each interval for one customer and for both; of sums and greatest values also as a price with buckets asks. */
function questionsOf(
  run: string,
  origin: number,
  given: Scenario,
  { id, measure }: { id: string; measure: KnownMeasure },
): Asked[] {
  const anchor = given.anchorDay === null ? null : `2026-01-${String(given.anchorDay).padStart(2, '0')}T12:00:00.000Z`;
  const bucketable = measure.type === 'SUM' || measure.type === 'MAX';
  return given.intervals.flatMap((between, index) =>
    [[`${run}-a`], [`${run}-a`, `${run}-b`]].flatMap((externalCustomerIds) => {
      const [from, to] = [origin + between.from, origin + between.to];
      const { timezone } = given.place;
      const known = { from, to, weighed: { from, to }, customers: externalCustomerIds, timezone, anchor };
      const question = {
        key: `${id} ${index} ${externalCustomerIds.length}`,
        meterId: id,
        externalCustomerIds,
        from: micros(from),
        to: micros(to),
        timezone,
        billingAnchor: anchor,
      };
      const overridden = { ...measure, bucketSize: given.override };
      const priced = {
        question: { ...question, key: `${question.key} override`, bucketSize: given.override },
        measure: overridden,
        known,
      };
      return [{ question, measure, known }, ...(bucketable ? [priced] : [])];
    }),
  );
}

/** A series of windows is the usage of each window; of buckets it is their sum where windows are larger. */
async function seriesAgree(
  engine: UsageStore,
  asked: readonly Asked[],
  stream: readonly KnownEvent[],
  given: Scenario,
): Promise<void> {
  const { windowSize, place } = given;
  for (const { question, measure, known } of asked.filter(({ question: { key } }) => key.endsWith(' 1'))) {
    const windows = { windowSize, timezone: place.timezone, billingAnchor: known.anchor };
    if (known.to - known.from > 20 * 24 * hourMs && windowSize === '15MIN') continue;
    const { points } = await inSqlTransaction(database, scope, (tx) => engine.series(tx, scope, question, windows));
    const found = points.map((point) => ({ start: Date.parse(point.start), value: point.value }));
    expect({ about: about(question, measure), windowSize, found }).toEqual({
      about: about(question, measure),
      windowSize,
      found: knownSeries(stream, measure, known, windowSize),
    });
  }
}

function knownSeries(stream: readonly KnownEvent[], measure: KnownMeasure, known: KnownQuestion, windowSize: string) {
  const whole = knownUsage(stream, measure, known);
  if (measure.bucketSize) {
    const isLarger = sizes.indexOf(windowSize) > sizes.indexOf(measure.bucketSize);
    const startOf = (at: number) => (isLarger ? windowOf(Math.max(at, known.from), windowSize, known) : at);
    const starts = [...new Set(whole.rows.map((row) => startOf(row.start)))];
    return starts.map((start) => {
      const rows = whole.rows.filter((row) => startOf(row.start) === start);
      return { start, value: addedUp(rows.map((row) => row.value)) };
    });
  }
  const inside = stream.filter((event) => event.atMs >= known.from && event.atMs < known.to);
  const starts = [...new Set(inside.map((event) => windowOf(event.atMs, windowSize, known)))].sort((a, b) => a - b);
  return starts.flatMap((start) => {
    const own = stream.map((event) =>
      windowOf(event.atMs, windowSize, known) === start ? event : { ...event, customer: 'nobody' },
    );
    const { value, eventCount } = knownUsage(own, measure, known);
    return eventCount === 0 ? [] : [{ start, value }];
  });
}

function windowOf(at: number, windowSize: string, { timezone, anchor }: KnownQuestion): number {
  return windowStart(at, windowSize, timezone, anchor);
}

function addedUp(all: readonly string[]): string {
  return plainText(sumOf(all.map(parsed)));
}

function micros(instant: number): string {
  return new Date(instant).toISOString().replace('Z', '000Z');
}

function about(question: UsageQuestion, measure: KnownMeasure) {
  return { key: question.key, from: question.from, to: question.to, ...measure, expression: measure.expression?.text };
}
