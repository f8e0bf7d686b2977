import type { GrantFold } from '../../billing/grant-usage.ts';
import { refuse } from '../../billing/refusal.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { EachEventQuestion, MeterEvents } from '../usage-store.ts';
import { environmentNumber } from './environment-number.ts';
import { filterList, usageParameters } from './read-usage.ts';
import { utcText } from './stored-event.ts';
import { eachEventText } from './usage-text.ts';

/** A question, whose events follow, or one of its events. */
type ToldRow = { ord: number } & (
  | { watermark: string; event_name: string | null; multiplier: string | null }
  | { watermark: null; at: string; id: string; value: string; is_own: boolean }
);

/** So many events are in memory at a time. */
const pageSize = 2_000;

let cursors = 0;

/**
 * Tells each question every event that its meter counts in its interval, by time and id; an event that does not meet the
 * question's own filters is told too, marked. All of them are read through one cursor, so that they are those of one instant, and
 * a page of them is in memory at a time. Throws `not_found` for an unknown meter. spec: catalogue-and-metering §9.2
 */
export async function readEachEvent(
  sql: Sql,
  scope: Scope,
  questions: readonly EachEventQuestion[],
): Promise<Map<string, MeterEvents>> {
  const told = new Map<string, MeterEvents>();
  if (questions.length === 0) return told;
  const env = await environmentNumber(sql, scope);
  const unfiltered = questions.map(({ filters: _, begin: __, ...question }) => question);
  const own = questions.map(({ filters }) => JSON.stringify(filterList(filters)));
  cursors += 1;
  const cursor = `each_event_${cursors}`;
  const values = [...usageParameters(env, scope, unfiltered), own];
  await sql.rows(`declare ${cursor} no scroll cursor for ${text}`, values);
  let fold: GrantFold | null = null;
  for (;;) {
    const page = await sql.rows<ToldRow>(`fetch ${pageSize} from ${cursor}`);
    for (const row of page) {
      const question = questions[row.ord]!;
      if (row.watermark !== null) {
        if (row.event_name === null) throw refuse('not_found', `meter ${question.meterId} does not exist`);
        fold = question.begin(row.multiplier);
        told.set(question.key, { fold, watermark: row.watermark });
      } else {
        fold?.add({ at: row.at, id: row.id, value: row.value, isOwn: row.is_own });
      }
    }
    if (page.length < pageSize) break;
  }
  await sql.rows(`close ${cursor}`);
  return told;
}

const text = eachEventText(utcText('ts'));
