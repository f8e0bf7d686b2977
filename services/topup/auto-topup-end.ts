import { refuse } from '../../billing/refusal.ts';
import { declinesUntilPause, isHardDecline } from '../../billing/wallet/auto-topup-limits.ts';
import { pausesOfCards } from '../../billing/wallet/auto-topup-standing.ts';
import { missing } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { writeAudit } from '../platform/audit.ts';
import { followTopUp, lockAutoTopup, refreshAutoTopup } from './auto-topup-standing.ts';

/** A purchase of credits that completed or failed. */
export interface EndedPurchase {
  purchaseId: string;
  walletId: string;
  isCompleted: boolean;
  at: string;
}

interface EndedAttempt {
  id: string;
  outcome: string;
  decline_reason: string | null;
  decline_class: string | null;
  [column: string]: unknown;
}

/**
 * Ends the attempts whose purchases completed or failed, in that transaction, and has the wallets looked at again, also after a purchase
 * by hand: the balance moved. Declines in a row are counted here; the fourth, or one hard decline, pauses. design: money-in §1
 */
export async function endAttempts(sql: Sql, scope: Scope, purchases: readonly EndedPurchase[]): Promise<void> {
  for (const { purchaseId, walletId, isCompleted, at } of purchases) {
    if (!(await lockAutoTopup(sql, scope, walletId))) continue;
    const [attempt] = await sql.rows<EndedAttempt>(
      `update auto_topup_attempt set outcome = case when $3 then 'succeeded' else coalesce(ending, 'voided') end, ended_at = $4,
         updated_at = $5, updated_by = $6
       where environment_id = $1 and purchase_id = $2 and outcome is null returning id, outcome, decline_reason, decline_class`,
      [scope.environmentId, purchaseId, isCompleted, at, new Date().toISOString(), scope.actor],
    );
    await countOutcome(sql, scope, walletId, attempt ?? null, at);
    if (attempt) {
      const detail = { attempt_id: attempt.id, reason: attempt.decline_reason };
      const action = `auto top-up ${attempt.outcome}`;
      await writeAudit(sql, scope, [{ objectType: 'wallet', objectId: walletId, action, occurredAt: at, detail }]);
    }
    await followTopUp(sql, scope, walletId, 'paymentSettled');
  }
}

async function countOutcome(
  sql: Sql,
  scope: Scope,
  walletId: string,
  attempt: EndedAttempt | null,
  at: string,
): Promise<void> {
  const isDeclined = attempt?.outcome === 'declined';
  await sql.rows(
    `update wallet_auto_topup set evaluate_at = least(coalesce(evaluate_at, $3), $3),
       consecutive_declines = case when $4 then consecutive_declines + 1 when $5 then 0 else consecutive_declines end,
       pause = coalesce(pause, case when $6 then 'hard_decline' when $4 and consecutive_declines + 1 >= $7 then 'declines' end)
     where environment_id = $1 and id = $2`,
    [
      scope.environmentId,
      walletId,
      at,
      isDeclined,
      attempt?.outcome === 'succeeded',
      isDeclined && isHardDecline(attempt.decline_reason, attempt.decline_class),
      declinesUntilPause,
    ],
  );
}

/** An attempt whose charge its gateway has answered. */
export interface ChargedAttempt {
  id: string;
  wallet_id: string;
  invoice_id: string | null;
  outcome: string | null;
  is_lapsing: boolean;
  [column: string]: unknown;
}

/** The attempt that a payment is the charge of; null for any other payment. */
export async function attemptOfPayment(sql: Sql, scope: Scope, paymentId: string): Promise<ChargedAttempt | null> {
  const [row] = await sql.rows<ChargedAttempt>(
    `select id, wallet_id, invoice_id, outcome, asked_to_lapse_at is not null as is_lapsing from auto_topup_attempt
     where environment_id = $1 and payment_id = $2`,
    [scope.environmentId, paymentId],
  );
  return row ?? null;
}

/** Words of a gateway about a charge that it declined. */
export interface Decline {
  reason: string | null;
  declineClass: string | null;
}

/** Notes that the charge of an attempt was declined, or given up after its time: its purchase is about to fail with it. */
export async function noteDecline(sql: Sql, scope: Scope, attemptId: string, decline: Decline): Promise<void> {
  await sql.rows(
    `update auto_topup_attempt set ending = case when asked_to_lapse_at is null then 'declined' else 'lapsed' end, decline_reason = $3,
       decline_class = $4 where environment_id = $1 and id = $2 and outcome is null`,
    [scope.environmentId, attemptId, decline.reason, decline.declineClass],
  );
}

/**
 * The charge of an attempt was declined because its payer has to confirm: the invoice stays open for a day, in which the payer can pay it
 * in person. design: money-in-wallets finding 10
 */
export async function noteNeededAction(
  sql: Sql,
  scope: Scope,
  attempt: ChargedAttempt,
  decline: Decline,
  at: string,
): Promise<void> {
  await sql.rows(
    `update auto_topup_attempt set needs_action_since = $3, decline_reason = $4, decline_class = $5
     where environment_id = $1 and id = $2 and outcome is null`,
    [scope.environmentId, attempt.id, at, decline.reason, decline.declineClass],
  );
  await followTopUp(sql, scope, attempt.wallet_id, 'paymentSettled');
}

/** Notes that money came for an attempt that had ended without it; the outcome stays. design: money-in-wallets finding 33 */
export async function noteLateCapture(sql: Sql, scope: Scope, attemptId: string): Promise<void> {
  await sql.rows(
    'update auto_topup_attempt set late_capture = true where environment_id = $1 and id = $2 and outcome is not null',
    [scope.environmentId, attemptId],
  );
}

interface OpenRow {
  id: string;
  purchase_id: string;
  invoice_id: string | null;
  payment_id: string | null;
  is_processing: boolean;
  [column: string]: unknown;
}

const openText = `
select a.id, a.purchase_id, a.invoice_id, a.payment_id, coalesce(p.payment_status = 'PROCESSING', false) as is_processing
from auto_topup_attempt a left join payment p on p.id = a.payment_id
where a.environment_id = $1 and a.wallet_id = $2 and a.outcome is null`;

/**
 * The attempt under way, its invoice and payment locked as a settlement locks them, before the wallet; null where none is, also when it
 * ended while this waited. spec: wallets-and-payments §0 Locks
 */
async function lockOpenAttempt(sql: Sql, scope: Scope, walletId: string): Promise<OpenRow | null> {
  const values = [scope.environmentId, walletId];
  const [found] = await sql.rows<OpenRow>(openText, values);
  if (!found) return null;
  await sql.rows('select id from invoice where id = $1 for update', [found.invoice_id]);
  await sql.rows('select id from payment where id = $1 for update', [found.payment_id]);
  await sql.rows('select id from wallet where environment_id = $1 and id = $2 for update', values);
  await lockAutoTopup(sql, scope, walletId);
  const [open] = await sql.rows<OpenRow>(openText, values);
  return open?.id === found.id ? open : null;
}

/**
 * The time of an attempt is over. Answers the payment that its gateway is to be asked to give up; an invoice that nobody pays is named
 * in `invoiceId`, to be voided. design: money-in-wallets finding 10
 */
export async function beginLapse(
  sql: Sql,
  scope: Scope,
  walletId: string,
  at: string,
): Promise<{ paymentId: string | null; invoiceId: string | null }> {
  const attempt = await lockOpenAttempt(sql, scope, walletId);
  if (!attempt) return { paymentId: null, invoiceId: null };
  await sql.rows(
    `update auto_topup_attempt set asked_to_lapse_at = $3, ending = 'lapsed' where environment_id = $1 and id = $2`,
    [scope.environmentId, attempt.id, at],
  );
  return attempt.is_processing
    ? { paymentId: attempt.payment_id, invoiceId: null }
    : { paymentId: null, invoiceId: attempt.invoice_id };
}

/**
 * Marks the open attempt as given up by a person: its purchase, which is answered, is to fail; the payment stays as it is, and what its
 * gateway says later decides about the money. Throws `invalid_operation` where none is under way, or where no gateway is being waited for.
 * design: money-in-wallets finding 34
 */
export async function giveUp(sql: Sql, scope: Scope, walletId: string): Promise<string> {
  const attempt = await lockOpenAttempt(sql, scope, walletId);
  if (!attempt) throw refuse('invalid_operation', 'give_up needs an attempt that is under way; there is none');
  if (!attempt.is_processing) {
    const problem = `attempt ${attempt.id} waits for its payer, and no gateway; void its invoice instead`;
    throw refuse('invalid_operation', problem, { invoice_id: attempt.invoice_id });
  }
  await sql.rows(`update auto_topup_attempt set ending = 'unknown' where environment_id = $1 and id = $2`, [
    scope.environmentId,
    attempt.id,
  ]);
  return attempt.purchase_id;
}

/**
 * Pauses the top-ups of a wallet until a person resumes them, whatever cards or settings change meanwhile; an attempt under way goes on to
 * its end. Harmless to do again. Throws `invalid_operation` for a wallet that never had any. design: money-in §1, money-in-wallets finding 26
 */
export async function pauseByOperator(sql: Sql, scope: Scope, walletId: string, at: string): Promise<void> {
  const [row] = await sql.rows(
    `update wallet_auto_topup set pause = 'operator', updated_at = $3, updated_by = $4 where environment_id = $1 and id = $2 returning id`,
    [scope.environmentId, walletId, new Date().toISOString(), scope.actor],
  );
  if (!row) throw neverFilled(walletId);
  const audit = { objectType: 'wallet', objectId: walletId, action: 'auto top-up paused by a person', occurredAt: at };
  await writeAudit(sql, scope, [{ ...audit, detail: {} }]);
  await followTopUp(sql, scope, walletId, 'settingsChanged');
}

/**
 * Pauses the top-ups of a wallet whose purchase was refunded, in the transaction that takes its credits back, or is disputed: money that
 * somebody gave back or wants back is not charged again until a person resumes. `key` names the refund, note, void or dispute. Takes the place of a pause that a new card ends; does
 * nothing for a wallet that does not fill itself. design: money-in §1 Why it cannot run away, money-in-wallets finding 5
 */
export async function pauseByReturn(
  sql: Sql,
  scope: Scope,
  { walletId, key, at, by = 'refund' }: { walletId: string; key: string; at: string; by?: 'refund' | 'dispute' },
): Promise<void> {
  if (!(await lockAutoTopup(sql, scope, walletId))) return;
  const [row] = await sql.rows(
    `update wallet_auto_topup r set pause = $6, updated_at = $3, updated_by = $4
     where r.environment_id = $1 and r.id = $2 and (r.pause is null or r.pause = any($5))
       and exists (select from wallet w where w.id = r.id and w.wallet_status <> 'closed' and (w.auto_topup ->> 'enabled')::boolean)
     returning r.id`,
    [scope.environmentId, walletId, new Date().toISOString(), scope.actor, pausesOfCards, by],
  );
  if (!row) return;
  const action = `auto top-up paused by a ${by}`;
  const audit = { objectType: 'wallet', objectId: walletId, action, occurredAt: at };
  await writeAudit(sql, scope, [{ ...audit, detail: { key } }]);
  await followTopUp(sql, scope, walletId, 'paymentSettled');
}

/** Refusal of what only a wallet with automatic top-ups can be asked for. */
export function neverFilled(walletId: string): Error {
  return refuse('invalid_operation', `wallet ${walletId} has never had automatic top-ups; set auto_topup first`);
}

/** Ends a pause. Declines in a row begin anew; no counter of a limit does. Throws `not_found`, `invalid_operation` where nothing is paused. */
export async function endPause(sql: Sql, scope: Scope, walletId: string, at: string): Promise<void> {
  const [row] = await sql.rows<{ pause: string | null }>(
    'select pause from wallet_auto_topup where environment_id = $1 and id = $2 for update',
    [scope.environmentId, walletId],
  );
  if (!row) throw missing('automatic top-up of wallet', walletId);
  if (row.pause === null)
    throw refuse('invalid_operation', 'the automatic top-up is not paused; there is nothing to resume');
  await sql.rows(
    `update wallet_auto_topup set pause = null, consecutive_declines = 0, evaluate_at = $3 where environment_id = $1 and id = $2`,
    [scope.environmentId, walletId, at],
  );
  await refreshAutoTopup(sql, scope, walletId);
}
