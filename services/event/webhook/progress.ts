import { instantText } from '../../../db/rows/columns.ts';
import type { ScopedSql, Sql } from '../../../db/transaction.ts';
import { type Delivery, keepDeliveries } from './delivery.ts';

/** An object that waits at an endpoint. */
export interface WaitingLine {
  entityId: string;
  nextSequence: number;
  attempts: number;
  /** Null while it is held. */
  nextAt: string | null;
  failure: string;
  failedSince: string;
}

/** An event that an endpoint will not get by itself. */
export interface SkippedEvent {
  entityId: string;
  sequence: number;
  eventId: string;
  reason: 'failed' | 'stale' | 'dropped';
  consecutive: number;
}

/** Time in which an endpoint gets nothing: its receiver asked for it, or cannot be reached. */
export interface EndpointPause {
  reason: 'asked' | 'unreachable';
  until: string;
}

/** Answers of a receiver lately. Instants are real. design: people-and-events §B 19 */
export interface EndpointReception {
  /** Last receipt; null before the first. */
  receivedAt: string | null;
  /** Last attempt that failed, and its failure in words of a closed list. */
  failedAt: string | null;
  failure: string | null;
  /** Last receipt since the endpoint was made, moved or enabled, else the first attempt that failed; null before both. */
  silentSince: string | null;
  /** First of the attempts that failed since then, and their number. */
  failingSince: string | null;
  failures: number;
}

/** Work of an endpoint's sender since it last wrote. */
export interface Progress {
  endpointId: string;
  epoch: number;
  position: bigint;
  lines: readonly WaitingLine[];
  /** Objects that do not wait any more. */
  freed: readonly string[];
  skipped: readonly SkippedEvent[];
  deliveries: readonly Delivery[];
  pause: EndpointPause | null;
  reception: EndpointReception;
}

/**
 * Writes down how far a sender has come, in one step. False, and nothing is written, when the endpoint was deleted or has another sender
 * by now. design: people-and-events §A 6, B 27
 */
export async function saveProgress(tx: ScopedSql, progress: Progress): Promise<boolean> {
  const { endpointId, epoch, position, lines, freed, skipped, deliveries, pause, reception } = progress;
  const { tenantId, environmentId } = tx.scope;
  const [held] = await tx.rows(
    `update webhook_cursor set position = $3, pause_reason = $4, paused_until = $5,
       received_at = $6, failed_at = $7, failure = $8, silent_since = $9, failing_since = $10, failures = $11
     where endpoint_id = $1 and epoch = $2 returning endpoint_id`,
    [
      ...[endpointId, epoch, String(position), pause?.reason ?? null, pause?.until ?? null],
      ...[reception.receivedAt, reception.failedAt, reception.failure],
      ...[reception.silentSince, reception.failingSince, reception.failures],
    ],
    'webhook-progress',
  );
  if (!held) return false;
  await keepDeliveries(tx, endpointId, deliveries);
  const owner = [endpointId, tenantId, environmentId];
  if (skipped.length > 0) {
    const columns = [
      skipped.map((each) => each.entityId),
      skipped.map((each) => each.sequence),
      skipped.map((each) => each.eventId),
      skipped.map((each) => each.reason),
      skipped.map((each) => each.consecutive),
    ];
    await tx.rows(skipText, [...owner, ...columns, new Date().toISOString()]);
  }
  if (lines.length > 0) {
    const columns = [
      lines.map((each) => each.entityId),
      lines.map((each) => each.nextSequence),
      lines.map((each) => each.attempts),
      lines.map((each) => each.nextAt),
      lines.map((each) => each.failure),
      lines.map((each) => each.failedSince),
    ];
    await tx.rows(lineText, [...owner, ...columns]);
  }
  if (freed.length > 0) {
    await tx.rows('delete from webhook_line where endpoint_id = $1 and entity_id = any($2)', [endpointId, freed]);
  }
  return true;
}

/** The objects that wait at an endpoint. */
export async function waitingLines(sql: Sql, endpointId: string): Promise<WaitingLine[]> {
  const rows = await sql.rows<WaitingLine>(
    `select entity_id as "entityId", next_sequence as "nextSequence", attempts, next_at as "nextAt", failure, failed_since as "failedSince"
     from webhook_line where endpoint_id = $1`,
    [endpointId],
  );
  return rows.map((row) => ({
    ...row,
    nextAt: row.nextAt && instantText(row.nextAt),
    failedSince: instantText(row.failedSince),
  }));
}

const skipText = `
insert into webhook_skip (endpoint_id, tenant_id, environment_id, entity_id, sequence, event_id, reason, consecutive, skipped_at)
select $1, $2, $3, t.*, $9::timestamptz from unnest($4::text[], $5::int[], $6::text[], $7::text[], $8::int[]) as t
on conflict (endpoint_id, entity_id, sequence) do nothing`;

const lineText = `
insert into webhook_line (endpoint_id, tenant_id, environment_id, entity_id, next_sequence, attempts, next_at, failure, failed_since)
select $1, $2, $3, t.* from unnest($4::text[], $5::int[], $6::int[], $7::timestamptz[], $8::text[], $9::timestamptz[]) as t
on conflict (endpoint_id, entity_id) do update set next_sequence = excluded.next_sequence, attempts = excluded.attempts,
  next_at = excluded.next_at, failure = excluded.failure, failed_since = excluded.failed_since`;
