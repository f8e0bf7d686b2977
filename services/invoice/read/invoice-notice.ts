import { refuse } from '../../../billing/refusal.ts';
import { customerNow } from '../../../db/clock.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';

type NoticeName =
  | 'invoice.update.finalized'
  | 'invoice.update.payment'
  | 'invoice.update.voided'
  | 'invoice.communication.triggered';

interface NoticedRow {
  customer_id: string;
  invoice_status: string;
  was_final: boolean;
  version: number;
  [column: string]: unknown;
}

/**
 * Emits an event of an invoice on request: that its customer be written to, or one that a subscriber missed. Throws `not_found`,
 * and `validation_error` for what did not happen to the invoice: a draft is not sent, and only a voided one is told voided.
 * spec: subscriptions-and-invoicing §1.11 comms/trigger, webhook/trigger
 */
export async function triggerNotice(sql: Sql, scope: Scope, invoiceId: string, name: NoticeName): Promise<void> {
  const [row] = await sql.rows<NoticedRow>(
    `select customer_id, invoice_status, finalized_at is not null as was_final, version from invoice
     where environment_id = $1 and id = $2 and status = 'published' for share`,
    [scope.environmentId, invoiceId],
  );
  if (!row) throw missing('invoice', invoiceId);
  const needed = neededFor(name);
  if (!needed.holds(row)) {
    throw refuse('validation_error', `invoice ${invoiceId} is ${row.invoice_status}${needed.problem}`, {
      invoice_status: row.invoice_status,
    });
  }
  const at = await customerNow(sql, row.customer_id);
  await writeEvents(sql, scope, invoiceEvents(name, invoiceId, at));
  await writeAudit(sql, scope, [
    {
      objectType: 'invoice',
      objectId: invoiceId,
      action: 'event triggered',
      occurredAt: at,
      detail: { event_name: name },
    },
  ]);
}

function neededFor(name: NoticeName): { holds(row: NoticedRow): boolean; problem: string } {
  switch (name) {
    case 'invoice.update.finalized':
      return { holds: (row) => row.was_final, problem: ' and was never finalized; finalize it first' };
    case 'invoice.update.voided':
      return { holds: (row) => row.invoice_status === 'VOIDED', problem: ' and not voided; void it first' };
    case 'invoice.communication.triggered':
      return {
        holds: (row) => row.invoice_status !== 'DRAFT',
        problem: ' and cannot be sent to its customer; finalize it first',
      };
    case 'invoice.update.payment':
      return { holds: (row) => row.invoice_status !== 'DRAFT', problem: ' and cannot be paid; finalize it first' };
  }
}
