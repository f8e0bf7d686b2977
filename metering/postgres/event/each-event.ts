import type { GrantFold } from '../../../billing/allowance/grant-usage.ts';
import { refuse } from '../../../billing/refusal.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { EachEventQuestion, MeterEvents } from '../../usage-store.ts';
import { foldHours, hoursOf } from '../each-hour.ts';
import { environmentNumber } from '../environment-number.ts';
import { filterList, usageParameters } from '../read-usage.ts';
import { eachEventText } from '../text/usage-text.ts';
import { utcText } from './stored-event.ts';

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
 * question's own filters is told too, marked. Where they are many and a question has no filters, an hour's events are told added up,
 * unless its fold needs them. All of them are those of one instant, and a page of them is in memory at a time. Throws `not_found`
 * for an unknown meter. spec: catalogue-and-metering §9.2
 */
export async function readEachEvent(
  sql: Sql,
  scope: Scope,
  questions: readonly EachEventQuestion[],
): Promise<Map<string, MeterEvents>> {
  if (questions.length === 0) return new Map();
  const env = await environmentNumber(sql, scope);
  const told = await hoursOf(sql, scope, env, questions);
  if (told === null) return tellEach(sql, scope, env, questions);
  const { watermark } = told;
  const tell = (some: readonly EachEventQuestion[]) => tellEach(sql, scope, env, some, watermark);
  const answers = await tell(questions.filter((_, ord) => !told.questions.has(ord)));
  for (const [ord, { multiplier, hours }] of told.questions) {
    const question = questions[ord]!;
    const fold = question.begin(multiplier);
    await foldHours(question, fold, hours, (part) => tell([part]));
    answers.set(question.key, { fold, watermark });
  }
  return answers;
}

/** Tells the events of all questions through one cursor: those that are there, or those that were at a watermark. */
async function tellEach(
  sql: Sql,
  scope: Scope,
  env: number,
  questions: readonly EachEventQuestion[],
  watermark?: string,
): Promise<Map<string, MeterEvents>> {
  const told = new Map<string, MeterEvents>();
  if (questions.length === 0) return told;
  const asOf = watermark === undefined ? {} : { watermark, asDefinedThen: true as const };
  const unfiltered = questions.map(({ filters: _, begin: __, ...question }) => ({ ...question, ...asOf }));
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
        told.set(question.key, { fold, watermark: watermark ?? row.watermark });
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
