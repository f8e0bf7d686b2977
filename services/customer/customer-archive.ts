import { refuse } from '../../billing/refusal.ts';
import { Wallet } from '../../db/entities/wallet/wallet.ts';
import type { Transaction } from '../../db/transaction.ts';

/**
 * Refuses to archive a customer with a wallet that is not closed or a payment page that is open, or of whom money is still on its way: a
 * charge, an automatic top-up, or a refund. Throws `invalid_operation`.
 * spec: platform §10.2; design: money-in-wallets finding 41, money-in-checkout §B17
 */
export async function refuseUnsettled(tx: Transaction, customerId: string): Promise<void> {
  await refuseOpenWallets(tx, customerId);
  await refuseOpenCheckouts(tx, customerId);
  await refuseMovingMoney(tx, customerId);
}

async function refuseOpenWallets(tx: Transaction, customerId: string): Promise<void> {
  const where = {
    environmentId: tx.scope.environmentId,
    customerId,
    walletStatus: { $ne: 'closed' },
    status: 'published',
  };
  const open = await tx.em.count(Wallet, where);
  if (open === 0) return;
  throw refuse(
    'invalid_operation',
    `customer ${customerId} has ${open} wallets that are not closed; terminate them first`,
  );
}

async function refuseOpenCheckouts(tx: Transaction, customerId: string): Promise<void> {
  const [open] = await tx.rows<{ id: string }>(
    `select id from checkout_session where environment_id = $1 and customer_id = $2 and status = 'published'
       and checkout_status in ('initiated', 'pending') order by id limit 1`,
    [tx.scope.environmentId, customerId],
  );
  if (!open) return;
  throw refuse(
    'invalid_operation',
    `checkout session ${open.id} of customer ${customerId} can still be paid; cancel it, or wait until it ends`,
    { context: { checkout_session_id: open.id } },
  );
}

async function refuseMovingMoney(tx: Transaction, customerId: string): Promise<void> {
  const [moving] = await tx.rows<{ noun: string; id: string }>(
    `select 'payment' as noun, id from payment where environment_id = $1 and customer_id = $2 and payment_status = 'PROCESSING'
     union all
     select 'attempt', id from auto_topup_attempt where environment_id = $1 and customer_id = $2 and outcome is null
     union all
     select 'refund', id from refund where environment_id = $1 and customer_id = $2 and not metadata ? 'replaced_by'
       and refund_status in ('PENDING', 'PROCESSING', 'FAILED')
     order by 2 limit 1`,
    [tx.scope.environmentId, customerId],
  );
  if (!moving) return;
  throw refuse(
    'invalid_operation',
    `${moving.noun} ${moving.id} of customer ${customerId} is not settled yet; archive the customer once it is`,
    { context: { [`${moving.noun}_id`]: moving.id } },
  );
}
