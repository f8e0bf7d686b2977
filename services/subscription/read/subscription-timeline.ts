import type { ComingStep, PastStep } from '../../../billing/subscription/subscription-timeline.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { findSubscription } from './subscription-read.ts';

/** An entry of the past with the invoice and the events it caused. */
export interface PastEntry extends PastStep {
  invoiceId: string | null;
  events: { id: string; event_type: string }[];
}

export interface ComingEntry extends ComingStep {
  invoiceId: string | null;
}

/** The most that one answer tells of the past, newest kept. */
export const maxPastEntries = 500;

/**
 * What happened to a subscription and its invoices, from the audit, and what is to come, from the agenda. Throws `not_found`.
 * spec: `GET /subscriptions/{id}/timeline` is ours
 */
export async function readTimeline(
  tx: Transaction,
  subscriptionId: string,
): Promise<{ past: PastEntry[]; coming: ComingEntry[] }> {
  const { row } = await findSubscription(tx, subscriptionId);
  const { environmentId } = tx.scope;
  const past = await tx.rows<PastRow>(pastText, [environmentId, subscriptionId, maxPastEntries]);
  const coming = await tx.rows<{ kind: string; ref: string; due_at: string }>(
    `select kind, ref, due_at from agenda_entry where environment_id = $1 and object_type = 'subscription' and object_id = $2
     order by due_at, kind, ref`,
    [environmentId, subscriptionId],
  );
  const end = [row.cancelAt, row.endDate].filter((instant): instant is string => Boolean(instant)).sort()[0];
  const aboutInvoices = ['finalizeInvoice', 'attendInvoice', 'enforcePayment'];
  return {
    past: past.reverse().map(pastEntry),
    coming: coming.map(({ kind, ref, due_at }) => ({
      at: instantText(due_at),
      kind,
      ends: end !== undefined && end <= instantText(due_at),
      paused: row.subscriptionStatus === 'paused',
      invoiceId: aboutInvoices.includes(kind) ? ref : null,
    })),
  };
}

interface PastRow {
  object_type: string;
  object_id: string;
  action: string;
  actor: string;
  occurred_at: string;
  detail: Record<string, unknown>;
  invoice_number: string | null;
  total: string | null;
  currency: string | null;
  caused_invoice_id: string | null;
  events: { id: string; event_type: string }[];
  [column: string]: unknown;
}

// The invoice of a closed period is the one that bills it; events of a change are those of its object and instant.
const pastText = `
select a.object_type, a.object_id, a.action, a.actor, a.occurred_at, a.detail, i.invoice_number, i.total, i.currency, i.id as caused_invoice_id,
  coalesce((select jsonb_agg(jsonb_build_object('id', e.id, 'event_type', e.event_name) order by e.sequence) from outbox_event e
    where e.environment_id = $1 and e.entity_id = a.object_id and e.occurred_at = a.occurred_at and e.payload is not null), '[]') as events
from audit_entry a
left join invoice i on i.environment_id = $1 and (
  (a.object_type = 'invoice' and i.id = a.object_id)
  or (a.object_type = 'subscription' and a.action like 'period closed%' and i.subscription_id = a.object_id
    and i.billing_reason = 'SUBSCRIPTION_CYCLE' and i.invoice_status <> 'VOIDED'
    and i.period_start = (a.detail ->> 'period_start')::timestamptz and i.period_end = (a.detail ->> 'period_end')::timestamptz))
where a.environment_id = $1 and (
  (a.object_type = 'subscription' and a.object_id = $2)
  or (a.object_type = 'invoice' and a.object_id in (select id from invoice where environment_id = $1 and subscription_id = $2)))
order by a.id desc limit $3`;

function pastEntry(row: PastRow): PastEntry {
  const invoiceId = row.caused_invoice_id;
  const about = row.object_type === 'invoice' && row.total !== null && row.currency !== null;
  return {
    at: instantText(row.occurred_at),
    objectType: row.object_type,
    action: row.action,
    actor: row.actor,
    detail: row.detail,
    invoice: about
      ? { number: row.invoice_number, total: decimalText(row.total as string), currency: row.currency as string }
      : null,
    invoiceId,
    events: row.events,
  };
}
