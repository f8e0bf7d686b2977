import type { Sql } from '../../db/transaction.ts';
import type { ExpressionProgram } from '../expression-program.ts';
import { type FeedState, writtenSince } from './feed-state.ts';
import { type KeptEvent, keptEventColumns, type MeasuredEvent, measuredEvent } from './measured-event.ts';

/** Above so many events that have not arrived, PostgreSQL answers by itself. */
const maxRecent = 20_000;

export interface RecentEvent extends KeptEvent {
  readonly measured: MeasuredEvent;
}

/** What PostgreSQL knows and ClickHouse does not. */
export interface Recent {
  /** Null for too many. */
  readonly events: readonly RecentEvent[] | null;
  /** Events that ClickHouse counts still. */
  readonly voids: readonly { readonly seq: string; readonly voided: string }[];
  /** As of when: what PostgreSQL knows now. */
  readonly watermark: string;
  /** The expressions of meters, for events that have not arrived. */
  readonly programs: ReadonlyMap<number, ExpressionProgram>;
}

interface RecentRow extends KeptEvent {
  watermark: string;
  is_new: boolean | null;
}

/**
 * The events and voids that the engine has not been fed, of some event names and subjects: what makes an answer say all that
 * was acknowledged before it. design: usage.md The engine contract
 */
export async function readRecent(
  sql: Sql,
  env: number,
  state: FeedState,
  about: { eventNames: readonly number[]; subjects: readonly string[] | null; meters: readonly number[] },
): Promise<Recent> {
  const rows = await sql.rows<RecentRow & Record<string, unknown>>(recentText, [
    env,
    state.snapshot,
    about.eventNames,
    about.subjects === null,
    about.subjects ?? [],
    maxRecent + 1,
  ]);
  const fresh = rows.filter((row) => row.is_new === true);
  const voids = rows.filter((row) => row.is_new === false);
  return {
    events: fresh.length > maxRecent ? null : fresh.map((row) => ({ ...row, measured: measuredEvent(row.props) })),
    voids: voids.map((row) => ({ seq: row.seq, voided: row.voided ?? '0' })),
    watermark: rows[0]?.watermark ?? '',
    programs: await readPrograms(sql, about.meters),
  };
}

async function readPrograms(sql: Sql, meters: readonly number[]): Promise<Map<number, ExpressionProgram>> {
  if (meters.length === 0) return new Map();
  const rows = await sql.rows<{ number: number; program: ExpressionProgram }>(
    'select number, expression_program as program from meter where number = any($1::int[])',
    [meters],
  );
  return new Map(rows.map(({ number, program }) => [number, program]));
}

const selected = `e.event_name = any($3::int[]) and ($4 or e.subject = any($5::bigint[]))`;

const recentText = `
select now.watermark, found.*
from (select pg_current_snapshot()::text || '@' || extract(epoch from clock_timestamp())::text as watermark) now
left join (
  (select true as is_new, ${keptEventColumns} from usage.event e
   where e.env = any(array[$1::int, -$1::int]) and ${selected} and ${writtenSince('$2::pg_snapshot')} limit $6)
  union all
  select false as is_new, ${keptEventColumns} from usage.event e
  where e.env = -$1::int and ${selected} and not pg_visible_in_snapshot(e.voided, $2::pg_snapshot)
) found on true`;
