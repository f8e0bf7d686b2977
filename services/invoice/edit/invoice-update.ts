import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../../billing/refusal.ts';
import { customerNow } from '../../../db/clock.ts';
import { Invoice } from '../../../db/entities/invoice/invoice.ts';
import { badField, missing, touch } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { refreshInvoiceAgenda } from '../read/invoice-snapshot.ts';

/** What may be changed of an invoice by hand; what is absent or null stays. */
export interface InvoiceChange {
  /** Replaces the whole map. */
  metadata?: Record<string, string> | null | undefined;
  /** An empty text takes the address away. */
  invoicePdfUrl?: string | null | undefined;
  dueDate?: string | null | undefined;
}

/**
 * Changes metadata, document address and due date of a draft or finalized invoice and reports `invoice.update`; a change that
 * changes nothing reports nothing. True in `reschedules` means that the invoice's workflow waits for another instant now.
 * Throws `not_found`, and `validation_error` for a due date that is not in the customer's future and for an invoice that is
 * VOIDED or SKIPPED. spec: subscriptions-and-invoicing §1.11, §2.15.6, error 44
 */
export async function updateInvoice(
  tx: Transaction,
  id: string,
  change: InvoiceChange,
): Promise<{ reschedules: boolean }> {
  const row = await tx.em.findOne(
    Invoice,
    { id, environmentId: tx.scope.environmentId, status: 'published' },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!row) throw missing('invoice', id);
  if (row.invoiceStatus === 'VOIDED' || row.invoiceStatus === 'SKIPPED') {
    throw refuse(
      'validation_error',
      `an invoice that is ${row.invoiceStatus} cannot be changed; only a DRAFT or FINALIZED one can`,
      { invoice_status: row.invoiceStatus },
    );
  }
  const at = await customerNow(tx, row.customerId);
  if (change.dueDate && change.dueDate <= at) throw badField('due_date', `must be after ${at}, the customer's present`);
  const changed = apply(row, change);
  if (changed.length === 0) return { reschedules: false };
  row.version += 1;
  touch(tx, row);
  await tx.em.flush();
  const reschedules = row.attended && changed.includes('due_date');
  if (reschedules) await refreshInvoiceAgenda(tx, tx.scope, id);
  await writeEvents(tx, tx.scope, invoiceEvents('invoice.update', id, at));
  await writeAudit(tx, tx.scope, [
    {
      objectType: 'invoice',
      objectId: id,
      action: 'updated',
      version: row.version,
      occurredAt: at,
      detail: { fields: changed, ...(changed.includes('due_date') ? { due_date: row.dueDate } : {}) },
    },
  ]);
  return { reschedules };
}

/** Applies a change and names the wire fields that differ now. */
function apply(row: Invoice, change: InvoiceChange): string[] {
  const changed: string[] = [];
  if (change.metadata && !isSameMap(change.metadata, row.metadata)) {
    row.metadata = change.metadata;
    changed.push('metadata');
  }
  if (typeof change.invoicePdfUrl === 'string' && (change.invoicePdfUrl || null) !== (row.invoicePdfUrl ?? null)) {
    row.invoicePdfUrl = change.invoicePdfUrl || null;
    changed.push('invoice_pdf_url');
  }
  if (change.dueDate && change.dueDate !== row.dueDate) {
    row.dueDate = change.dueDate;
    changed.push('due_date');
  }
  return changed;
}

function isSameMap(one: Record<string, string>, other: Record<string, string>): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}
