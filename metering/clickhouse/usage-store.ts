import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { UsageAnswer, UsageQuestion, UsageStore } from '../usage-store.ts';
import { NotAnswered } from './answer.ts';
import { type ClickHouse, ClickHouseFailed } from './connection.ts';
import { readBreakdown, readBucketBreakdown } from './read-breakdown.ts';
import { readEachEvent } from './read-each-event.ts';
import { readSeries } from './read-series.ts';
import { readUsage } from './read-usage.ts';

export interface ClickHouseUsageOptions {
  readonly clickhouse: ClickHouse;
  /** The engine that stores events and decides what is new. */
  readonly postgres: UsageStore;
  /** Hears why PostgreSQL answered a question in ClickHouse's place: it was not fed far enough, or it failed. */
  readonly onPassedOn: (reason: Error) => void;
}

/**
 * The usage engine whose aggregates are read from ClickHouse. PostgreSQL stores events, decides what is new, and knows what has
 * not been fed yet, which every answer counts too: what was acknowledged is visible. What ClickHouse cannot answer, PostgreSQL
 * does, with the same digits. design: usage.md The engine contract
 */
export function openClickHouseUsageStore(options: ClickHouseUsageOptions): UsageStore {
  const { clickhouse, postgres } = options;
  const answered = <T>(ask: () => Promise<T>, otherwise: (reason: PassedOn) => Promise<T>) =>
    answeredBy(options, ask, otherwise);
  return {
    ...postgres,
    usage: (sql, scope, questions) => readAll(options, sql, scope, questions),
    eachEvent: (sql, scope, questions) =>
      answered(
        () => readEachEvent(clickhouse, sql, scope, questions),
        () => postgres.eachEvent(sql, scope, questions),
      ),
    series: (sql, scope, question, windows) =>
      answered(
        () => readSeries(clickhouse, sql, scope, question, windows),
        () => postgres.series(sql, scope, question, windows),
      ),
    breakdown: (sql, scope, request) =>
      answered(
        () => readBreakdown(clickhouse, sql, scope, request),
        () => postgres.breakdown(sql, scope, request),
      ),
    bucketBreakdown: (sql, scope, request) =>
      answered(
        () => readBucketBreakdown(clickhouse, sql, scope, request),
        () => postgres.bucketBreakdown(sql, scope, request),
      ),
    async close() {
      await postgres.close();
      await clickhouse.close();
    },
  };
}

type PassedOn = NotAnswered | ClickHouseFailed;

/** A refusal, and an error of PostgreSQL, is nobody else's to answer. */
async function answeredBy<T>(
  { onPassedOn }: ClickHouseUsageOptions,
  ask: () => Promise<T>,
  otherwise: (reason: PassedOn) => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof NotAnswered || error instanceof ClickHouseFailed)) throw error;
    onPassedOn(error);
    return otherwise(error);
  }
}

/** Questions that only PostgreSQL can answer are PostgreSQL's; the others of the call are not. */
async function readAll(
  options: ClickHouseUsageOptions,
  sql: Sql,
  scope: Scope,
  questions: readonly UsageQuestion[],
): Promise<Map<string, UsageAnswer>> {
  const { clickhouse, postgres } = options;
  return answeredBy(
    options,
    () => readUsage(clickhouse, sql, scope, questions),
    async (reason) => {
      const keys = reason instanceof NotAnswered ? reason.keys : null;
      if (keys === null || keys.size === questions.length) return postgres.usage(sql, scope, questions);
      const late = questions.filter(({ key }) => keys.has(key));
      const others = questions.filter(({ key }) => !keys.has(key));
      return new Map([...(await postgres.usage(sql, scope, late)), ...(await readAll(options, sql, scope, others))]);
    },
  );
}
