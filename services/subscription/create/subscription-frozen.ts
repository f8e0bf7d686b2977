import type { NewSubscription } from '../../../billing/subscription/new-subscription.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { openingPeriod } from '../../charging/subscription-period.ts';
import {
  lockSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import { refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { followParents } from '../family/subscription-follow.ts';
import { applyDueGrants } from '../period/credit-grant-apply.ts';
import { startGrants } from '../period/subscription-grant.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { writeSubscription } from './subscription-create.ts';
import { type FrozenOpening, freezeOpening } from './subscription-opening.ts';

/**
 * Drafts a subscription that its checkout session pays for: it has its dates, items, coupons and taxes from now on, and its opening invoice
 * waits for the money. Null when nothing is to be paid at once, as with a trial or a full discount; the caller takes the transaction back
 * then. Throws what `createSubscription` throws. spec: wallets-and-payments §2.17 Gating; design: money-in-checkout §A10
 */
export async function freezeSubscription(
  sql: Sql,
  scope: Scope,
  input: NewSubscription,
  readUsage: UsageReader,
  checkoutSessionId: string,
): Promise<FrozenOpening | null> {
  const { row, planName } = await writeSubscription(sql, scope, { ...input, draft: true }, null);
  if (row.trialEnd !== null && row.trialEnd > input.at) return null;
  const opening = { row, planName, at: input.at, period: openingPeriod(row), readUsage };
  const frozen = await freezeOpening(sql, scope, opening, checkoutSessionId);
  if (frozen) await refreshAgendas(sql, scope.environmentId, [frozen.row]);
  return frozen;
}

/**
 * Makes a frozen draft active, with the dates and the invoice it was drafted with: nothing is computed again. One that is active already
 * stays. Throws `not_found`. spec: wallets-and-payments §2.17 Completion; design: money-in-checkout §A10
 */
export async function activateFrozen(sql: Sql, scope: Scope, subscriptionId: string, at: string): Promise<void> {
  const draft = (await lockSubscriptions(sql, scope.environmentId, [subscriptionId])).get(subscriptionId);
  if (!draft) throw missing('subscription', subscriptionId);
  if (draft.status !== 'draft') return;
  const row: SubscriptionRow = { ...draft, status: 'active', version: draft.version + 1 };
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
  await startGrants(sql, scope, draft, row);
  await applyDueGrants(sql, scope, row, at);
  await writeEvents(sql, scope, [
    subscriptionEvent('subscription.created', row, at),
    subscriptionEvent('subscription.activated', row, at),
  ]);
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: row.id,
      action: 'draft activated',
      version: row.version,
      occurredAt: at,
      detail: { start_date: row.startDate, status: row.status },
    },
  ]);
  await followParents(sql, scope, [{ row, at }]);
  await refreshAgendas(sql, scope.environmentId, [row]);
}
