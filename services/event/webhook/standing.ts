import { instantText } from '../../../db/rows/columns.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { isServed } from './lease.ts';

/** Standing of an endpoint. */
export interface EndpointStanding {
  isEnabled: boolean;
  /** Reason, instant, last answer and number of failed attempts with which it was disabled; null while it is enabled. */
  disabledReason: string | null;
  disabledAt: string | null;
  disabledAnswer: string | null;
  disabledFailures: number | null;
  /** True when its environment or tenant is archived. */
  isOwnerArchived: boolean;
  /** True while a worker serves it. */
  isServed: boolean;
  /** Objects that wait for their next attempt, and those that are held after the last. */
  waiting: number;
  held: number;
  /** Next attempt of one of them, the beginning of the longest wait, and the failure of the latest. */
  nextAt: string | null;
  failedSince: string | null;
  failure: string | null;
  /** Pause of the whole endpoint and its end; null while there is none. */
  pauseReason: 'asked' | 'unreachable' | null;
  pausedUntil: string | null;
  /** Events it was due and did not get. */
  skipped: number;
}

/** Standing of an endpoint of this environment; null for one that is deleted. */
export async function endpointStanding(tx: ScopedSql, endpointId: string): Promise<EndpointStanding | null> {
  const [row] = await tx.rows<EndpointStanding>(standingText, [tx.scope.environmentId, endpointId]);
  if (!row) return null;
  return {
    ...row,
    disabledAt: row.disabledAt && instantText(row.disabledAt),
    nextAt: row.nextAt && instantText(row.nextAt),
    failedSince: row.failedSince && instantText(row.failedSince),
    pausedUntil: row.pausedUntil && instantText(row.pausedUntil),
  };
}

const standingText = `
select e.enabled as "isEnabled", e.disabled_reason as "disabledReason", e.disabled_at as "disabledAt",
  e.disabled_answer as "disabledAnswer", e.disabled_failures as "disabledFailures",
  not exists (select from environment v join tenant t on t.id = v.tenant_id and t.status = 'published'
    where v.id = e.environment_id and v.status = 'published') as "isOwnerArchived",
  coalesce(${isServed}, false) as "isServed",
  (select count(*)::int from webhook_line l where l.endpoint_id = e.id and l.next_at is not null) as waiting,
  (select count(*)::int from webhook_line l where l.endpoint_id = e.id and l.next_at is null) as held,
  (select min(l.next_at) from webhook_line l where l.endpoint_id = e.id) as "nextAt",
  (select min(l.failed_since) from webhook_line l where l.endpoint_id = e.id) as "failedSince",
  (select l.failure from webhook_line l where l.endpoint_id = e.id order by l.failed_since desc limit 1) as failure,
  c.pause_reason as "pauseReason", c.paused_until as "pausedUntil",
  (select count(*)::int from webhook_skip s where s.endpoint_id = e.id and s.received_at is null) as skipped
from webhook_endpoint e left join webhook_cursor c on c.endpoint_id = e.id
where e.environment_id = $1 and e.id = $2 and e.status = 'published'`;
