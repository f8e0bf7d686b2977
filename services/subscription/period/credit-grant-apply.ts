import { decimal, decimalString } from '../../../billing/money/money.ts';
import { refusalIn } from '../../../billing/refusal.ts';
import { deferredGrant, followingGrantPeriod, grantAction, grantExpiry } from '../../../billing/wallet/credit-grant.ts';
import { creditValue } from '../../../billing/wallet/wallet.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { lockSubscriptions, type SubscriptionRow } from '../../charging/subscription-row.ts';
import { type AttendedSubscription, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import {
  expiryOf,
  type GrantRow,
  grantFromRow,
  insertApplications,
  scheduleOf,
} from '../../ledger/credit-grant-row.ts';
import { createWallet, lockWalletsOf } from '../../ledger/wallet-create.ts';
import { enterCredit, openLedger } from '../../ledger/wallet-ledger.ts';
import { usedKeys, writeLedger } from '../../ledger/wallet-ledger-write.ts';
import { writeAudit } from '../../platform/audit.ts';

/** An agenda entry that is due; `ref` is the application. */
interface Moment {
  subscriptionId: string;
  at: string;
  ref: string;
}

interface DueApplication {
  id: string;
  periodStart: string;
  periodEnd: string | null;
  credits: string;
  retryCount: number;
  metadata: Record<string, string>;
  grant: GrantRow;
}

/**
 * Performs due applications of credit grants: the credits go to the wallet, or the period passes, or it waits, by the status of
 * the subscription; the next period gets its application in the same transaction. Asked again it changes nothing.
 * spec: wallets-and-payments §2.15
 */
export async function applyGrants(sql: Sql, scope: Scope, moments: readonly Moment[]): Promise<AttendedSubscription[]> {
  const rows = await lockSubscriptions(
    sql,
    scope.environmentId,
    moments.map(({ subscriptionId }) => subscriptionId),
  );
  for (const { subscriptionId, ref, at } of moments) {
    const row = rows.get(subscriptionId);
    const due = row && (await lockDue(sql, scope, ref, at));
    if (row && due) await perform(sql, scope, row, due, at);
  }
  return refreshAgendas(sql, scope.environmentId, [...rows.values()]);
}

const maxPerRun = 100;

/** Applies at once what is due of a subscription's grants when it begins. spec: wallets-and-payments §2.15 at creation */
export async function applyDueGrants(sql: Sql, scope: Scope, row: SubscriptionRow, at: string): Promise<void> {
  for (let step = 0; step < maxPerRun; step += 1) {
    const [next] = await sql.rows<{ id: string }>(
      `select id from credit_grant_application where environment_id = $1 and subscription_id = $2
         and application_status in ('pending', 'failed') and scheduled_for <= $3 and retry_count = 0
       order by scheduled_for, id limit 1`,
      [scope.environmentId, row.id, at],
      'due-grant',
    );
    const due = next && (await lockDue(sql, scope, next.id, at));
    if (!due) return;
    await perform(sql, scope, row, due, at);
  }
}

async function lockDue(sql: Sql, scope: Scope, id: string, at: string): Promise<DueApplication | null> {
  const [row] = await sql.rows<Record<string, unknown>>(
    `select a.id as application_id, a.period_start as due_start, a.period_end as due_end, a.credits as due_credits, a.retry_count,
       a.metadata as due_metadata, g.*
     from credit_grant_application a join credit_grant g on g.environment_id = a.environment_id and g.id = a.credit_grant_id
     where a.environment_id = $1 and a.id = $2 and a.application_status in ('pending', 'failed') and a.scheduled_for <= $3
     for update of a`,
    [scope.environmentId, id, at],
  );
  if (!row) return null;
  return {
    id,
    periodStart: instantText(row.due_start as string),
    periodEnd: row.due_end ? instantText(row.due_end as string) : null,
    credits: decimalText(row.due_credits as string),
    retryCount: row.retry_count as number,
    metadata: row.due_metadata as Record<string, string>,
    grant: grantFromRow(row),
  };
}

async function perform(sql: Sql, scope: Scope, row: SubscriptionRow, due: DueApplication, at: string): Promise<void> {
  const action = grantAction(row.status, due.grant.cadence);
  if (action.status === 'pending') {
    const later = deferredGrant(at, due.retryCount);
    await write(sql, scope, due.id, { scheduledFor: later.at, retryCount: later.retryCount });
    return;
  }
  if (action.status === 'applied') {
    const expiry = grantExpiry(expiryOf(due.grant), due.periodStart, [
      { start: row.currentPeriodStart, end: row.currentPeriodEnd },
    ]);
    if (expiry !== null && expiry < at) {
      await finish(sql, scope, row, due, {
        status: 'skipped',
        at,
        reason: `its credits would have expired at ${expiry}`,
      });
    } else {
      const failure = await topUp(sql, scope, row, due, expiry);
      if (failure !== null) {
        const later = deferredGrant(at, due.retryCount);
        await write(sql, scope, due.id, {
          status: 'failed',
          scheduledFor: later.at,
          retryCount: later.retryCount,
          failureReason: failure,
        });
        return;
      }
      await finish(sql, scope, row, due, { status: 'applied', at, reason: null });
    }
  } else await finish(sql, scope, row, due, { status: action.status, at, reason: null });
  const next = action.followed
    ? followingGrantPeriod(scheduleOf(due.grant, row.timezone), { start: due.periodStart, end: due.periodEnd })
    : null;
  if (next !== null) await insertApplications(sql, scope, [{ grant: due.grant, period: next, first: false }]);
}

/** Credits the wallet, once; why it could not be, or null. spec: wallets-and-payments §2.15 Lot */
async function topUp(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  { id, grant, credits, metadata, periodStart }: DueApplication,
  expiryDate: string | null,
): Promise<string | null> {
  if ((await usedKeys(sql, scope, [id])).size > 0) return null;
  const walletId = await walletOf(sql, scope, row, grant);
  if (walletId === null) return `the customer has a wallet in ${row.currency} with other rates than the grant's`;
  try {
    const ledger = await openLedger(sql, scope, [walletId]);
    const wallet = ledger.wallets.get(walletId)!;
    enterCredit(ledger, wallet, {
      reason: 'SUBSCRIPTION_CREDIT_GRANT',
      quantity: { credits: decimal(credits), amount: creditValue(decimal(credits), wallet.conversionRate) },
      referenceType: 'EXTERNAL',
      referenceId: grant.id,
      idempotencyKey: id,
      expiryDate,
      priority: grant.priority,
      paysFrom: grant.pays === 'from_grant_on' ? periodStart : null,
      metadata: { ...metadata, grant_id: grant.id, subscription_id: row.id, cga_id: id },
    });
    await writeLedger(ledger);
    return null;
  } catch (error) {
    const refusal = refusalIn(error);
    if (!refusal) throw error;
    return refusal.message;
  }
}

/** The first active prepaid wallet of whoever is invoiced whose rates fit, else a new one; null where the currency has one of other rates. */
async function walletOf(sql: Sql, scope: Scope, row: SubscriptionRow, grant: GrantRow): Promise<string | null> {
  const { invoicingCustomerId: customerId, currency } = row;
  await lockWalletsOf(sql, customerId);
  const wallets = await sql.rows<{
    id: string;
    wallet_status: string;
    conversion_rate: string;
    topup_conversion_rate: string;
  }>(
    `select id, wallet_status, conversion_rate, topup_conversion_rate from wallet where environment_id = $1 and customer_id = $2
       and currency = $3 and wallet_type = 'PRE_PAID' and wallet_status <> 'closed' and status = 'published' order by created_at, id`,
    [scope.environmentId, customerId, currency],
  );
  const same = (wanted: string | null, rate: string): boolean => wanted === null || decimal(wanted).equals(rate);
  const fitting = wallets.find(
    (wallet) =>
      wallet.wallet_status === 'active' &&
      same(grant.conversionRate, wallet.conversion_rate) &&
      same(grant.topupConversionRate, wallet.topup_conversion_rate),
  );
  if (fitting) return fitting.id;
  if (wallets.length > 0) return null;
  const { conversionRate, topupConversionRate } = grant;
  return createWallet(sql, scope, { customerId, currency, conversionRate, topupConversionRate });
}

async function finish(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  due: DueApplication,
  outcome: { status: 'applied' | 'skipped' | 'cancelled'; at: string; reason: string | null },
): Promise<void> {
  await write(sql, scope, due.id, {
    status: outcome.status,
    appliedAt: outcome.status === 'applied' ? outcome.at : null,
    subscriptionStatus: row.status,
    failureReason: outcome.reason,
  });
  await writeAudit(sql, scope, [
    {
      objectType: 'credit_grant',
      objectId: due.grant.id,
      action: outcome.status,
      occurredAt: outcome.at,
      detail: { subscription_id: row.id, application_id: due.id, credits: decimalString(decimal(due.credits)) },
    },
  ]);
}

interface ApplicationChange {
  status?: string;
  scheduledFor?: string;
  retryCount?: number;
  appliedAt?: string | null;
  subscriptionStatus?: string;
  failureReason?: string | null;
}

async function write(sql: Sql, scope: Scope, id: string, change: ApplicationChange): Promise<void> {
  await sql.rows(
    `update credit_grant_application set application_status = coalesce($3, application_status),
       scheduled_for = coalesce($4::timestamptz, scheduled_for), retry_count = coalesce($5::int, retry_count),
       applied_at = $6, subscription_status_at_application = coalesce($7, subscription_status_at_application),
       failure_reason = $8, updated_at = $9, updated_by = $10
     where environment_id = $1 and id = $2`,
    [
      scope.environmentId,
      id,
      change.status ?? null,
      change.scheduledFor ?? null,
      change.retryCount ?? null,
      change.appliedAt ?? null,
      change.subscriptionStatus ?? null,
      change.failureReason ?? null,
      new Date().toISOString(),
      scope.actor,
    ],
  );
}
