import type { ScopedSql } from '../../../db/transaction.ts';
import { checkoutAudit, writeCheckoutAgenda } from '../../collection/checkout-row.ts';
import { writeAudit } from '../../platform/audit.ts';
import { type CheckoutRequest, findMade, insertSessionRow, keepPayer, refusePlayedTime } from './checkout-insert.ts';
import type { CheckoutOwner } from './checkout-owner.ts';

/** ISO 4217 code of no currency: nothing is charged. */
const noCurrency = 'xxx';

/**
 * Writes a session that saves a method of a customer and charges nothing: no invoice, no payment, an amount of 0. Any number may be open
 * at one time. Done again with the same session it changes nothing. Throws `invalid_operation` for an archived customer, and for a
 * connected provider and a customer on a test clock. design: money-in §3 Setup mode; money-in-checkout §B15
 */
export async function draftSetup(tx: ScopedSql, request: CheckoutRequest, owner: CheckoutOwner): Promise<void> {
  const { sessionId } = request;
  if (await findMade(tx, sessionId)) return;
  refusePlayedTime(request, owner.testClockId);
  await keepPayer(tx, owner.customerId, request);
  await insertSessionRow(
    tx,
    request,
    { ...owner, action: 'save_method', configuration: {}, invoiceId: null, amount: '0', currency: noCurrency },
    { key: request.idempotencyKey ?? sessionId, paymentId: null },
  );
  const row = (await findMade(tx, sessionId))!;
  await writeAudit(tx, tx.scope, [checkoutAudit(row, 'created', owner.at, { action: 'save_method' })]);
  await writeCheckoutAgenda(tx, row, owner.at);
}
