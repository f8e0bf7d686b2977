import type { Transaction } from '../../db/transaction.ts';
import type { FeedEvent, FeedPage } from '../../services/event/outbound-event.ts';
import { frozenBodies, isShownWhole, type RenderInvoices } from '../../services/event/webhook/frozen-body.ts';
import { findInvoices } from '../../services/invoice/read/invoice-read.ts';
import { viewInvoice } from '../invoice/invoice.schema.ts';
import { parseJson } from '../plugins/json-body.ts';

/** The invoices of events as they are now. spec: platform §17.2 */
export const renderInvoices: RenderInvoices = async (tx, ids) => {
  const invoices = await findInvoices(tx, [...ids], { lines: true, customer: true });
  return new Map(invoices.map((content) => [content.row.id, viewInvoice(content)]));
};

/** True when a page has events that are stored without what they show. */
export function needsBodies(page: FeedPage): boolean {
  return page.events.some(({ eventName }) => isShownWhole(eventName));
}

/**
 * Gives invoice events their invoice: as it was when the event was first shown to anybody, a receiver of webhooks or a reader of this feed,
 * so that one id always has one body. design: people-and-events §A 7
 */
export async function withBodies(tx: Transaction, page: FeedPage): Promise<FeedPage> {
  const shown = page.events.filter(({ eventName }) => isShownWhole(eventName));
  const bodies = await frozenBodies(
    tx,
    renderInvoices,
    shown.map(({ id, entityId, eventName }) => ({ id, entityId, name: eventName })),
  );
  return {
    ...page,
    events: page.events.map((event) => {
      const frozen = bodies.get(event.id);
      return frozen ? { ...event, payload: parseJson(frozen.body.toString('utf8')) as Record<string, unknown> } : event;
    }),
  };
}

/** The body of one event as receivers get it, byte for byte, and what it says. design: people-and-events §A 7 */
export async function shownBody(
  tx: Transaction,
  { id, entityId, eventName, payload: stored }: Pick<FeedEvent, 'id' | 'entityId' | 'eventName'> & { payload: string },
): Promise<{ body: string; payload: Record<string, unknown> }> {
  const isWhole = isShownWhole(eventName);
  const bodies = isWhole ? await frozenBodies(tx, renderInvoices, [{ id, entityId, name: eventName }]) : new Map();
  const body: string = bodies.get(id)?.body.toString('utf8') ?? stored;
  return { body, payload: parseJson(body) as Record<string, unknown> };
}
