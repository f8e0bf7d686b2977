import { missing } from '../../db/rows/record.ts';
import type { SealedRow } from '../integration/connection-secret.ts';
import type { PaymentTransaction } from './payment-row.ts';

/** An object whose money a provider moves, or whose method it saves, and the provider. */
export interface ProvidersObject {
  kind: 'payment' | 'opening_charge' | 'refund' | 'checkout_session';
  id: string;
  provider: string;
}

/**
 * Condition of saved methods `m` that can be charged: the account that keeps them is still connected. Those of a deleted connection
 * stay listed, and can be charged again once the same account is connected. design: money-in-checkout §A1
 */
export const accountIsConnected = `not exists (select from connection k where k.id = m.connection_id and k.status <> 'published')`;

/** Condition of saved methods `m` that are charged automatically: without their payer, and at an account that is connected. */
export const isChargedAlone = `m.usage = 'off_session' and ${accountIsConnected}`;

/**
 * The connection that an object's questions go to, written down with the first one: that of its payment, else of its saved method, else the
 * published one of the environment. From then on no other connection answers for it, because another account would not know what
 * was sent to the first. A deleted one answers for what was sent through it, and is sent no new charge. Null where there is none.
 * design: money-in-checkout §A1
 */
export async function bindConnection(tx: PaymentTransaction, object: ProvidersObject): Promise<SealedRow | null> {
  const [row] = await tx.rows<ConnectionRow>(bindTexts[object.kind], [
    tx.scope.environmentId,
    object.id,
    object.provider,
  ]);
  if (!row) throw missing(object.kind.replace('_', ' '), object.id);
  if (row.id === null) return null;
  const isBound = object.kind === 'payment' || object.kind === 'checkout_session';
  const wasSent = object.kind === 'refund' || (isBound && row.bound_id !== null);
  if (row.connection_status !== 'published' && !wasSent) return null;
  const { id, tenant_id, secret_key_id, secret_nonce, secret_ciphertext } = row;
  if (isBound && row.bound_id === null) {
    await tx.rows(
      `update ${object.kind} set connection_id = $3 where environment_id = $1 and id = $2 and connection_id is null`,
      [tx.scope.environmentId, object.id, id],
    );
  }
  return {
    id,
    tenantId: tenant_id,
    environmentId: tx.scope.environmentId,
    secretKeyId: secret_key_id,
    secretNonce: secret_nonce,
    secretCiphertext: secret_ciphertext,
  };
}

interface ConnectionRow {
  bound_id: string | null;
  id: string | null;
  connection_status: string;
  tenant_id: string;
  secret_key_id: string | null;
  secret_nonce: Buffer | null;
  secret_ciphertext: Buffer | null;
}

/** The connection of a row `o` whose own is `bound` and whose method is `m`; its row is kept from being archived meanwhile. */
const bindText = (from: string, bound: string, objectId: string) => `
select ${bound} as bound_id, c.id, c.status as connection_status, c.tenant_id, c.secret_key_id, c.secret_nonce, c.secret_ciphertext
from ${from} left join lateral (
  select * from connection c where c.environment_id = $1
    and c.id = coalesce(${bound}, m.connection_id,
      (select p.id from connection p where p.environment_id = $1 and p.provider_type = $3 and p.status = 'published'))
  for share) c on true
where o.environment_id = $1 and ${objectId} = $2`;

const bindTexts: Record<ProvidersObject['kind'], string> = {
  payment: bindText('payment o left join payment_method m on m.id = o.payment_method_id', 'o.connection_id', 'o.id'),
  opening_charge: bindText(
    'opening_charge o left join payment_method m on m.id = o.payment_method_id',
    'm.connection_id',
    'o.id',
  ),
  refund: bindText(
    `refund r join payment o on o.id = r.payment_id and o.environment_id = r.environment_id
      left join payment_method m on m.id = o.payment_method_id`,
    'o.connection_id',
    'r.id',
  ),
  checkout_session: bindText('checkout_session o left join payment_method m on false', 'o.connection_id', 'o.id'),
};
