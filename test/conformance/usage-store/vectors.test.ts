import { expect, test } from 'vitest';
import { compareText } from '../../../billing/text-order.ts';
import type { Scope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import type { EventInput } from '../../../metering/event.ts';
import { utcInstant } from '../../../metering/timestamp.ts';
import type { UsageQuestion } from '../../../metering/usage-store.ts';
import { testDatabase } from '../../support/database.ts';
import { append, newMeter } from '../../support/metering.ts';
import { openEngine, usageEngines } from '../../support/usage-engines.ts';
import { matches } from '../../vectors/compare.ts';
import { readVectors } from '../../vectors/read.ts';

const kinds = new Set(['aggregate', 'windowed_usage']);
const folder = new URL('../../vectors/cases', import.meta.url).pathname;

const { database, scope } = await testDatabase();
const engines = await Promise.all(usageEngines.map((engine) => openEngine(engine, database)));
const settle = async () => {
  for (const engine of engines) await engine.settle();
};

interface Given {
  aggregation: Parameters<typeof newMeter>[2];
  filters?: { key: string; values: string[] }[];
  period?: { start: string; end: string };
  start_time: string;
  end_time: string;
  timezone?: string;
  billing_anchor?: string | null;
  window_size: string;
  events: { id: string; timestamp: string; ingested_at?: string; properties?: Record<string, unknown> }[];
}

/** The events of a vector in the order they came, under names and ids of its own, and the question it asks. */
async function told(
  id: string,
  { aggregation, filters = [], events, ...given }: Given,
  within: Scope,
): Promise<UsageQuestion> {
  const meter = await newMeter(database, within, aggregation, { eventName: id, filters });
  const ordered = events.toSorted((a, b) => compareText(ingested(a), ingested(b)));
  const wire = ordered.map((event): Partial<EventInput> => {
    const { timestamp, properties = {} } = event;
    return { event_name: id, event_id: `${id} ${event.id}`, timestamp, properties };
  });
  if (wire.length > 0) await append(engines[0]!.store, within, wire);
  return {
    key: id,
    meterId: meter.id,
    externalCustomerIds: ['acme'],
    from: instant(given.period?.start ?? given.start_time),
    to: instant(given.period?.end ?? given.end_time),
    timezone: given.timezone ?? 'UTC',
    billingAnchor: given.billing_anchor ?? null,
  };
}

function ingested(event: Given['events'][number]): string {
  return instant(event.ingested_at ?? event.timestamp);
}

function instant(text: string): string {
  return utcInstant(text) ?? text;
}

test('the worked cases of usage are what every engine answers', async () => {
  const vectors = readVectors(folder).filter(({ kind }) => kinds.has(kind));
  const asked: { question: UsageQuestion; given: Given; kind: string; expected: unknown }[] = [];
  for (const [index, { id, kind, given, expect: expected }] of vectors.entries()) {
    const question = await told(id, given as Given, scope);
    asked.push({ question, given: given as Given, kind, expected });
    // Of the last third the second engine knows nothing yet.
    if (index === Math.floor((vectors.length * 2) / 3)) await settle();
  }
  for (const moment of ['early', 'settled']) {
    for (const [index, { store }] of engines.entries()) {
      const answers = await inSqlTransaction(database, scope, (tx) =>
        store.usage(
          tx,
          scope,
          asked.map(({ question }) => question),
        ),
      );
      for (const { question, given, kind, expected } of asked) {
        const series = () =>
          inSqlTransaction(database, scope, (tx) =>
            store.series(tx, scope, question, {
              windowSize: given.window_size,
              timezone: question.timezone ?? 'UTC',
              billingAnchor: question.billingAnchor ?? null,
            }),
          );
        const found =
          kind === 'aggregate'
            ? { value: answers.get(question.key)?.value }
            : { results: (await series()).points.map(({ start, value }) => ({ window_size: start, value })) };
        if (matches(expected, found)) continue;
        expect({ id: question.key, engine: usageEngines[index], moment, ...found }).toEqual(expected);
      }
    }
    await settle();
  }
});
