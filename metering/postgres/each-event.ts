import { refuse } from '../../billing/refusal.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { EachEventQuestion, MeterEvents } from '../usage-store.ts';
import { environmentNumber } from './environment-number.ts';
import { filterList, usageParameters } from './read-usage.ts';
import { utcText } from './stored-event.ts';
import { eachEventText } from './usage-text.ts';

interface EventsRow {
  ord: number;
  event_name: string | null;
  multiplier: string | null;
  events: [at: string, id: string, value: string, isOwn: boolean][];
  watermark: string;
  [column: string]: unknown;
}

/**
 * Every event that the meter of each question counts in its interval, by time and id, in one statement; an event that does not
 * meet the question's own filters is there too, marked. Throws `not_found` for an unknown meter.
 * spec: catalogue-and-metering §9.2
 */
export async function readEachEvent(
  sql: Sql,
  scope: Scope,
  questions: readonly EachEventQuestion[],
): Promise<Map<string, MeterEvents>> {
  if (questions.length === 0) return new Map();
  const env = await environmentNumber(sql, scope);
  const unfiltered = questions.map(({ filters: _, ...question }) => question);
  const own = questions.map(({ filters }) => JSON.stringify(filterList(filters)));
  const rows = await sql.rows<EventsRow>(text, [...usageParameters(env, scope, unfiltered), own]);
  return new Map(
    rows.map((row) => {
      const question = questions[row.ord]!;
      if (row.event_name === null) throw refuse('not_found', `meter ${question.meterId} does not exist`);
      const events = row.events.map(([at, id, value, isOwn]) => ({ at, id, value, isOwn }));
      return [question.key, { events, multiplier: row.multiplier, watermark: row.watermark }];
    }),
  );
}

const text = eachEventText(utcText('e.ts'));
