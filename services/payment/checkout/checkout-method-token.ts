import { isCheckoutActive } from '../../../billing/payment/checkout.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { changeCheckout, checkoutAudit, lockCheckout } from '../../collection/checkout-row.ts';
import { writeAudit } from '../../platform/audit.ts';

/** Cards that one page may have its provider keep: more are no payer who mistypes. */
const mostMethodTokens = 10;

/**
 * Notes at a session in setup mode, whose page is ours, the provider's token of a card that its payer's browser had kept. The token proves
 * nothing: what it is, the provider is asked. Noted twice it changes nothing. False where the session takes no card, or none any more, and
 * beyond the most that it takes. Throws `not_found`.
 */
export async function noteMethodToken(
  tx: ScopedSql,
  { sessionId, methodToken, at }: { sessionId: string; methodToken: string; at: string },
): Promise<boolean> {
  const row = await lockCheckout(tx, sessionId);
  const known = row.method_tokens;
  if (known.includes(methodToken)) return true;
  const takesCards = row.checkout_payment_id === null && row.link_state === 'open';
  if (!isCheckoutActive(row.checkout_status) || !takesCards || known.length >= mostMethodTokens) return false;
  const changed = await changeCheckout(tx, row, {
    sets: 'method_tokens = method_tokens || $4::text',
    values: [methodToken],
    at,
  });
  await writeAudit(tx, tx.scope, [checkoutAudit(changed!, 'card kept', at, { cards: known.length + 1 })]);
  return true;
}
