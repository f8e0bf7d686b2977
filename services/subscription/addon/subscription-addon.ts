import type { ProrationBehavior } from '../../../billing/line/proration.ts';
import { refuseUnattachable } from '../../../billing/subscription/addon.ts';
import type { AddonAttachment } from '../../../billing/subscription/subscription-command.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import {
  lockSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import { type AttendedSubscription, one, readAgendas, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { billAddition } from '../plan-change/subscription-settlement.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { type Attached, isAttached, writeAttachment } from './addon-attachment.ts';

export interface AttachAddonInput extends AddonAttachment {
  subscriptionId: string;
  at: string;
}

/**
 * Attaches an add-on: its line items, its entitlements, and the invoice of what it charges at once, in the caller's
 * transaction. The same attachment again changes nothing. spec: subscriptions-and-invoicing §1.10, §2.9.6
 */
export async function attachAddon(
  sql: Sql,
  scope: Scope,
  { subscriptionId, attachment, at }: AttachAddonInput,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  const before = (await lockSubscriptions(sql, scope.environmentId, [subscriptionId])).get(subscriptionId);
  if (!before) throw missing('subscription', subscriptionId, 'subscription_id');
  if (await isAttached(sql, scope, attachment.associationId)) {
    return one(await readAgendas(sql, scope.environmentId, [before]));
  }
  refuseUnattachable(before);
  const attached = await writeAttachment(sql, scope, before, { attachment, at, field: 'addon_id' });
  const behavior = (attachment.prorationBehavior ?? before.prorationBehavior) as ProrationBehavior;
  const { row: billed, invoiceId } = await billAddition(
    sql,
    scope,
    {
      row: before,
      items: attached.items,
      from: attached.term.start,
      at,
      behavior,
      changeKey: `add_item ${attached.associationId}`,
    },
    readUsage,
  );
  if (invoiceId !== null) {
    await sql.rows('update addon_association set invoice_id = $3 where environment_id = $1 and id = $2', [
      scope.environmentId,
      attached.associationId,
      invoiceId,
    ]);
  }
  const row = { ...billed, version: billed.version + 1 };
  return changed(sql, scope, row, 'add-on attached', at, attachmentDetail(attached, invoiceId));
}

/** Writes the subscription's row, its event and its audit after a change of its add-ons. */
export async function changed(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  action: string,
  at: string,
  detail: Record<string, unknown>,
): Promise<AttendedSubscription> {
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
  await writeEvents(sql, scope, [subscriptionEvent('subscription.updated', row, at)]);
  await writeAudit(sql, scope, [
    { objectType: 'subscription', objectId: row.id, action, version: row.version, occurredAt: at, detail },
  ]);
  return one(await refreshAgendas(sql, scope.environmentId, [row]));
}

function attachmentDetail({ associationId, addonId, term }: Attached, invoiceId: string | null) {
  const { start, end } = term;
  return {
    addon_id: addonId,
    addon_association_id: associationId,
    start_date: start,
    end_date: end,
    invoice_id: invoiceId,
  };
}
