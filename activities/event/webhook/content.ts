import type { Database } from '../../../db/orm.ts';
import { workflowScope } from '../../../db/scope.ts';
import { inTransaction } from '../../../db/transaction.ts';
import {
  type FrozenBody,
  frozenBodies,
  isShownWhole,
  type RenderInvoices,
} from '../../../services/event/webhook/frozen-body.ts';

/**
 * The bytes that an event is sent with, always the same for one event. Null where they are to be made of an invoice that cannot be read.
 * design: people-and-events §A 7
 */
export async function contentOf(
  { database, renderInvoices }: { database: Database; renderInvoices: RenderInvoices },
  owner: { tenantId: string; environmentId: string },
  event: { id: string; name: string; entityId: string; payload: string },
): Promise<FrozenBody | null> {
  if (!isShownWhole(event.name)) return { body: Buffer.from(event.payload), stateSequence: 0 };
  const bodies = await inTransaction(database, workflowScope(owner), (tx) => frozenBodies(tx, renderInvoices, [event]));
  return bodies.get(event.id) ?? null;
}
