import { firstIdAt } from '../../../db/id.ts';
import { instantText } from '../../../db/rows/columns.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { placeEvents } from '../outbox-relay.ts';
import { isDue } from './due-event.ts';

/** Figures of an endpoint's delivery. Instants are real. design: people-and-events §D */
export interface EndpointStatistics {
  /** Creation of the oldest event that the endpoint is due and that was neither received nor given up. */
  oldestUndeliveredAt: string | null;
  lastReceivedAt: string | null;
  lastFailedAt: string | null;
  /** Failure of the last attempt that failed, in words of a closed list. */
  lastFailure: string | null;
  /** Attempts at events of the last 24 hours, as far as they are among the newest 50 000 of the environment. */
  lastDay: LastDay;
  /** Last test event that was asked for. */
  lastTest: { id: string; eventType: string; sentAt: string | null; failure: string | null } | null;
}

/** Attempts of a day. The times are milliseconds that 95 of 100 do not exceed, and null where there is none to measure. */
export interface LastDay {
  attempts: number;
  received: number;
  /** From the beginning of a request to its answer, whatever it was. */
  latencyP95Ms: number | null;
  /** From the writing of an event to its receipt, without what was sent again. */
  lagP95Ms: number | null;
}

/** Figures of an endpoint of this environment that is not deleted. spec: platform §17.4; design: people-and-events §D */
export async function endpointStatistics(tx: ScopedSql, endpointId: string): Promise<EndpointStatistics> {
  await placeEvents(tx);
  const [row] = await tx.rows<StatisticsRow>(statisticsText, [endpointId, tx.scope.environmentId]);
  if (!row) throw new Error(`webhook endpoint ${endpointId} has no place in the feed`);
  const since = firstIdAt('sys_event', Date.now() - dayMs);
  const [lastDay] = await tx.rows<LastDay>(lastDayText, [endpointId, tx.scope.environmentId, since, mostRead]);
  return {
    oldestUndeliveredAt: row.oldestUndeliveredAt && instantText(row.oldestUndeliveredAt),
    lastReceivedAt: row.lastReceivedAt && instantText(row.lastReceivedAt),
    lastFailedAt: row.lastFailedAt && instantText(row.lastFailedAt),
    lastFailure: row.lastFailure,
    lastDay: lastDay ?? { attempts: 0, received: 0, latencyP95Ms: null, lagP95Ms: null },
    lastTest:
      row.testId === null
        ? null
        : {
            id: row.testId,
            eventType: row.testType,
            sentAt: row.testSentAt && instantText(row.testSentAt),
            failure: row.testFailure,
          },
  };
}

type StatisticsRow = Omit<EndpointStatistics, 'lastTest' | 'lastDay'> &
  ({ testId: string; testType: string; testSentAt: string | null; testFailure: string | null } | { testId: null });

const dayMs = 86_400_000;
const mostRead = 50_000;

// The index of attempts is by event, whose ids grow with time: one by endpoint would cost every attempt a write.
const lastDayText = `
with newest as (
  select d.* from webhook_delivery d where d.environment_id = $2 and d.event_id >= $3 order by d.event_id desc limit $4
), recent as (
  select * from newest where endpoint_id = $1)
select count(*)::int as attempts, (count(*) filter (where r.error is null))::int as received,
  percentile_disc(0.95) within group (order by r.duration_ms) filter (where r.status_code is not null) as "latencyP95Ms",
  round(percentile_disc(0.95) within group (order by extract(epoch from r.attempted_at - e.created_at) * 1000 + r.duration_ms)
    filter (where r.error is null and not r.is_replay))::int as "lagP95Ms"
from recent r join outbox_event e on e.id = r.event_id`;

const statisticsText = `
select c.received_at as "lastReceivedAt", c.failed_at as "lastFailedAt", c.failure as "lastFailure",
  least(
    (select min(e.created_at) from webhook_line l
     join outbox_event e on e.environment_id = $2 and e.entity_id = l.entity_id and e.sequence = l.next_sequence
     where l.endpoint_id = $1),
    (select e.created_at from outbox_feed f join outbox_event e on e.id = f.event_id
     where f.environment_id = $2 and f.feed_position > greatest(c.position, c.dropped_position) and ${isDue('e', 'f')}
     order by f.feed_position limit 1)) as "oldestUndeliveredAt",
  t.id as "testId", t.event_type as "testType", t.sent_at as "testSentAt", t.failure as "testFailure"
from webhook_cursor c
left join lateral (
  select t.id, t.event_type, t.sent_at, t.failure from webhook_test t where t.endpoint_id = $1
  order by t.created_at desc, t.id desc limit 1) t on true
where c.environment_id = $2 and c.endpoint_id = $1`;
