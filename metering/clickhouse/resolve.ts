import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { AggregationType } from '../meter.ts';
import { usageParameters } from '../postgres/read-usage.ts';
import { askedText, memberText } from '../postgres/text/usage-text.ts';
import type { UsageQuestion } from '../usage-store.ts';

/** A question with what the catalogue says about it: PostgreSQL alone knows meters and whose events are whose. */
export interface ResolvedQuestion {
  /** Null for a meter that does not exist. */
  readonly eventText: string | null;
  /** The name's number; null where no event has it. */
  readonly eventName: number | null;
  readonly type: AggregationType;
  readonly field: string | null;
  readonly multiplier: string | null;
  /** The meter whose expression is the value; 0 without an expression. */
  readonly expressionMeter: number;
  readonly groupBy: string | null;
  readonly filters: readonly { readonly key: string; readonly values: readonly string[] }[];
  /** Where the interval begins, in microseconds and as text. */
  readonly began: string;
  readonly beganText: string;
  /** Null for everybody. */
  readonly subjects: readonly string[] | null;
  /** Each subject with its own time; null where all of them count in all of the question's. */
  readonly spans: readonly SubjectSpan[] | null;
  /** Events of its interval were dropped by retention, before or after they were fed. */
  readonly lacksEvents: boolean;
}

/** From when until when a subject counts, in microseconds; null for no limit. */
export interface SubjectSpan {
  readonly subject: string;
  readonly since: bigint | null;
  readonly until: bigint | null;
}

interface ResolvedRow {
  ord: number;
  event_text: string | null;
  event_name: number | null;
  type: AggregationType;
  field: string | null;
  multiplier: string | null;
  expression_meter: number;
  group_by: string | null;
  filters: ResolvedQuestion['filters'];
  began: string;
  began_text: string;
  subjects: string[] | null;
  spans: [subject: string, since: string | null, until: string | null][] | null;
  lacks_events: boolean;
  [column: string]: unknown;
}

/** Looks up what questions are about, in one statement, whatever their number; the answers are in their order. */
export async function resolveQuestions(
  sql: Sql,
  scope: Scope,
  env: number,
  questions: readonly UsageQuestion[],
): Promise<ResolvedQuestion[]> {
  const isEverybody = (question: UsageQuestion) => !question.customerIds && !question.externalCustomerIds;
  const values = usageParameters(env, scope, questions);
  // Everybody is no list.
  values[12] = questions.map(() => false);
  const rows = await sql.rows<ResolvedRow>(resolvedText, values);
  return rows.map((row) => ({
    eventText: row.event_text,
    eventName: row.event_name,
    type: row.type,
    field: row.field,
    multiplier: row.multiplier,
    expressionMeter: row.expression_meter,
    groupBy: row.group_by,
    filters: row.filters,
    began: row.began,
    beganText: row.began_text,
    subjects: isEverybody(questions[row.ord]!) ? null : (row.subjects ?? []),
    spans: row.spans?.some(([, since, until]) => since !== null || until !== null) ? row.spans.map(spanOf) : null,
    lacksEvents: row.lacks_events,
  }));
}

function spanOf([subject, since, until]: [string, string | null, string | null]): SubjectSpan {
  return { subject, since: since === null ? null : BigInt(since), until: until === null ? null : BigInt(until) };
}

const resolvedText = `
with asked as materialized (${askedText}
), question as materialized (
  select asked.*, name.number as event_name from asked
  left join usage.event_name name on name.env = $1 and name.name = asked.event_text
), ${memberText}
), owned as (
  select ord, array_agg(distinct subject::text) as subjects, json_agg(json_build_array(subject::text,
    (extract(epoch from since) * 1000000)::bigint::text, (extract(epoch from until) * 1000000)::bigint::text)) as spans
  from member group by ord
)
select q.ord, q.event_text, q.event_name, q.type, q.field, q.multiplier, q.group_by, q.filters,
  case when q.program is null then 0 else q.meter end as expression_meter,
  (extract(epoch from q.began) * 1000000)::bigint::text as began,
  to_char(q.began at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as began_text,
  owned.subjects, owned.spans,
  exists (select from usage.dropped_usage d where d.env = $1 and d.event_name = q.event_name and d.dropped_until > q.began
    and (owned.subjects is null or d.subject = any(owned.subjects::bigint[]))) as lacks_events
from question q left join owned using (ord)
order by q.ord`;
