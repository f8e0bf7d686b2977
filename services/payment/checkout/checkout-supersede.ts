import { checkoutMove } from '../../../billing/payment/checkout.ts';
import { refuse } from '../../../billing/refusal.ts';
import { conflictsWith, type TouchedParts } from '../../../billing/subscription/planned-change.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { type CheckoutRow, checkoutColumns } from '../../collection/checkout-row.ts';
import { cleanUpCheckout } from './checkout-clean-up.ts';

/** A command on a subscription, as far as it concerns the checkout sessions of that. */
export interface CommandedChange {
  subscriptionId: string;
  touched: TouchedParts;
  at: string;
}

/**
 * Carries a command out in the caller's transaction and ends, before it, the sessions whose orders it makes impossible; gives their ids,
 * whose workflows close the links. Sessions are locked before the subscription, as everywhere; one that was opened in between makes the
 * command try again. Refuses (invalid_operation) commands on a draft that waits for its own session.
 * design: money-in-checkout §A10
 */
export async function supersedingCheckouts<T>(
  tx: ScopedSql,
  change: CommandedChange,
  command: () => Promise<T>,
): Promise<{ result: T; endedCheckoutIds: string[] }> {
  const endedCheckoutIds: string[] = [];
  for (const row of await conflicting(tx, change, 'for update')) {
    refuseDraft(row);
    await supersedeCheckouts(tx, [row], change.at);
    endedCheckoutIds.push(row.id);
  }
  const result = await command();
  const [missed] = await conflicting(tx, change, '');
  if (missed) throw new Error(`checkout session ${missed.id} was opened while its subscription changed; tried again`);
  return { result, endedCheckoutIds };
}

async function conflicting(
  tx: ScopedSql,
  { subscriptionId, touched }: CommandedChange,
  lock: '' | 'for update',
): Promise<CheckoutRow[]> {
  const rows = await tx.rows<CheckoutRow>(
    `select ${checkoutColumns} from checkout_session where environment_id = $1 and subscription_id = $2
       and checkout_status in ('initiated', 'pending') and status = 'published' ${lock}`,
    [tx.scope.environmentId, subscriptionId],
    lock === '' ? 'checkout-of-subscription' : 'checkout-of-subscription-locked',
  );
  return rows.filter(({ action, planned }) =>
    planned === null ? action === 'create_subscription' : conflictsWith(planned, touched),
  );
}

function refuseDraft({ id, action, subscription_id }: CheckoutRow): void {
  if (action !== 'create_subscription') return;
  throw refuse(
    'invalid_operation',
    `subscription ${subscription_id} waits for its checkout session ${id} and begins when that is paid; cancel the session first`,
    { context: { checkout_session_id: id } },
  );
}

const ofWallet = `from checkout_session where environment_id = $1 and wallet_id = $2 and checkout_status in ('initiated', 'pending')
  and status = 'published' order by id`;

/** Locks the sessions that still can be paid and buy credits of a wallet: before its invoices, as everywhere. */
export async function lockWalletCheckouts(tx: ScopedSql, walletId: string): Promise<CheckoutRow[]> {
  return tx.rows<CheckoutRow>(`select ${checkoutColumns} ${ofWallet} for update`, [tx.scope.environmentId, walletId]);
}

/** Ids of the sessions that still can be paid and buy credits of a wallet, not locked. */
export async function readWalletCheckouts(tx: ScopedSql, walletId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(`select id ${ofWallet}`, [tx.scope.environmentId, walletId]);
  return rows.map(({ id }) => id);
}

/** Ends locked sessions with all they had drafted; their workflows close the links. spec: wallets-and-payments §2.9 */
export async function supersedeCheckouts(tx: ScopedSql, rows: readonly CheckoutRow[], at: string): Promise<void> {
  for (const row of rows) {
    const move = checkoutMove(row.checkout_status, 'superseded');
    await cleanUpCheckout(tx, row, { move, linkState: 'open', isAsked: false, at });
  }
}
