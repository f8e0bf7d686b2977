import { isDeepStrictEqual } from 'node:util';
import { compareText } from '../../billing/text-order.ts';
import type { MeterFilter } from '../../db/entities/catalogue/meter.ts';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction, type Sql } from '../../db/transaction.ts';
import type { Evaluation } from '../../metering/evaluate.ts';
import { prepareEvent } from '../../metering/event.ts';
import { utcInstant } from '../../metering/timestamp.ts';
import type { UsageQuestion, UsageStore } from '../../metering/usage-store.ts';
import { createSandbox } from '../../services/platform/tenant.ts';
import { eventListener } from '../support/event-listener.ts';
import { newCustomer, newMeter } from '../support/metering.ts';
import type { TestedEngine } from '../support/tested-engine.ts';
import type { UsageSource, VectorEvent } from './usage-source.ts';

interface Answering {
  readonly database: Database;
  /** Over the tables of that database; all must answer alike. */
  readonly engines: readonly Pick<TestedEngine, 'store' | 'settle' | 'passedOn'>[];
  /** Hears of each vector that they are asked about. */
  readonly onAsked?: () => void;
}

type Ask<T> = (store: UsageStore, sql: Sql, scope: Scope) => Promise<T>;

/**
 * Vectors answered by usage engines: the events of each are sent to an environment of their own in the order they came, and
 * asked about by the contract of the engines. An engine is asked when it has taken in half of them, and when it has taken
 * in all; it must answer both times the same, the second time by itself, and every engine the same as the others.
 */
export function storeSource(answering: Answering): UsageSource {
  const told = (events: readonly VectorEvent[], evaluation: Evaluation) => tell(answering, events, evaluation);
  return {
    async usage(events, evaluation) {
      const { question, asked } = await told(events, evaluation);
      return asked(async (store, sql, scope) => {
        const { value, eventCount, buckets } = (await store.usage(sql, scope, [question])).get(question.key)!;
        return { value, eventCount, buckets: buckets && [...buckets] };
      });
    },
    async series(events, evaluation, windows) {
      const { question, asked } = await told(events, evaluation);
      return asked(async (store, sql, scope) => [...(await store.series(sql, scope, question, windows)).points]);
    },
    async eachEvent(events, evaluation) {
      const { question, asked } = await told(events, evaluation);
      return asked(async (store, sql, scope) => {
        const { told: heard, begin } = eventListener();
        await store.eachEvent(sql, scope, [{ ...question, begin }]);
        return heard.events;
      });
    },
    async page(events, request) {
      const { asked } = await told(events, { aggregation: { type: 'COUNT' }, filters: [], ...always });
      return asked(async (store, sql, scope) => {
        const whole = { ...always, offset: 0, sort: 'timestamp', order: 'desc', ...request } as const;
        const page = await store.events(sql, scope, whole);
        const rows = page.events.map(({ id, timestamp }) => ({ id, timestamp }));
        return { rows, hasMore: page.hasMore, totalCount: page.totalCount };
      });
    },
  };
}

const always = { from: '0001-01-01T00:00:00.000000Z', to: '9999-12-31T23:59:59.999999Z' };
const subscriber = 'subscriber';

/** A meter, its customers and half of its events; `asked` sends the rest and has every engine answer. */
async function tell(answering: Answering, events: readonly VectorEvent[], evaluation: Evaluation) {
  const { database, engines } = answering;
  const { tenantId, environmentId, userId } = await createSandbox(database, { tenantName: 'Vector' });
  const scope = { tenantId, environmentId, actor: userId, requestId: '' };
  const { aggregation, filters } = evaluation;
  const meter = await newMeter(database, scope, aggregation, { eventName: 'told', filters: filters as MeterFilter[] });
  const ordered = events.toSorted((a, b) => compareText(arrival(a), arrival(b)) || compareText(a.id, b.id));
  const half = Math.ceil(ordered.length / 2);
  await send(engines[0]!.store, scope, ordered.slice(0, half));
  for (const { settle } of engines) await settle();
  // The customers come later than their first events.
  const [own, ...others] = [...new Set([subscriber, ...events.map(userOf)])];
  const customerIds = [await newCustomer(database, scope, own!)];
  const interval = { from: instant(evaluation.from), to: instant(evaluation.to) };
  const inherited: { customerId: string; from: string; to: null }[] = [];
  for (const other of others) {
    inherited.push({ customerId: await newCustomer(database, scope, other), from: interval.from, to: null });
  }
  await send(engines[0]!.store, scope, ordered.slice(half));
  const { timezone = 'UTC', billingAnchor = null } = evaluation;
  const about = { meterId: meter.id, customerIds, inherited, ...interval, timezone, billingAnchor };
  const question: UsageQuestion & { meterId: string; customerIds: string[] } = { key: 'asked', ...about };
  return { question, asked: <T>(ask: Ask<T>) => askAll(answering, scope, ask) };
}

async function send(store: UsageStore, scope: Scope, events: readonly VectorEvent[]): Promise<void> {
  const prepared = events.map((event) => {
    const { id, timestamp, properties } = event;
    const named = { event_name: 'told', external_customer_id: userOf(event), event_id: id };
    return prepareEvent({ ...named, timestamp, properties });
  });
  if (prepared.length > 0) await store.append(scope, prepared);
}

/** The one answer of all engines, before and after they took everything in. Throws where there are several. */
async function askAll<T>({ database, engines, onAsked }: Answering, scope: Scope, ask: Ask<T>): Promise<T> {
  onAsked?.();
  const answers: T[] = [];
  const askEach = async () => {
    for (const { store } of engines)
      answers.push(await inSqlTransaction(database, scope, (tx) => ask(store, tx, scope)));
  };
  await askEach();
  for (const { settle } of engines) await settle();
  const excused = engines.map(({ passedOn }) => passedOn.length);
  await askEach();
  const passedOn = engines.flatMap((engine, index) => engine.passedOn.slice(excused[index]));
  if (passedOn.length > 0) throw new Error(`PostgreSQL answered in the engine's place: ${passedOn.join('; ')}`);
  const [first] = answers;
  const differs = answers.some((answer) => !isDeepStrictEqual(answer, first));
  if (differs) throw new Error(`answers differ: ${answers.map((answer) => JSON.stringify(answer)).join(' | ')}`);
  return first!;
}

function userOf({ user }: VectorEvent): string {
  return user ?? subscriber;
}

function arrival({ ingestedAt }: VectorEvent): string {
  return instant(ingestedAt);
}

function instant(text: string): string {
  return utcInstant(text) ?? text;
}
