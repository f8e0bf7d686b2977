import { decimal } from '../../../billing/money/money.ts';
import type { LinkedMethod } from '../../../billing/payment/checkout-link.ts';
import { mandateLimit } from '../../../billing/payment/saved-method.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import type { CheckoutRow } from '../../collection/checkout-row.ts';
import { writeAudit } from '../../platform/audit.ts';
import { type SettingValue, settingDefaults } from '../../platform/setting-defaults.ts';
import { followMethods } from '../../topup/auto-topup-switch.ts';
import { mandateCeilings } from '../mandate-ceiling.ts';

/** Whether the payer's method is kept, as the page has told it. design: money-in-checkout §B12 */
export function keepsMethod(row: CheckoutRow): boolean {
  return row.provider_config.save_method === 'true';
}

/**
 * Keeps the method that paid a session for its payer, so that renewals are charged to it: the subscription it was for names it from now
 * on, and a payer who has no default method, or wants it so, gets it as such. Later charges are limited as its session asked, by the ceiling of the
 * setting `payment_mandate_limits` and by its provider. spec: wallets-and-payments §2.17 Mandates; design: money-in-checkout §B12
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
  const isDefault = row.provider_config.set_default === 'true';
  if (isDefault) {
    await tx.rows(
      `update payment_method set is_default = false, updated_at = $3, updated_by = $4
       where environment_id = $1 and customer_id = $2 and is_default`,
      [environmentId, row.customer_id, now, actor],
    );
  }
  const isNew = !(await isKept(tx, row, method));
  const limit = lower(await mandateLimitOf(tx, row), method.maxAmount ?? null);
  const [kept] = await tx.rows<{ is_default: boolean }>(
    `insert into payment_method (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, customer_id, gateway,
       gateway_token, customer_token, type, brand, last_four, metadata, usage, max_amount, fingerprint, connection_id, is_default)
     values ($1, $2, $3, $4, $5, $4, $5, $6, $7, $8, $9, 'CARD', $10, $11, $12, $13, $16, $17,
       coalesce($14, (select p.connection_id from payment p where p.environment_id = $3 and p.id = $15)),
       not exists (select from payment_method m where m.environment_id = $3 and m.customer_id = $6 and m.status = 'published' and m.is_default))
     returning is_default`,
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
      row.action === 'save_method' ? row.metadata : {},
      row.provider_config.usage ?? 'off_session',
      row.connection_id,
      row.checkout_payment_id,
      limit,
      method.fingerprint ?? null,
    ],
  );
  await tx.rows('update subscription set gateway_payment_method_id = $3 where environment_id = $1 and id = $2', [
    environmentId,
    row.subscription_id,
    id,
  ]);
  const detail = { customer_id: row.customer_id, gateway: row.payment_provider, is_default: kept!.is_default };
  await writeAudit(tx, tx.scope, [
    { objectType: 'payment_method', objectId: id, action: 'created', occurredAt: at, detail },
  ]);
  // The same card again is no new one: it ends no pause that it caused. design: money-in-wallets findings 9, 26
  await followMethods(tx, tx.scope, row.customer_id, { isNew });
}

/** The lower of two limits, either of which may be none. */
function lower(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return decimal(one).lessThan(other) ? one : other;
}

/** Whether the payer's card was saved before, as its provider tells. */
async function isKept(tx: ScopedSql, row: CheckoutRow, { fingerprint = null }: LinkedMethod): Promise<boolean> {
  const [known] = await tx.rows(
    'select id from payment_method where environment_id = $1 and customer_id = $2 and gateway = $3 and fingerprint = $4 limit 1',
    [row.environment_id, row.customer_id, row.payment_provider, fingerprint],
  );
  return known !== undefined;
}

/** Most that the method may be charged at once without its payer; null for no limit. spec: wallets-and-payments §2.17 Mandates */
export async function mandateLimitOf(
  tx: ScopedSql,
  { provider_config: config, currency }: CheckoutRow,
): Promise<string | null> {
  const [stored] = await tx.rows<{ value: Partial<SettingValue<'payment_mandate_limits'>> }>(
    `select value from setting where environment_id = $1 and key = 'payment_mandate_limits' and status = 'published'`,
    [tx.scope.environmentId],
  );
  const ceilings = mandateCeilings({ ...settingDefaults.payment_mandate_limits, ...stored?.value });
  const method = config.payment_method ?? 'CARD';
  const limit = mandateLimit({ method, currency, maxMandateLimit: config.max_mandate_limit ?? null }, ceilings);
  return limit?.toFixed() ?? null;
}
