import { creditedBy } from '../../../billing/invoice/carried-credit.ts';
import { detachmentEnd } from '../../../billing/subscription/addon.ts';
import type { AddonDetachment } from '../../../billing/subscription/subscription-command.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { readItems } from '../../charging/charged-item.ts';
import { lockSubscriptions } from '../../charging/subscription-row.ts';
import type { AttendedSubscription } from '../../charging/subscription-snapshot.ts';
import { endAddonGrants } from '../period/subscription-grant.ts';
import { planProration, settleProration } from '../plan-change/proration.ts';
import { changed } from './subscription-addon.ts';

export interface DetachAddonInput extends AddonDetachment {
  subscriptionId: string;
  at: string;
}

/** A subscription whose add-on was detached, and what went to the wallet and to the next invoice for it. */
export interface Detached {
  attended: AttendedSubscription;
  returned: string;
  carried: string;
  end: string;
}

interface AssociationRow {
  addon_id: string;
  cadence: string;
  start_date: string;
  end_date: string | null;
  [column: string]: unknown;
}

/**
 * Detaches an add-on: the attachment and its line items end at the effective date, and with `create_prorations` what was charged
 * in advance for the time after it goes back together, once. What is attached for one period is not refunded. Throws
 * `not_found`, `validation_error`. spec: subscriptions-and-invoicing §1.10, §2.8.2, §2.9.6
 */
export async function detachAddon(sql: Sql, scope: Scope, input: DetachAddonInput): Promise<Detached> {
  const { subscriptionId, associationId, at } = input;
  const { environmentId } = scope;
  const before = (await lockSubscriptions(sql, environmentId, [subscriptionId])).get(subscriptionId);
  const [association] = await sql.rows<AssociationRow>(
    `select addon_id, cadence, start_date, end_date from addon_association
     where environment_id = $1 and id = $2 and entity_id = $3 and status = 'published' and addon_status <> 'pending' for update`,
    [environmentId, associationId, subscriptionId],
  );
  if (!before || !association) throw missing('add-on association', associationId, 'addon_association_id');
  const term = {
    start: instantText(association.start_date),
    end: association.end_date ? instantText(association.end_date) : null,
  };
  const end = detachmentEnd(before, term, input.effectiveDate, at);
  const behavior = association.cadence === 'recurring' ? (input.prorationBehavior ?? before.prorationBehavior) : 'none';
  const items = (await readItems(sql, environmentId, [subscriptionId])).get(subscriptionId) ?? [];
  const planned = await planProration(sql, scope, {
    row: before,
    action: 'remove_item',
    behavior,
    effectiveAt: end,
    at,
    ended: items.filter(({ facts }) => facts.addonAssociationId === associationId),
    started: [],
  });
  await endAttachment(sql, scope, input, end);
  await endAddonGrants(sql, scope, associationId, end);
  const settled = await settleProration(sql, scope, planned);
  const row = { ...settled.row, version: before.version + 1 };
  const detail = { addon_id: association.addon_id, addon_association_id: associationId, end_date: end };
  const told = { ...detail, reason: input.reason, ...creditedBy(settled) };
  const attended = await changed(sql, scope, row, 'add-on detached', at, told);
  return { attended, returned: settled.returned, carried: settled.carried, end };
}

/** Ends an attachment and its line items. */
export async function endAttachment(
  sql: Sql,
  scope: Scope,
  input: Pick<DetachAddonInput, 'associationId' | 'subscriptionId' | 'at' | 'reason'>,
  end: string,
): Promise<void> {
  const { environmentId, actor } = scope;
  const now = new Date().toISOString();
  await sql.rows(
    `update addon_association set end_date = $3::timestamptz, cancelled_at = $4::timestamptz, cancellation_reason = $5, updated_at = $6, updated_by = $7,
       addon_status = case when $3::timestamptz <= $4::timestamptz then 'cancelled' else addon_status end
     where environment_id = $1 and id = $2`,
    [environmentId, input.associationId, end, input.at, input.reason, now, actor],
  );
  await sql.rows(
    `update subscription_line_item set end_date = greatest(start_date, $4::timestamptz), updated_at = $5, updated_by = $6
     where environment_id = $1 and subscription_id = $2 and addon_association_id = $3 and (end_date is null or end_date > $4::timestamptz)`,
    [environmentId, input.subscriptionId, input.associationId, end, now, actor],
  );
}
