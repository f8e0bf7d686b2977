import { createHash } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import { type CreditedLine, planCreditNote } from '../../../billing/invoice/credit-note.ts';
import type { RefundTarget } from '../../../billing/payment/refund.ts';
import { refuse } from '../../../billing/refusal.ts';
import { compareText } from '../../../billing/text-order.ts';
import { customerNow } from '../../../db/clock.ts';
import { CreditNote } from '../../../db/entities/invoice/credit-note.ts';
import { CreditNoteLineItem } from '../../../db/entities/invoice/credit-note-line-item.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { badField, missing, newRecord, touch } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { flushUnique } from '../../../db/unique.ts';
import { writeAudit } from '../../platform/audit.ts';
import type { CreditNoteEvent } from '../../platform/event-catalogue/invoice-events.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { paperDigest, recordPapers } from '../document/document-paper.ts';
import { endLinksNow } from '../issue/open-link.ts';
import {
  applyNote,
  type CreditedRow,
  creditableOf,
  type InvoiceFollowUp,
  lockCreditedInvoice,
  nothingFollows,
  refuseAdjustedPurchase,
  reverseNote,
} from './credit-note-effect.ts';
import { nextCreditNoteNumber } from './credit-note-number.ts';

export interface NewCreditNote {
  id: string;
  invoiceId: string;
  reason: string;
  lines: {
    invoiceLineItemId: string;
    amount: string;
    displayName?: string | undefined;
    metadata?: Record<string, string> | undefined;
  }[];
  creditNoteNumber?: string | undefined;
  memo?: string | undefined;
  metadata?: Record<string, string> | undefined;
  idempotencyKey?: string | undefined;
}

/** How a note is carried out: where refunded money goes, and which gateways can send it back. */
export interface Processing {
  target: RefundTarget;
  refundableGateways: readonly string[];
}

/**
 * Makes a credit note, and carries it out when `processing` is given. Throws `not_found` for the invoice, `already_exists` for a
 * key or number in use, and `validation_error` for what the limits refuse. A voided note frees its key.
 * spec: subscriptions-and-invoicing §1.12.1, §2.19
 */
export async function createCreditNote(
  tx: Transaction,
  input: NewCreditNote,
  processing: Processing | null,
): Promise<InvoiceFollowUp> {
  if (processing) await endLinksNow(tx, input.invoiceId);
  const invoice = await lockCreditedInvoice(tx, input.invoiceId);
  const at = await customerNow(tx, invoice.customer_id);
  const idempotencyKey = input.idempotencyKey ?? derivedKey(input);
  await refuseRepeated(tx, idempotencyKey);
  const stored = await invoiceLines(tx, input.invoiceId, null);
  const { type, totalAmount } = planCreditNote(creditableOf(invoice), creditedLines(input.lines, stored));
  refuseAdjustedPurchase(invoice, type);
  const note = tx.em.create(CreditNote, {
    ...newRecord(tx, 'cn', input.id),
    creditNoteNumber: input.creditNoteNumber ?? (await nextCreditNoteNumber(tx, at)),
    idempotencyKey,
    customerId: invoice.customer_id,
    invoiceId: invoice.id,
    subscriptionId: invoice.subscription_id,
    subscriptionCustomerId: invoice.subscription_customer_id,
    currency: invoice.currency,
    creditNoteStatus: 'DRAFT',
    creditNoteType: type,
    reason: input.reason,
    memo: input.memo ?? '',
    totalAmount,
    metadata: input.metadata ?? {},
  });
  for (const [position, line] of input.lines.entries()) {
    tx.em.create(CreditNoteLineItem, {
      ...newRecord(tx, 'cn_line'),
      creditNoteId: note.id,
      invoiceLineItemId: line.invoiceLineItemId,
      position,
      displayName: line.displayName ?? stored.get(line.invoiceLineItemId)?.displayName ?? '',
      amount: line.amount,
      currency: invoice.currency,
      metadata: line.metadata ?? {},
    });
  }
  await flushNote(tx, note);
  await writeEvents(tx, tx.scope, [noteEvent('credit_note.created', note, at)]);
  await audit(tx, note, 'created', at, { invoice_id: invoice.id, total_amount: totalAmount });
  return processing ? carryOut(tx, note, invoice, processing, at) : nothingFollows(invoice, at);
}

/**
 * Carries out a draft: its limits and its type are checked again under the invoice's lock. Throws `not_found`, and
 * `validation_error` for a note that is no draft, has become another type or no longer fits.
 * spec: subscriptions-and-invoicing §2.19
 */
export async function finalizeCreditNote(
  tx: Transaction,
  id: string,
  processing: Processing,
): Promise<InvoiceFollowUp> {
  await endLinksNow(tx, await creditedInvoiceOf(tx, id));
  const { note, invoice } = await lockNote(tx, id);
  if (note.creditNoteStatus !== 'DRAFT') throw wrongStatus(note, 'only a DRAFT one can be finalized');
  const at = await customerNow(tx, note.customerId);
  const stored = await invoiceLines(tx, invoice.id, note.id);
  const lines = await tx.em.find(CreditNoteLineItem, { environmentId: tx.scope.environmentId, creditNoteId: id });
  const { type } = planCreditNote(creditableOf(invoice), creditedLines(lines, stored));
  refuseAdjustedPurchase(invoice, type);
  if (type !== note.creditNoteType) {
    const problem = `was made as ${note.creditNoteType} and its invoice now takes ${type}; void it and make another`;
    throw badField('credit_note_type', problem);
  }
  return carryOut(tx, note, invoice, processing, at);
}

/**
 * Voids a draft, or a finalized adjustment, which makes its invoice due again. Throws `not_found`, and `validation_error` for a
 * refund that was promised, a voided note, and an adjustment of a voided invoice. spec: subscriptions-and-invoicing §2.19
 */
export async function voidCreditNote(tx: Transaction, id: string): Promise<InvoiceFollowUp> {
  const { note, invoice } = await lockNote(tx, id);
  const at = await customerNow(tx, note.customerId);
  const wasFinalized = note.creditNoteStatus === 'FINALIZED';
  if (note.creditNoteStatus === 'VOIDED') throw wrongStatus(note, 'it cannot be voided again');
  if (wasFinalized && note.creditNoteType === 'REFUND') {
    throw wrongStatus(note, 'a REFUND cannot be voided once finalized, because its money is on its way');
  }
  if (wasFinalized && invoice.invoice_status === 'VOIDED') throw wrongStatus(note, 'its invoice is VOIDED');
  note.creditNoteStatus = 'VOIDED';
  note.voidedAt = at;
  await change(tx, note, 'voided', at);
  return wasFinalized ? reverseNote(tx, invoice, note, at) : nothingFollows(invoice, at);
}

async function carryOut(
  tx: Transaction,
  note: CreditNote,
  invoice: CreditedRow,
  processing: Processing,
  at: string,
): Promise<InvoiceFollowUp> {
  note.creditNoteStatus = 'FINALIZED';
  note.finalizedAt = at;
  await recordPapers(tx, tx.scope, [{ documentId: note.id, invoiceId: note.invoiceId }]);
  await change(tx, note, 'finalized', at, { paper: await paperDigest(tx, tx.scope, note.id) });
  return applyNote(tx, invoice, note, processing, at);
}

async function change(tx: Transaction, note: CreditNote, action: string, at: string, detail = {}): Promise<void> {
  note.version += 1;
  touch(tx, note);
  await tx.em.flush();
  await writeEvents(tx, tx.scope, [noteEvent('credit_note.updated', note, at)]);
  await audit(tx, note, action, at, detail);
}

/** Locks a note behind its invoice. Throws `not_found`. */
async function creditedInvoiceOf(tx: Transaction, id: string): Promise<string> {
  const where = { id, environmentId: tx.scope.environmentId, status: 'published' };
  const found = await tx.em.findOne(CreditNote, where, { fields: ['id', 'invoiceId'] });
  if (!found) throw missing('credit note', id);
  return found.invoiceId;
}

async function lockNote(tx: Transaction, id: string): Promise<{ note: CreditNote; invoice: CreditedRow }> {
  const where = { id, environmentId: tx.scope.environmentId, status: 'published' };
  const invoice = await lockCreditedInvoice(tx, await creditedInvoiceOf(tx, id));
  const note = await tx.em.findOne(CreditNote, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!note) throw missing('credit note', id);
  return { note, invoice };
}

interface StoredLine {
  amount: string;
  displayName: string;
  creditedBefore: string;
}

/** The lines of an invoice with what live notes other than `exceptNoteId` took off them. */
async function invoiceLines(
  tx: Transaction,
  invoiceId: string,
  exceptNoteId: string | null,
): Promise<Map<string, StoredLine>> {
  const rows = await tx.rows<{ id: string; amount: string; display_name: string; credited: string }>(
    `select l.id, l.amount, l.display_name, coalesce((
       select sum(c.amount) from credit_note_line_item c join credit_note n on n.id = c.credit_note_id
       where c.environment_id = $1 and c.invoice_line_item_id = l.id and n.credit_note_status <> 'VOIDED'
         and n.id is distinct from $3), 0) as credited
     from invoice_line_item l where l.environment_id = $1 and l.invoice_id = $2 and l.status = 'published'`,
    [tx.scope.environmentId, invoiceId, exceptNoteId],
  );
  return new Map(
    rows.map((row) => [
      row.id,
      { amount: decimalText(row.amount), displayName: row.display_name, creditedBefore: decimalText(row.credited) },
    ]),
  );
}

function creditedLines(
  lines: readonly { invoiceLineItemId: string; amount: string }[],
  stored: ReadonlyMap<string, StoredLine>,
): CreditedLine[] {
  return lines.map(({ invoiceLineItemId, amount }, index) => {
    const line = stored.get(invoiceLineItemId);
    if (!line) {
      throw badField(
        `line_items[${index}].invoice_line_item_id`,
        `must be a line of the invoice, not ${invoiceLineItemId}`,
      );
    }
    return { invoiceLineItemId, amount, lineAmount: line.amount, creditedBefore: line.creditedBefore };
  });
}

/** The same invoice, reason, lines and amounts in any order are the same note. spec: subscriptions-and-invoicing §1.12.1 */
function derivedKey({ invoiceId, reason, lines }: NewCreditNote): string {
  const parts = lines.map(({ invoiceLineItemId, amount }) => `${invoiceLineItemId}=${decimalText(amount)}`);
  const seed = [invoiceId, reason, ...parts.sort(compareText)].join('\n');
  return `credit_note_${createHash('sha256').update(seed).digest('hex').slice(0, 40)}`;
}

/** Before the limits, so that a repeat is told that it is one and not that it no longer fits. */
async function refuseRepeated(tx: Transaction, idempotencyKey: string): Promise<void> {
  const where = { environmentId: tx.scope.environmentId, idempotencyKey, creditNoteStatus: { $ne: 'VOIDED' } };
  const repeated = await tx.em.findOne(CreditNote, where, { fields: ['id'] });
  if (repeated) throw usedKey(idempotencyKey, repeated.id);
}

function usedKey(key: string, id: string | null): Error {
  const by = id ? `credit note ${id}` : 'another credit note';
  return refuse('already_exists', `idempotency_key ${key} was used by ${by}; send another key for another note`, {
    fields: { idempotency_key: 'used' },
    ...(id ? { credit_note_id: id } : {}),
  });
}

async function flushNote(tx: Transaction, note: CreditNote): Promise<void> {
  await flushUnique(tx, {
    credit_note_number_unique: () =>
      refuse('already_exists', `credit_note_number ${note.creditNoteNumber} is taken; choose another`, {
        fields: { credit_note_number: 'taken' },
      }),
    credit_note_idempotency_key_unique: () => usedKey(note.idempotencyKey, null),
  });
}

function wrongStatus(note: CreditNote, rule: string): Error {
  return refuse('validation_error', `credit note ${note.id} is ${note.creditNoteStatus}; ${rule}`, {
    credit_note_status: note.creditNoteStatus,
    credit_note_type: note.creditNoteType,
  });
}

/** spec: subscriptions-and-invoicing §1.15, platform §17.2 */
function noteEvent(name: CreditNoteEvent['name'], note: CreditNote, at: string): CreditNoteEvent {
  const credit_note = {
    id: note.id,
    credit_note_number: note.creditNoteNumber,
    invoice_id: note.invoiceId,
    customer_id: note.customerId,
    subscription_id: note.subscriptionId ?? null,
    credit_note_status: note.creditNoteStatus,
    credit_note_type: note.creditNoteType,
    reason: note.reason,
    memo: note.memo,
    currency: note.currency,
    total_amount: note.totalAmount,
    voided_at: note.voidedAt ?? null,
    finalized_at: note.finalizedAt ?? null,
    metadata: note.metadata,
  };
  return { name, entityType: 'credit_note', entityId: note.id, payload: { credit_note }, occurredAt: at };
}

function audit(tx: Transaction, note: CreditNote, action: string, at: string, detail: object): Promise<void> {
  const { id, version } = note;
  return writeAudit(tx, tx.scope, [
    { objectType: 'credit_note', objectId: id, action, version, occurredAt: at, detail: { ...detail } },
  ]);
}
