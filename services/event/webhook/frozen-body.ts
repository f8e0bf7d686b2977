import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Transaction } from '../../../db/transaction.ts';
import { eventCatalogue } from '../../platform/event-catalogue/event-catalogue.ts';

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** True for an event that is stored without what it shows, which is the whole invoice. spec: platform §17.2 */
export const isShownWhole = (eventName: string) => eventCatalogue.get(eventName)?.family.isShownWhole ?? false;

/** The wire forms of invoices by id, as they are now; one that cannot be read is left out. */
export type RenderInvoices = (tx: Transaction, ids: readonly string[]) => Promise<ReadonlyMap<string, unknown>>;

/** An event whose body is made when it is first shown. */
export interface ShownEvent {
  id: string;
  entityId: string;
  /** Type of the event. */
  name: string;
}

/** The bytes of a body, and the last event of its object when they were made. */
export interface FrozenBody {
  body: Buffer;
  stateSequence: number;
}

/**
 * The bodies of events with an invoice, by event. Whoever asks first has them made from the invoice as it is then; from there on they
 * never change, so one id has one body for every receiver, attempt and reader. An event whose invoice cannot be read is left out.
 * design: people-and-events §A 7
 */
export async function frozenBodies(
  tx: Transaction,
  render: RenderInvoices,
  events: readonly ShownEvent[],
): Promise<Map<string, FrozenBody>> {
  const known = await kept(tx, events);
  const fresh = events.filter(({ id }) => !known.has(id));
  if (fresh.length === 0) return known;
  const [states, invoices] = [
    await lastSequences(tx, fresh),
    await render(tx, [...new Set(fresh.map(({ entityId }) => entityId))]),
  ];
  for (const { id, entityId, name } of fresh) {
    const invoice = invoices.get(entityId);
    if (invoice === undefined) continue;
    const body = Buffer.from(JSON.stringify({ event_type: name, invoice }));
    await tx.rows(insertText, [
      id,
      tx.scope.tenantId,
      tx.scope.environmentId,
      await pack(body),
      states.get(entityId) ?? 0,
      new Date().toISOString(),
    ]);
  }
  // Two may have made them at once: those of the first count.
  return kept(tx, events);
}

async function kept(tx: Transaction, events: readonly ShownEvent[]): Promise<Map<string, FrozenBody>> {
  const rows = await tx.rows<{ event_id: string; body: Buffer; state_sequence: number }>(
    'select event_id, body, state_sequence from outbox_body where environment_id = $1 and event_id = any($2)',
    [tx.scope.environmentId, events.map(({ id }) => id)],
  );
  const bodies = new Map<string, FrozenBody>();
  for (const { event_id, body, state_sequence } of rows) {
    bodies.set(event_id, { body: await unpack(body), stateSequence: state_sequence });
  }
  return bodies;
}

/** Read before the invoice: what is told is never newer than what is shown. */
async function lastSequences(tx: Transaction, events: readonly ShownEvent[]): Promise<Map<string, number>> {
  const rows = await tx.rows<{ entity_id: string; last: number }>(
    'select entity_id, last from outbox_sequence where environment_id = $1 and entity_id = any($2)',
    [tx.scope.environmentId, events.map(({ entityId }) => entityId)],
  );
  return new Map(rows.map(({ entity_id, last }) => [entity_id, last]));
}

const insertText = `
insert into outbox_body (event_id, tenant_id, environment_id, body, state_sequence, created_at) values ($1, $2, $3, $4, $5, $6)
on conflict (event_id) do nothing`;
