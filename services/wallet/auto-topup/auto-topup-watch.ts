import { decimalString } from '../../../billing/money/money.ts';
import { creditsUntilLow } from '../../../billing/wallet/auto-topup-decision.ts';
import { creditValue } from '../../../billing/wallet/wallet.ts';
import { realNow } from '../../../db/clock.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql, Transaction } from '../../../db/transaction.ts';
import { readAutoTopup } from '../../topup/auto-topup-read.ts';
import { lockAutoTopup, refreshAutoTopup } from '../../topup/auto-topup-standing.ts';
import { findWallet } from '../wallet.ts';
import type { WalletBalance } from '../wallet-balance.ts';

const isIdle = `(state = 'armed' or (state = 'blocked' and reason in ('no_use', 'suspended')))`;
const isWaiting = `${isIdle} and evaluate_at is null`;

/** A wallet that fills itself, as its workflow is told of it. */
export interface ToppedUpWallet {
  id: string;
  customerId: string;
  testClockId: string | null;
}

type WatchedRow = { id: string; customer_id: string; test_clock_id: string | null; is_waiting: boolean };

/**
 * Wallets of customers that wait for nothing but their balance to fall, and are not told of it yet. One that is being looked at is waited
 * for: that look may have read the usage before what its customer was marked for.
 */
export async function waitingWallets(
  sql: Sql,
  scope: Scope,
  customerIds: readonly string[],
): Promise<ToppedUpWallet[]> {
  const rows = await sql.rows<WatchedRow>(
    `select r.id, r.customer_id, r.test_clock_id, ${isWaiting} as is_waiting from wallet_auto_topup r
     where r.environment_id = $1 and r.customer_id = any($2) and (${isIdle} or r.evaluate_at <= coalesce(
       (select k.frozen_time from test_clock k where k.id = r.test_clock_id), $3::timestamptz))
     order by r.id for update of r`,
    [scope.environmentId, customerIds, realNow()],
  );
  return rows.filter(({ is_waiting }) => is_waiting).map(watchedWallet);
}

function watchedWallet({ id, customer_id: customerId, test_clock_id: testClockId }: WatchedRow): ToppedUpWallet {
  return { id, customerId, testClockId };
}

/** Wallets in real time with a step that should have been done by `before`, the longest due first; parked ones wait for a person. */
export async function lateTopUps(
  sql: Sql,
  before: string,
  limit: number,
): Promise<(ToppedUpWallet & { tenantId: string; environmentId: string })[]> {
  return sql.rows(
    `select a.object_id as id, a.customer_id as "customerId", null as "testClockId", a.tenant_id as "tenantId",
       a.environment_id as "environmentId"
     from agenda_entry a where a.object_type = 'auto_top_up' and a.test_clock_id is null and a.due_at <= $1 and not exists (
       select from parked_object o where o.environment_id = a.environment_id and o.object_type = a.object_type and o.object_id = a.object_id)
     order by a.due_at limit $2`,
    [before, limit],
  );
}

/** Instant of a customer's present at which a wallet was found low; else what usage may cost before it is. */
export interface WalletLook {
  lowAt: string | null;
  /** Money in the wallet's currency; null where no usage matters before the wallet itself changes. */
  headroom: string | null;
}

/**
 * Compares the balance of a waiting wallet with its threshold; where it is low, it is put on the agenda for now, once. A wallet that nobody
 * uses, or of a suspended tenant, is looked at again when anything of its customer changes.
 */
export async function lookAtWallet(
  tx: Transaction,
  walletId: string,
  balance: Pick<WalletBalance, 'creditBalance' | 'spendable'> | undefined,
): Promise<WalletLook> {
  const unwatched = { lowAt: null, headroom: null };
  const read = await readAutoTopup(tx, tx.scope, walletId);
  if (!read) return unwatched;
  if (read.facts.isUnused || read.facts.isTenantSuspended) return { lowAt: null, headroom: '0' };
  if (!balance) return unwatched;
  const wallet = await findWallet(tx, walletId);
  const { creditBalance: realTimeCreditBalance, spendable } = balance;
  const rest = creditsUntilLow({ terms: read.facts.terms, realTimeCreditBalance, spendable });
  if (rest.gt(0)) return { lowAt: null, headroom: decimalString(creditValue(rest, wallet.conversionRate)) };
  // Somebody may have looked meanwhile.
  if (!(await lockAutoTopup(tx, tx.scope, walletId))) return unwatched;
  const { now } = read.facts;
  const [claimed] = await tx.rows(
    `update wallet_auto_topup set evaluate_at = $3 where environment_id = $1 and id = $2 and ${isWaiting} returning id`,
    [tx.scope.environmentId, walletId, now],
  );
  if (!claimed) return unwatched;
  await refreshAutoTopup(tx, tx.scope, walletId);
  return { lowAt: now, headroom: null };
}
