import type { ScopedSql } from '../../db/transaction.ts';

/** Gives the saved methods of an account's deleted connections to its new one; none where the account is not known. */
export async function adoptMethods(
  tx: ScopedSql,
  connection: { id: string; provider: string; account: string | null; connectedAt: string },
): Promise<void> {
  if (connection.account === null) return;
  await tx.rows(
    `update payment_method m set connection_id = $2, updated_at = $6, updated_by = $5 from connection k
     where m.environment_id = $1 and k.environment_id = $1 and k.id = m.connection_id and k.status <> 'published'
       and k.provider_type = $3 and k.provider_account = $4`,
    [
      tx.scope.environmentId,
      connection.id,
      connection.provider,
      connection.account,
      tx.scope.actor,
      connection.connectedAt,
    ],
  );
}

/** Objects whose money still moves through a connection. */
export interface OpenThroughConnection {
  payments: number;
  opening_charges: number;
  refunds: number;
  /** Sessions that can be paid, and those whose page may still be payable. */
  checkout_sessions: number;
}

/** Counts what is under way at the provider of a connection. An object that is not bound yet counts, because the next question binds it. */
export async function openThroughConnection(
  tx: ScopedSql,
  connection: { id: string; provider: string },
): Promise<OpenThroughConnection> {
  const [counts] = await tx.rows<OpenThroughConnection & Record<string, unknown>>(openText, [
    tx.scope.environmentId,
    connection.id,
    connection.provider,
  ]);
  return counts ?? { payments: 0, opening_charges: 0, refunds: 0, checkout_sessions: 0 };
}

/** Whether money was taken through a connection, which may have to go back through it. */
export async function tookMoney(tx: ScopedSql, connectionId: string): Promise<boolean> {
  const [row] = await tx.rows<{ took: boolean }>(
    'select exists (select from payment where environment_id = $1 and connection_id = $2 and succeeded_at is not null) as took',
    [tx.scope.environmentId, connectionId],
  );
  return row?.took ?? false;
}

const ofConnection = (column: string) => `(${column} = $2 or ${column} is null)`;
const openText = `
select (select count(*) from payment p where p.environment_id = $1 and p.payment_gateway = $3 and p.payment_status = 'PROCESSING'
    and ${ofConnection('p.connection_id')})::int as payments,
  (select count(*) from opening_charge c where c.environment_id = $1 and c.payment_gateway = $3 and c.charge_status = 'open')::int
    as opening_charges,
  (select count(*) from refund r join payment p on p.id = r.payment_id and p.environment_id = r.environment_id
    where r.environment_id = $1 and r.payment_gateway = $3 and r.refund_status in ('PENDING', 'PROCESSING')
      and ${ofConnection('p.connection_id')})::int as refunds,
  (select count(*) from checkout_session s left join payment p on p.id = s.checkout_payment_id and p.environment_id = s.environment_id
    where s.environment_id = $1 and s.payment_provider = $3 and ${ofConnection('coalesce(p.connection_id, s.connection_id)')}
      and (s.checkout_status in ('initiated', 'pending') or s.link_state = 'open'))::int as checkout_sessions`;
