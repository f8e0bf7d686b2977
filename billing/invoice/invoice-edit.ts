import { decimal } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { refuseGated } from './gated-invoice.ts';

/** What decides whether an invoice may be edited. */
export interface EditableInvoice {
  invoiceStatus: string;
  paymentStatus: string;
  recalculatedInvoiceId: string | null;
  sourceType: string;
  checkoutSessionId?: string | null;
}

const frozenPaymentStatuses = ['REFUNDED', 'PARTIALLY_REFUNDED'];

/**
 * Refuses to edit what is not a draft or a live final invoice: VOIDED, SKIPPED, refunded in whole or part, replaced before, or
 * waiting for its checkout. spec: subscriptions-and-invoicing §2.15.8, §2.15.11
 */
export function assertEditable(invoice: EditableInvoice): void {
  refuseGated(invoice, 'edited');
  if (invoice.invoiceStatus !== 'DRAFT' && invoice.invoiceStatus !== 'FINALIZED') {
    throw refuse(
      'validation_error',
      `an invoice that is ${invoice.invoiceStatus} cannot be edited; only a DRAFT or FINALIZED one can`,
      { invoice_status: invoice.invoiceStatus },
    );
  }
  if (frozenPaymentStatuses.includes(invoice.paymentStatus)) {
    throw refuse('validation_error', `an invoice that is ${invoice.paymentStatus} cannot be edited; make another one`, {
      payment_status: invoice.paymentStatus,
    });
  }
  if (invoice.recalculatedInvoiceId !== null) {
    throw refuse('validation_error', `the invoice was replaced by ${invoice.recalculatedInvoiceId}; edit that one`, {
      recalculated_invoice_id: invoice.recalculatedInvoiceId,
    });
  }
}

/** A line as it is added; decimals as strings, the amount may be negative. */
export interface AddedLine {
  displayName: string;
  amount: string;
  quantity: string;
  metadata: Record<string, string>;
  periodStart: string | null;
  periodEnd: string | null;
}

/** What is changed of a line; null members are copied. */
export interface UpdatedLine {
  lineItemId: string;
  displayName: string | null;
  amount: string | null;
  quantity: string | null;
  metadata: Record<string, string> | null;
  field: string;
}

/** One edit of the lines of an invoice. spec: subscriptions-and-invoicing §1.11.2 */
export type LineEdit =
  | { action: 'add'; items: AddedLine[] }
  | { action: 'update'; items: UpdatedLine[] }
  | { action: 'remove'; lineItemIds: string[] };

/** A line that an edit may change. */
export interface EditedLine {
  id: string;
  position: number;
  amount: string;
  quantity: string;
  /** Credit of earlier changes, whose amount follows from the other lines. */
  isCarriedCredit?: boolean;
}

/** What an edit does: lines that go, lines that come in place of others, and lines that are new. */
export interface PlannedEdit {
  removed: string[];
  replaced: (UpdatedLine & { newId: string; keepsDerivation: boolean })[];
  added: (AddedLine & { newId: string; position: number })[];
}

/**
 * What an edit comes to on the lines that are there: an updated line is another line with a new id in the old one's place.
 * Throws `not_found` for a line that is not on the invoice and `validation_error` for one named twice or a bad period; nothing
 * is changed then. spec: subscriptions-and-invoicing §1.11.2
 */
export function planEdit(lines: readonly EditedLine[], edit: LineEdit, newId: () => string): PlannedEdit {
  const byId = new Map(lines.map((line) => [line.id, line]));
  if (edit.action === 'add') {
    const last = Math.max(-1, ...lines.map((line) => line.position));
    const added = edit.items.map((item, index) => ({
      ...checkedPeriod(item, index),
      newId: newId(),
      position: last + 1 + index,
    }));
    return { removed: [], replaced: [], added };
  }
  if (edit.action === 'remove') {
    checkNamed(
      edit.lineItemIds.map((id, index) => ({ id, field: `line_item_params.line_item_ids[${index}]` })),
      byId,
    );
    return { removed: [...edit.lineItemIds], replaced: [], added: [] };
  }
  checkNamed(
    edit.items.map(({ lineItemId: id, field }) => ({ id, field })),
    byId,
  );
  const replaced = edit.items.map((item) => {
    const line = byId.get(item.lineItemId)!;
    if (line.isCarriedCredit && (item.amount !== null || item.quantity !== null)) throw creditLine(item);
    const same = (given: string | null, kept: string) => given === null || decimal(given).equals(decimal(kept));
    return {
      ...item,
      newId: newId(),
      keepsDerivation: same(item.amount, line.amount) && same(item.quantity, line.quantity),
    };
  });
  return { removed: edit.items.map(({ lineItemId }) => lineItemId), replaced, added: [] };
}

function creditLine({ lineItemId, field }: UpdatedLine): Error {
  const problem =
    'the amount of a credit for unused time follows from the other lines; remove it to keep the credit for the next invoice';
  return refuse('validation_error', `${field}: line item ${lineItemId} cannot be changed: ${problem}`, {
    fields: { [field]: problem },
  });
}

function checkedPeriod(item: AddedLine, index: number): AddedLine {
  if (item.periodStart !== null && item.periodEnd !== null && item.periodEnd < item.periodStart) {
    const field = `line_item_params.items[${index}].period_end`;
    throw refuse('validation_error', `${field} must not be before period_start, ${item.periodStart}`, {
      fields: { [field]: 'must not be before period_start' },
    });
  }
  return item;
}

function checkNamed(named: readonly { id: string; field: string }[], byId: ReadonlyMap<string, unknown>): void {
  const seen = new Set<string>();
  for (const { id, field } of named) {
    if (!byId.has(id)) {
      throw refuse('not_found', `${field}: line item ${id} is not on this invoice`, {
        fields: { [field]: 'not found' },
      });
    }
    if (seen.has(id)) {
      throw refuse('validation_error', `${field} names line item ${id} twice`, { fields: { [field]: 'named twice' } });
    }
    seen.add(id);
  }
}
