import { refuse } from '../../billing/refusal.ts';
import { pausesOfCards } from '../../billing/wallet/auto-topup-standing.ts';
import { customerNow, realNow } from '../../db/clock.ts';
import type { AutoTopup } from '../../db/entities/wallet/wallet.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { watchEnvironment } from '../alert/alert-watch.ts';
import { isChargedAlone } from '../collection/payment-connection.ts';
import { followTopUp } from './auto-topup-standing.ts';

/** A wallet whose top-ups may have been switched on, off or changed. */
export interface SwitchedWallet {
  id: string;
  customerId: string;
  currency: string;
  autoTopup: AutoTopup | null | undefined;
}

/**
 * How top-ups will be paid, decided when they are switched on: by the saved method where there is one, else as the terms say. A wallet
 * that was charged once stays so. design: money-in-wallets finding 3
 */
export async function withCollection(
  sql: Sql,
  scope: Scope,
  customerId: string,
  autoTopup: AutoTopup,
): Promise<AutoTopup> {
  if (!autoTopup.enabled) return autoTopup;
  const [method] = await sql.rows(
    `select id from payment_method m where environment_id = $1 and customer_id = $2 and status = 'published' and is_default
       and ${isChargedAlone}`,
    [scope.environmentId, customerId],
  );
  if (method || autoTopup.collection === 'charge') return { ...autoTopup, collection: 'charge' };
  return { ...autoTopup, collection: autoTopup.invoicing ? 'invoice' : 'elsewhere' };
}

/**
 * Follows a change of a wallet's terms or status: its row is made when top-ups are first switched on, and is looked at at once. Pauses and
 * declines of the customer's other wallets in the currency are taken over: closing and converting forgets none of them.
 * design: money-in §1; money-in-wallets findings 9, 30
 */
export async function switchAutoTopup(sql: Sql, scope: Scope, wallet: SwitchedWallet): Promise<void> {
  const at = await customerNow(sql, wallet.customerId);
  if (wallet.autoTopup?.enabled) {
    await watchEnvironment(sql, scope);
    await sql.rows(insertRow, [
      scope.environmentId,
      wallet.id,
      scope.tenantId,
      wallet.customerId,
      wallet.currency,
      new Date().toISOString(),
      scope.actor,
    ]);
  }
  await sql.rows('update wallet_auto_topup set evaluate_at = $3 where environment_id = $1 and id = $2', [
    scope.environmentId,
    wallet.id,
    at,
  ]);
  await followTopUp(sql, scope, wallet.id, 'settingsChanged');
}

const insertRow = `
insert into wallet_auto_topup (environment_id, id, tenant_id, customer_id, currency, created_at, updated_at, created_by, updated_by,
  test_clock_id, state, pause, consecutive_declines)
select $1, $2, $3, $4, $5, $6, $6, $7, $7, c.test_clock_id, 'armed', o.pause, coalesce(o.consecutive_declines, 0)
from customer c left join lateral (
  select r.pause, r.consecutive_declines from wallet_auto_topup r where r.environment_id = $1 and r.customer_id = $4 and r.currency = $5
  order by r.updated_at desc limit 1) o on true
where c.id = $4 on conflict (id) do nothing`;

/**
 * A customer's methods changed: what waits for one is looked at. A new card also ends the pauses that cards cause, once, and resets no
 * counter of a limit. design: money-in-wallets finding 26
 */
export async function followMethods(
  sql: Sql,
  scope: Scope,
  customerId: string,
  { isNew }: { isNew: boolean },
): Promise<void> {
  const at = await customerNow(sql, customerId);
  const rows = await sql.rows<{ id: string }>(
    `update wallet_auto_topup set evaluate_at = $3,
       consecutive_declines = case when $4 and pause = any($5) then 0 else consecutive_declines end,
       pause = case when $4 and pause = any($5) then null else pause end
     where id in (select id from wallet_auto_topup where environment_id = $1 and customer_id = $2 and state <> 'disabled'
       order by id for update) returning id`,
    [scope.environmentId, customerId, at, isNew, pausesOfCards],
  );
  for (const { id } of rows) await followTopUp(sql, scope, id, 'methodChanged');
}

const spreadSeconds = 600;

/**
 * A setting changed that blocks or limits top-ups: those that it may hold are looked at again, spread over ten minutes of their clocks.
 * README decision 29; design: money-in-wallets finding 30
 */
export async function followLimits(sql: Sql, scope: Scope): Promise<void> {
  const rows = await sql.rows<{ id: string }>(
    `update wallet_auto_topup r set evaluate_at = coalesce((select k.frozen_time from test_clock k where k.id = r.test_clock_id),
       $2::timestamptz + make_interval(secs => abs(hashtext(r.id)) % ${spreadSeconds}))
     where r.id in (select id from wallet_auto_topup where environment_id = $1 and state in ('blocked', 'limited')
       order by id for update) returning r.id`,
    [scope.environmentId, realNow()],
  );
  for (const { id } of rows) await followTopUp(sql, scope, id, 'settingsChanged');
}

/** Refuses a top-up by hand while an automatic one is being charged: it would be paid twice. design: money-in-wallets finding 11 */
export async function refuseBesideAutomatic(sql: Sql, scope: Scope, walletId: string): Promise<void> {
  await sql.rows('select id from wallet where environment_id = $1 and id = $2 for update', [
    scope.environmentId,
    walletId,
  ]);
  const [attempt] = await sql.rows<{ id: string }>(
    `select a.id from auto_topup_attempt a join wallet w on w.id = a.wallet_id join payment p on p.id = a.payment_id
     where a.environment_id = $1 and a.wallet_id = $2 and a.outcome is null and p.payment_status = 'PROCESSING'
       and not coalesce((w.auto_topup ->> 'allow_concurrent')::boolean, false)`,
    [scope.environmentId, walletId],
  );
  if (!attempt) return;
  throw refuse(
    'already_exists',
    `automatic top-up ${attempt.id} of this wallet is being charged; wait for it, or set auto_topup.allow_concurrent`,
    { attempt_id: attempt.id },
  );
}
