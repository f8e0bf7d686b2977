import { instantText } from '../../../db/rows/columns.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { type Before, beforeEach, type DueEvent, type DueRow, dueColumns, dueEvent } from './due-event.ts';

/** A replay as its sender works at it. */
export interface ReplayTask {
  id: string;
  newIds: boolean;
  number: number;
  position: string;
  upToPosition: string;
}

/** Events of a replay that are next, and the place behind which more of it may be. */
export interface ReplayPage {
  task: ReplayTask;
  events: { event: DueEvent; before: Before }[];
  scanned: bigint;
}

/** Places of the feed that are looked at for one page; of events that were given up so many are read. */
const pageSize = 100;

/**
 * Takes the work that is next at an endpoint, a single event before a replay, for a sender of this `epoch`, and reads on in it. Null where
 * there is none. design: people-and-events §B 22
 */
export async function nextReplayPage(tx: ScopedSql, endpointId: string, epoch: number): Promise<ReplayPage | null> {
  const [row] = await tx.rows<TaskRow>(takeText, [endpointId, epoch]);
  if (!row) return null;
  const { startTime, endTime, eventTypes, onlyFailed, ...task } = row;
  const times = [startTime && instantText(startTime), endTime && instantText(endTime)];
  const from = BigInt(task.position);
  const upTo = BigInt(task.upToPosition);
  const end = onlyFailed || from + BigInt(pageSize) > upTo ? upTo : from + BigInt(pageSize);
  const values = [tx.scope.environmentId, String(from), String(end), ...times, eventTypes];
  const rows = await (onlyFailed
    ? tx.rows<DueRow>(failedText, [...values, endpointId, pageSize])
    : tx.rows<DueRow>(pageText, values));
  const events = rows.map(dueEvent);
  const last = events.at(-1);
  const before = await beforeEach(tx, endpointId, events);
  return {
    task,
    events: events.map((event, index) => ({ event, before: before[index] ?? { previous: 0, skipped: 0 } })),
    scanned: onlyFailed && last && events.length === pageSize ? last.place : end,
  };
}

/** Events of a replay that were sent since it was last written down. */
export interface ReplayProgress {
  id: string;
  endpointId: string;
  epoch: number;
  /** Place up to which all of them are sent. */
  position: bigint;
  /** Number of events up to there that were received, and of those that were not. */
  received: number;
  failed: number;
  /** Every event that was received, also behind that place. */
  receivedIds: readonly string[];
}

/**
 * Writes down how far a replay has come, and that events which were given up are received now. Answers true when that was its end. Nothing but
 * the latter is written where it was cancelled or another sender works at it by now. design: people-and-events §B 22
 */
export async function saveReplay(tx: ScopedSql, progress: ReplayProgress): Promise<boolean> {
  const { id, endpointId, epoch, position, received, failed, receivedIds } = progress;
  const now = new Date().toISOString();
  if (receivedIds.length > 0) await tx.send(clearText, [endpointId, receivedIds, now]);
  const [saved] = await tx.rows<{ state: string }>(saveText, [id, epoch, String(position), received, failed, now]);
  return saved?.state === 'completed';
}

type TaskRow = ReplayTask & {
  startTime: string | null;
  endTime: string | null;
  eventTypes: string[];
  onlyFailed: boolean;
};

const takeText = `
update webhook_replay set epoch = $2 where id = (
  select id from webhook_replay where endpoint_id = $1 and state = 'running' and epoch <= $2 order by event_id = '', id limit 1)
returning id, new_ids as "newIds", number, position::text as position, up_to_position::text as "upToPosition",
  start_time as "startTime", end_time as "endTime", event_types as "eventTypes", only_failed as "onlyFailed"`;

const wanted = `f.feed_position > $2::bigint and f.feed_position <= $3::bigint
  and ($4::timestamptz is null or (e.created_at >= $4 and e.created_at < $5::timestamptz
    and case when cardinality($6::text[]) = 0 then e.event_name <> 'event.rejected' else e.event_name = any($6) end))`;

const pageText = `
select ${dueColumns} from outbox_feed f join outbox_event e on e.id = f.event_id
where f.environment_id = $1 and ${wanted} order by f.feed_position`;

const failedText = `
select ${dueColumns} from webhook_skip s
join outbox_feed f on f.environment_id = $1 and f.event_id = s.event_id join outbox_event e on e.id = s.event_id
where s.endpoint_id = $7 and s.received_at is null and ${wanted} order by f.feed_position limit $8`;

const clearText = `
update webhook_skip set received_at = $3 where endpoint_id = $1 and event_id = any($2) and received_at is null`;

const saveText = `
update webhook_replay set position = $3::bigint, received = received + $4, failed = failed + $5,
  state = case when $3::bigint >= up_to_position then 'completed' else state end,
  ended_at = case when $3::bigint >= up_to_position then $6::timestamptz end
where id = $1 and epoch = $2 and state = 'running' returning state`;
