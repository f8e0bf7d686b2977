import type { LinkedMethod } from '../../../billing/checkout-link.ts';
import { writeAudit } from '../../audit.ts';
import type { ScopedSql } from '../../transaction.ts';
import type { CheckoutRow } from './checkout-row.ts';

/** Whether the payer's method is kept, as the page has told it. design: money-in-checkout §B12 */
export function keepsMethod(row: CheckoutRow): boolean {
  return row.provider_config.save_method === 'true';
}

/**
 * Keeps the method that paid a session, so that renewals are charged to it. It becomes the customer's default: subscriptions have no
 * method of their own, and the payer has just agreed to this one. design: money-in-checkout §B12
 */
export async function keepMethod(
  tx: ScopedSql,
  row: CheckoutRow,
  { id, method, at }: { id: string; method: LinkedMethod; at: string },
): Promise<void> {
  const { environmentId, actor } = tx.scope;
  const now = new Date().toISOString();
  await tx.rows('select id from customer where environment_id = $1 and id = $2 for update', [
    environmentId,
    row.customer_id,
  ]);
  await tx.rows(
    `update payment_method set is_default = false, updated_at = $3, updated_by = $4
     where environment_id = $1 and customer_id = $2 and is_default`,
    [environmentId, row.customer_id, now, actor],
  );
  await tx.rows(
    `insert into payment_method (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, customer_id, gateway,
       gateway_token, customer_token, type, brand, last_four, is_default, metadata, connection_id)
     values ($1, $2, $3, $4, $5, $4, $5, $6, $7, $8, $9, 'CARD', $10, $11, true, '{}',
       (select p.connection_id from payment p where p.environment_id = $3 and p.id = $12))`,
    [
      id,
      row.tenant_id,
      environmentId,
      now,
      actor,
      row.customer_id,
      row.payment_provider,
      method.token,
      method.customerToken,
      method.brand,
      method.lastFour,
      row.checkout_payment_id,
    ],
  );
  const detail = { customer_id: row.customer_id, gateway: row.payment_provider, is_default: true };
  await writeAudit(tx, tx.scope, [
    { objectType: 'payment_method', objectId: id, action: 'created', occurredAt: at, detail },
  ]);
}
