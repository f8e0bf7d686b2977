import type { PaymentTransaction } from '../collection/payment-row.ts';
import type { RefundRow } from './refund-row.ts';

/**
 * True while its payment still holds the money of a refund, of which somebody may have given back some at the gateway meanwhile, or a bank may
 * be about to take some.
 */
export async function hasRoom(tx: PaymentTransaction, row: RefundRow): Promise<boolean> {
  const [payment] = await tx.rows<{ has_room: boolean }>(
    `select p.amount - coalesce((select sum(r.amount) from refund r where r.environment_id = p.environment_id and r.payment_id = p.id
         and r.id <> $3 and r.refund_status in ('PENDING', 'PROCESSING', 'SUCCEEDED')), 0)
       - ${disputed} >= $4::numeric as has_room
     from payment p where p.environment_id = $1 and p.id = $2`,
    [tx.scope.environmentId, row.payment_id, row.id, row.amount],
  );
  return payment?.has_room ?? true;
}

const disputed = `coalesce((select sum(d.amount) from dispute d where d.environment_id = p.environment_id and d.payment_id = p.id
         and d.dispute_status = 'open'), 0)`;

/** Reason why a payment has no room for a refund, in words. */
export async function noRoom(tx: PaymentTransaction, { payment_id: id }: RefundRow): Promise<string> {
  const [payment] = await tx.rows<{ is_disputed: boolean }>(
    `select ${disputed} > 0 as is_disputed from payment p where p.environment_id = $1 and p.id = $2`,
    [tx.scope.environmentId, id],
  );
  return payment?.is_disputed
    ? `payment ${id} is disputed, and its bank may take the money back`
    : `payment ${id} holds the money no longer: it was given back at the gateway itself`;
}
