import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { aggregateValue } from '../aggregate.ts';
import { readSeries as readSeriesBy, seriesReader } from '../postgres/read-series.ts';
import type { SeriesWindow, SeriesWindows } from '../series-window.ts';
import { microsecondsOf } from '../timestamp.ts';
import type { UsageQuestion, UsageSeries } from '../usage-store.ts';
import { prepare, readCuts, sumsOf } from './answer.ts';
import type { ClickHouse } from './connection.ts';
import { readUsage, resolvedAt, wholeAnswer } from './read-usage.ts';

/**
 * Answers a question and its windows as the PostgreSQL engine does; windows of one quantity are one statement, whatever their
 * number. Throws `NotAnswered` besides. spec: catalogue-and-metering §7.2 – §7.4
 */
export function readSeries(
  clickhouse: ClickHouse,
  sql: Sql,
  scope: Scope,
  question: UsageQuestion,
  windows: SeriesWindows,
): Promise<UsageSeries> {
  const single = seriesReader((questions) => readUsage(clickhouse, sql, scope, questions));
  return readSeriesBy(sql, scope, question, windows, {
    usage: single.usage,
    windows(asked, pieces, shape) {
      // What never resets counts from the start of its history in each window.
      if (asked.startOfHistory && shape?.neverResets) return single.windows(asked, pieces, shape);
      return readWindows(clickhouse, sql, scope, asked, pieces);
    },
  });
}

async function readWindows(
  clickhouse: ClickHouse,
  sql: Sql,
  scope: Scope,
  asked: UsageQuestion,
  pieces: readonly SeriesWindow[],
): Promise<UsageSeries> {
  const prepared = await prepare(clickhouse, sql, scope, [asked]);
  const resolved = resolvedAt(prepared, asked, 0);
  const whole = {
    question: resolved,
    from: microsecondsOf(asked.from),
    to: microsecondsOf(asked.to),
    grid: null,
    sources: [],
    groups: [],
    isDistinct: resolved.type === 'COUNT_UNIQUE',
    watermark: asked.watermark ?? null,
  };
  const starts = startsOf(asked, pieces).map(microsecondsOf);
  const windowed = { ...whole, grid: { starts, origins: starts, stepUs: null } };
  const [total = [], rows = []] = await readCuts(
    prepared,
    pieces.length === 0 ? [whole] : [whole, windowed],
    1_000_000,
  );
  const byStart = new Map(rows.map((row) => [row[1], row]));
  const weighed = asked.weighedOver ?? { from: asked.from, to: asked.to };
  const rule = { type: resolved.type, multiplier: resolved.multiplier, ...weighed };
  const points = pieces.flatMap(({ start, from }) => {
    const row = byStart.get(String(microsecondsOf(from)));
    return row ? [{ start, value: aggregateValue(sumsOf(row), rule) }] : [];
  });
  return { whole: wholeAnswer(asked, resolved, total[0], prepared), points };
}

/** Where windows begin, and the time between windows that do not follow each other, which is nobody's. */
function startsOf(asked: UsageQuestion, pieces: readonly SeriesWindow[]): string[] {
  const bounds = new Set([asked.from, ...pieces.flatMap(({ from, to }) => [from, to])]);
  bounds.delete(asked.to);
  return [...bounds];
}
