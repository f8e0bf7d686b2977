import { createHash } from 'node:crypto';
import type { CheckedInvoice, NewInvoice } from '../../../billing/invoice/invoice-request.ts';
import { refuse } from '../../../billing/refusal.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { invoiceKey } from './invoice-draft.ts';

/**
 * The key that refuses the same invoice twice: the caller's, else a hash of whose it is, its period and its reason. Without a
 * period, where that would allow a customer one invoice for ever, the minute of its issue and its lines stand in for the
 * bounds. spec: subscriptions-and-invoicing §2.15.9
 */
export function keyOf(scope: Scope, request: NewInvoice, at: string): string {
  if (request.idempotencyKey !== null) return request.idempotencyKey;
  const { periodStart, periodEnd, customerId, subscriptionId, billingReason } = request;
  if (periodStart !== null && periodEnd !== null) {
    const owner = { id: subscriptionId ?? '', customerId };
    return invoiceKey(scope, owner, { start: periodStart, end: periodEnd }, billingReason);
  }
  const content = createHash('sha256')
    .update(JSON.stringify([request.subtotal, request.description, request.lines]))
    .digest('hex');
  const issued = request.issueDate ?? at;
  return invoiceKey(
    scope,
    { id: subscriptionId ?? '', customerId },
    { start: issued, end: issued },
    `${billingReason} ${content}`,
  );
}

/** The draft or skipped invoice of a subscription that has the key of this request already; null when there is none. spec: §2.15.9 */
export async function draftUnderKey(sql: Sql, scope: Scope, request: NewInvoice, at: string): Promise<string | null> {
  const [row] = await sql.rows<{ id: string }>(
    `select id from invoice where environment_id = $1 and idempotency_key = $2 and subscription_id is not null
       and invoice_status in ('DRAFT', 'SKIPPED')`,
    [scope.environmentId, keyOf(scope, request, at)],
  );
  return row?.id ?? null;
}

/** Throws `already_exists` for a key, a period of a subscription, or a number that a live invoice has. */
export async function refuseTaken(
  sql: Sql,
  scope: Scope,
  request: NewInvoice,
  { invoiceType }: CheckedInvoice,
  key: string,
): Promise<void> {
  const [taken] = await sql.rows<{ id: string; number: string | null; by_number: boolean }>(
    `select id, invoice_number as number, invoice_number is not distinct from $3 and $3 is not null as by_number from invoice
     where environment_id = $1 and ((invoice_status <> 'VOIDED' and (idempotency_key = $2
       or ($4 = 'SUBSCRIPTION' and invoice_type = 'SUBSCRIPTION' and subscription_id = $5 and period_start = $6 and period_end = $7
         and billing_reason = $8))) or invoice_number = $3) limit 1`,
    [
      scope.environmentId,
      key,
      request.invoiceNumber,
      invoiceType,
      request.subscriptionId,
      request.periodStart,
      request.periodEnd,
      request.billingReason,
    ],
  );
  if (!taken) return;
  const field = taken.by_number ? 'invoice_number' : 'idempotency_key';
  const remedy = taken.by_number ? 'choose another number' : 'read it, or send another idempotency_key';
  throw refuse('already_exists', `${field}: invoice ${taken.id} has it already; ${remedy}`, {
    invoice_id: taken.id,
    fields: { [field]: 'taken' },
  });
}
