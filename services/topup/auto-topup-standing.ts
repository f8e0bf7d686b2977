import type { AgendaItem } from '../../billing/agenda.ts';
import {
  type AutoTopupStanding,
  autoTopupAgenda,
  autoTopupStanding,
  isTold,
} from '../../billing/wallet/auto-topup-standing.ts';
import { decimalText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { walletEvent } from '../ledger/wallet-event.ts';
import { replaceAgendas } from '../lifecycle/agenda.ts';
import { parkedReason } from '../lifecycle/parked-object.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { type AutoTopupRead, readAutoTopup } from './auto-topup-read.ts';
import { type ChangedTopUp, noteTopUp } from './auto-topup-told.ts';

export const autoTopupType = 'auto_top_up';

/** Automatic top-ups of a wallet as their workflow and the API see them. */
export interface AutoTopupState {
  walletId: string;
  read: AutoTopupRead;
  standing: AutoTopupStanding;
  agenda: AgendaItem[];
  blockedOn: string | null;
  blockedReason: string | null;
}

/** How the top-ups of a wallet stand; null for a wallet that never had any. design: money-in-wallets finding 42 */
export async function findAutoTopup(sql: Sql, scope: Scope, walletId: string): Promise<AutoTopupState | null> {
  const read = await readAutoTopup(sql, scope, walletId);
  if (!read) return null;
  const standing = autoTopupStanding(read.facts);
  const parked = await parkedReason(sql, scope, { objectType: autoTopupType, objectId: walletId });
  return {
    walletId,
    read,
    standing,
    agenda: autoTopupAgenda(read.facts, standing),
    blockedOn: parked?.step ?? null,
    blockedReason: parked?.reason ?? null,
  };
}

/** Locks the row of a wallet's top-ups: behind the wallet, where both are locked. False for a wallet that never had any. */
export async function lockAutoTopup(sql: Sql, scope: Scope, walletId: string): Promise<boolean> {
  const text = 'select id from wallet_auto_topup where environment_id = $1 and id = $2 for update';
  return (await sql.rows(text, [scope.environmentId, walletId])).length > 0;
}

/**
 * Writes down how the top-ups of a wallet stand after a change, and what time will bring to them, in the transaction of the change;
 * `wallet.updated` tells when they begin to be paused, limited, blocked or to wait for the payer. Null for a wallet that never had any.
 * design: money-in-wallets findings 42, 43
 */
export async function refreshAutoTopup(sql: Sql, scope: Scope, walletId: string): Promise<AutoTopupState | null> {
  if (!(await lockAutoTopup(sql, scope, walletId))) return null;
  const found = await findAutoTopup(sql, scope, walletId);
  if (!found) return null;
  const { read, standing, agenda } = found;
  const { row, facts } = read;
  // Who waits is looked at when the wait ends, also when something else is done in between.
  const evaluateAt = facts.open === null && standing.until !== null ? standing.until : facts.evaluateAt;
  const isNew = standing.state !== row.state || standing.reason !== row.reason || standing.until !== row.until;
  if (isNew || evaluateAt !== facts.evaluateAt) {
    await sql.rows(
      `update wallet_auto_topup set state = $3, reason = $4, until = $5, version = version + 1, updated_at = $6, updated_by = $7,
         evaluate_at = $8 where environment_id = $1 and id = $2`,
      [
        scope.environmentId,
        walletId,
        standing.state,
        standing.reason,
        standing.until,
        new Date().toISOString(),
        scope.actor,
        evaluateAt,
      ],
    );
  }
  await replaceAgendas(sql, [
    {
      tenantId: read.tenantId,
      environmentId: scope.environmentId,
      objectType: autoTopupType,
      objectId: walletId,
      customerId: read.customerId,
      testClockId: read.testClockId,
      items: agenda,
    },
  ]);
  const isChanged = standing.state !== row.state || standing.reason !== row.reason;
  if (isChanged && isTold(standing.state)) await tell(sql, scope, found, facts.now);
  return found;
}

async function tell(sql: Sql, scope: Scope, found: AutoTopupState, at: string): Promise<void> {
  const { walletId, standing } = found;
  const [wallet] = await sql.rows<Record<string, string>>(
    `select id, customer_id, currency, balance, credit_balance, wallet_status, name, wallet_type, conversion_rate from wallet
     where environment_id = $1 and id = $2`,
    [scope.environmentId, walletId],
  );
  if (!wallet) return;
  const event = walletEvent(
    'wallet.updated',
    {
      id: walletId,
      customerId: wallet.customer_id!,
      currency: wallet.currency!,
      balance: decimalText(wallet.balance!),
      creditBalance: decimalText(wallet.credit_balance!),
      walletStatus: wallet.wallet_status!,
      name: wallet.name!,
      walletType: wallet.wallet_type!,
      conversionRate: decimalText(wallet.conversion_rate!),
    },
    at,
  );
  const payload = { wallet: { ...event.payload.wallet, auto_topup_standing: standingOnWire(found) } };
  await writeEvents(sql, scope, [{ ...event, payload }]);
  await writeAudit(sql, scope, [
    {
      objectType: 'wallet',
      objectId: walletId,
      action: `auto top-up ${standing.state}`,
      occurredAt: at,
      detail: { ...standing },
    },
  ]);
}

/** The standing as answers and events show it. design: money-in-wallets finding 42 */
export function standingOnWire({ read, standing }: AutoTopupState) {
  return {
    state: standing.state,
    reason: standing.reason,
    until: standing.until,
    consecutive_declines: read.row.consecutiveDeclines,
    attempts_24h: read.counts.attempts24h,
    attempts_30d: read.counts.attempts30d,
    month_amount: read.counts.monthAmount,
    month_limit: read.counts.monthLimit,
    attempt_id: read.openAttempt?.id ?? null,
    invoice_id: read.openAttempt?.invoiceId ?? null,
    evaluated_at: read.row.evaluatedAt,
  };
}

/** Refreshes the top-ups of a wallet after a change that others made, and has their workflow told of it after the commit. */
export async function followTopUp(
  sql: Sql,
  scope: Scope,
  walletId: string,
  change: ChangedTopUp['change'],
): Promise<AutoTopupState | null> {
  const state = await refreshAutoTopup(sql, scope, walletId);
  if (!state) return null;
  const { customerId, testClockId, facts } = state.read;
  const isOver = state.standing.state === 'disabled' && state.agenda.length === 0;
  noteTopUp(sql, scope, { id: walletId, customerId, testClockId, at: facts.now, change, isOver });
  return state;
}
