import { expect } from 'vitest';
import type { Database } from '../../../db/orm.ts';
import type { Scope } from '../../../db/scope.ts';
import { inSqlTransaction, type Sql } from '../../../db/transaction.ts';
import type { EventInput } from '../../../metering/event.ts';
import type { SeriesWindows } from '../../../metering/series-window.ts';
import type { BreakdownRequest, BucketBreakdownRequest } from '../../../metering/usage-breakdown.ts';
import type { UsageMeasure, UsageQuestion, UsageStore } from '../../../metering/usage-store.ts';
import { testDatabase } from '../../support/database.ts';
import { append, january } from '../../support/metering.ts';
import { openEngine, type TestedEngine, type UsageEngine } from '../../support/usage-engines.ts';

type Asked = UsageMeasure & Partial<UsageQuestion>;

/** An engine over a database of its own, asked as the suite asks. */
export interface SuiteEngine extends TestedEngine {
  readonly database: Database;
  readonly scope: Scope;
  append(events: readonly Partial<EventInput>[]): Promise<void>;
  /** An answer, the same before the engine has taken in what was appended and afterwards. */
  usage(question: Asked): Promise<{ value: string; eventCount: number; rows: string[]; watermark: string }>;
  series(question: Asked, windows: Partial<SeriesWindows> & { windowSize: string }): Promise<Record<string, string>>;
  breakdown(request: Partial<BreakdownRequest>): Promise<string[]>;
  bucketBreakdown(request: Partial<BucketBreakdownRequest>): Promise<string[]>;
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** An answer that is the same before the engine has taken in what was appended and afterwards. */
  settled<T>(ask: () => Promise<T>, comparable?: (answer: T) => unknown): Promise<T>;
}

/** Opens the engine of a file of the suite. */
export async function suiteEngine(engine: UsageEngine): Promise<SuiteEngine> {
  const { database, scope } = await testDatabase();
  const tested = await openEngine(engine, database);
  const { store } = tested;
  const read = <T>(work: (sql: Sql) => Promise<T>) => inSqlTransaction(database, scope, work);
  /** Asks twice: of what was not taken in yet, and of what was. */
  async function settled<T>(
    ask: () => Promise<T>,
    comparable: (answer: T) => unknown = (answer) => answer,
  ): Promise<T> {
    const early = await ask();
    await tested.settle();
    const late = await ask();
    expect(comparable(late)).toEqual(comparable(early));
    return late;
  }
  return {
    ...tested,
    database,
    scope,
    read,
    settled,
    append: (events) => append(store, scope, events),
    usage: (question) =>
      settled(
        async () => {
          const whole = wholeQuestion(question);
          const answer = (await read((sql) => store.usage(sql, scope, [whole]))).get('q')!;
          const rows = (answer.buckets ?? []).map(({ start, group, value }) => `${start} ${group}=${value}`);
          return { value: answer.value, eventCount: answer.eventCount, rows, watermark: answer.watermark };
        },
        ({ watermark: _, ...answer }) => answer,
      ),
    series: (question, windows) =>
      settled(async () => {
        const whole = { timezone: 'UTC', billingAnchor: null, ...windows };
        const { points } = await read((sql) => store.series(sql, scope, wholeQuestion(question), whole));
        return Object.fromEntries(points.map(({ start, value }) => [start, value]));
      }),
    breakdown: (request) =>
      settled(async () =>
        breakdownRows(await read((sql) => store.breakdown(sql, scope, { ...noBreakdown, ...request }))),
      ),
    bucketBreakdown: (request) =>
      settled(async () => {
        const whole = { ...noBreakdown, bucketing: { size: 'HOUR', timezone: 'UTC', billingAnchor: null }, ...request };
        const rows = await read((sql) => store.bucketBreakdown(sql, scope, whole));
        return rows.map(
          ({ source, properties, start, value }) => `${source} ${Object.values(properties)} ${start} ${value}`,
        );
      }),
  };
}

const noBreakdown: BreakdownRequest = {
  questions: [],
  windows: [],
  bySource: false,
  byProperties: [],
  sources: [],
  everyMeasure: false,
};

function breakdownRows(rows: Awaited<ReturnType<UsageStore['breakdown']>>): string[] {
  return rows.map(({ source, properties, window, value, eventCount, greatest, latest, distinctCount }) =>
    [source, Object.values(properties).join(), window, value, eventCount, greatest, latest, distinctCount].join(' '),
  );
}

/** January of the customer `acme` unless it says otherwise. */
function wholeQuestion(question: Asked): UsageQuestion {
  const who = question.customerIds ? {} : { externalCustomerIds: ['acme'] };
  return { key: 'q', ...january, ...who, ...question } as UsageQuestion;
}
