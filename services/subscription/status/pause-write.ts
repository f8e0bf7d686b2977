import { type Columns, insertText, recordColumnTypes, writeRows } from '../../../db/rows/bulk.ts';
import { instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';

const insertPauses = insertText('subscription_pause', {
  ...recordColumnTypes,
  subscriptionId: 'text',
  pauseStart: 'timestamptz',
  pauseEnd: 'timestamptz',
  pauseMode: 'text',
  pauseStatus: 'text',
  resumeMode: 'text',
  originalPeriodStart: 'timestamptz',
  originalPeriodEnd: 'timestamptz',
  reason: 'text',
  metadata: 'jsonb',
} satisfies Columns);

/** What a pause is recorded with. */
export interface NewPause {
  pauseId: string;
  at: string;
  pauseEnd: string | null;
  reason: string;
  metadata: Record<string, string>;
}

/** Records that a subscription is paused from now on. spec: subscriptions-and-invoicing §2.11 Pause record */
export async function insertPause(sql: Sql, scope: Scope, before: SubscriptionRow, input: NewPause): Promise<void> {
  const now = new Date().toISOString();
  const row = {
    id: input.pauseId,
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    createdAt: now,
    createdBy: scope.actor,
    updatedAt: now,
    updatedBy: scope.actor,
    subscriptionId: before.id,
    pauseStart: input.at,
    pauseEnd: input.pauseEnd,
    pauseMode: 'immediate',
    pauseStatus: 'active',
    resumeMode: 'immediate',
    originalPeriodStart: before.currentPeriodStart,
    originalPeriodEnd: before.currentPeriodEnd,
    reason: input.reason,
    metadata: input.metadata,
  };
  await writeRows(sql, insertPauses, [row]);
}

/** Records that a pause is over, and tells when it began. spec: subscriptions-and-invoicing §2.11 Resume */
export async function completePause(
  sql: Sql,
  scope: Scope,
  pauseId: string,
  input: { at: string; metadata: Record<string, string> },
): Promise<string> {
  const [row] = await sql.rows<{ pause_start: string }>(
    `update subscription_pause set pause_status = 'completed', resumed_at = $3, metadata = metadata || $4::jsonb, updated_at = $5, updated_by = $6
     where environment_id = $1 and id = $2 returning pause_start`,
    [scope.environmentId, pauseId, input.at, JSON.stringify(input.metadata), new Date().toISOString(), scope.actor],
  );
  if (!row) throw new Error(`a paused subscription has no pause ${pauseId}`);
  return instantText(row.pause_start);
}
