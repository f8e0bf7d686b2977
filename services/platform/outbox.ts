import { newId } from '../../db/id.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { OutboundEvent } from './event-catalogue/event-catalogue.ts';
import { eventBodies } from './told-customer.ts';

/**
 * Writes events in the transaction they report, in the order given, with the next gapless `sequence` of each object. Those of the
 * catalogue and no others: another type or payload does not compile. Takes one statement for any number of events, and one more
 * where they show subscriptions, for the customers of those. design: architecture §5 Outbox
 */
export async function writeEvents(sql: Sql, scope: Scope, events: readonly OutboundEvent[]): Promise<void> {
  if (events.length === 0) return;
  await sql.send(
    writeEventsText,
    [
      scope.tenantId,
      scope.environmentId,
      events.map(() => newId('sys_event')),
      events.map((event) => event.name),
      events.map((event) => event.entityType),
      events.map((event) => event.entityId),
      await eventBodies(sql, scope, events),
      events.map((event) => event.occurredAt),
      new Date().toISOString(),
    ],
    'outbox-write',
  );
}

/** The channel on which a committed transaction names the environment it wrote events of. */
export const outboxChannel = 'perennial_outbox';

// Sequences are taken in entity order, so that two transactions that touch the same objects cannot deadlock. Of equal
// notifications of one transaction PostgreSQL sends one, at its commit.
const writeEventsText = `
with input as (
  select * from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::timestamptz[])
    with ordinality as t(id, event_name, entity_type, entity_id, payload, occurred_at, ord)
), counted as (
  select *, row_number() over (partition by entity_id order by ord) as nth from input
), taken as (
  insert into outbox_sequence (environment_id, entity_id, last)
  select $2, entity_id, count(*) from input group by entity_id order by entity_id
  on conflict (environment_id, entity_id) do update set last = outbox_sequence.last + excluded.last
  returning entity_id, last
), totals as (
  select entity_id, count(*) as n from input group by entity_id
), written as (
  insert into outbox_event (id, tenant_id, environment_id, sequence, event_name, entity_type, entity_id, payload, occurred_at, created_at)
  select c.id, $1, $2, taken.last - totals.n + c.nth, c.event_name, c.entity_type, c.entity_id, c.payload, c.occurred_at, $9
  from counted c join taken using (entity_id) join totals using (entity_id)
  order by c.ord
)
select pg_notify('${outboxChannel}', $2)`;
