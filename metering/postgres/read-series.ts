import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { bucketPoints, seriesQuestions, windowsToAsk } from '../series.ts';
import type { SeriesWindow, SeriesWindows } from '../series-window.ts';
import type { UsageAnswer, UsageQuestion, UsageSeries } from '../usage-store.ts';
import { type MeterShape, meterShapes } from './meter-shape.ts';
import { bucketSizeOf, hasRows } from './read-buckets.ts';
import { readUsage } from './read-usage.ts';

/** How an engine answers the questions a series is made of. */
export interface SeriesReader {
  usage(questions: readonly UsageQuestion[]): Promise<ReadonlyMap<string, UsageAnswer>>;
  /** The whole, and what each window measured that has an event. */
  windows(
    question: UsageQuestion,
    pieces: readonly SeriesWindow[],
    shape: MeterShape | undefined,
  ): Promise<UsageSeries>;
}

/**
 * Answers a question and the windows it is cut into. Usage with buckets is read once and its buckets added up; windows
 * smaller than buckets become buckets. Usage by groups alone has a bucket for each window. The rest asks one question a
 * window, in the same statement as the whole. Throws as `readUsage` does. spec: catalogue-and-metering §7.2 – §7.4
 */
export async function readSeries(
  sql: Sql,
  scope: Scope,
  question: UsageQuestion,
  windows: SeriesWindows,
  reader: SeriesReader = seriesReader((questions) => readUsage(sql, scope, questions)),
): Promise<UsageSeries> {
  const asked = { ...question, timezone: windows.timezone, billingAnchor: windows.billingAnchor };
  const shape = (await meterShapes(sql, scope, [asked])).get('meterId' in asked ? asked.meterId : '');
  if (!hasRows(asked, shape)) {
    const holding = async (larger: readonly SeriesWindow[]) => {
      const { points } = await reader.windows(asked, larger, shape);
      const starts = new Set(points.map(({ start }) => start));
      return larger.filter(({ start }) => starts.has(start));
    };
    return reader.windows(asked, await windowsToAsk(asked, windows, holding), shape);
  }
  const bucketSize = bucketSizeOf(asked, shape);
  const whole = answerOf(await reader.usage([asked]), asked.key);
  const bucketed =
    bucketSize === null
      ? answerOf(await reader.usage([{ ...asked, bucketSize: windows.windowSize }]), asked.key)
      : whole;
  return { whole, points: bucketPoints(bucketed.buckets ?? [], bucketSize, asked, windows) };
}

/** Reads windows as questions of their own. */
export function seriesReader(usage: SeriesReader['usage']): SeriesReader {
  return {
    usage,
    async windows(asked, pieces) {
      const parts = seriesQuestions(asked, pieces);
      const answers = await usage([asked, ...parts]);
      const points = pieces.flatMap(({ start }, index) => {
        const answer = answerOf(answers, parts[index]?.key ?? '');
        return answer.eventCount > 0 ? [{ start, value: answer.value }] : [];
      });
      return { whole: answerOf(answers, asked.key), points };
    },
  };
}

function answerOf(answers: ReadonlyMap<string, UsageAnswer>, key: string): UsageAnswer {
  const answer = answers.get(key);
  if (!answer) throw new Error(`the usage question ${key} was left unanswered`);
  return answer;
}
