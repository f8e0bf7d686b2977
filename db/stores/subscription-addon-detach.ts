import { detachmentEnd } from '../../billing/addon.ts';
import type { ProrationBehavior } from '../../billing/proration.ts';
import { instantText } from '../columns.ts';
import { missing } from '../record.ts';
import type { Scope } from '../scope.ts';
import type { Sql } from '../transaction.ts';
import { changed } from './subscription-addon.ts';
import { refuseProration } from './subscription-cancel.ts';
import { lockSubscriptions } from './subscription-row.ts';
import type { AttendedSubscription } from './subscription-snapshot.ts';

export interface DetachAddonInput {
  subscriptionId: string;
  associationId: string;
  effectiveDate: string | null;
  prorationBehavior: ProrationBehavior | null;
  reason: string;
  at: string;
}

interface AssociationRow {
  addon_id: string;
  cadence: string;
  start_date: string;
  end_date: string | null;
  [column: string]: unknown;
}

/**
 * Detaches an add-on: the attachment and its line items end at the effective date. Throws `not_found`, `validation_error`, and
 * `not_implemented` where unused advance charges would be credited, which needs a wallet.
 * spec: subscriptions-and-invoicing §1.10, §2.9.6
 */
export async function detachAddon(sql: Sql, scope: Scope, input: DetachAddonInput): Promise<AttendedSubscription> {
  const { subscriptionId, associationId, at } = input;
  const { environmentId } = scope;
  const before = (await lockSubscriptions(sql, environmentId, [subscriptionId])).get(subscriptionId);
  const [association] = await sql.rows<AssociationRow>(
    `select addon_id, cadence, start_date, end_date from addon_association
     where environment_id = $1 and id = $2 and entity_id = $3 for update`,
    [environmentId, associationId, subscriptionId],
  );
  if (!before || !association) throw missing('add-on association', associationId, 'addon_association_id');
  const term = {
    start: instantText(association.start_date),
    end: association.end_date ? instantText(association.end_date) : null,
  };
  const end = detachmentEnd(before, term, input.effectiveDate, at);
  const behavior = input.prorationBehavior ?? before.prorationBehavior;
  if (association.cadence === 'recurring' && behavior === 'create_prorations') {
    await refuseCredit(sql, scope, associationId, end);
  }
  await endAttachment(sql, scope, input, end);
  const row = { ...before, version: before.version + 1 };
  const detail = { addon_id: association.addon_id, addon_association_id: associationId, end_date: end };
  return changed(sql, scope, row, 'add-on detached', at, { ...detail, reason: input.reason });
}

async function endAttachment(sql: Sql, scope: Scope, input: DetachAddonInput, end: string): Promise<void> {
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

/** Refuses a detachment that would credit what a live invoice charged in advance for the time after it. */
async function refuseCredit(sql: Sql, scope: Scope, associationId: string, effectiveAt: string): Promise<void> {
  const charged = await sql.rows(
    `select i.id from subscription_line_item s
     join invoice_line_item l on l.environment_id = s.environment_id and l.subscription_line_item_id = s.id
     join invoice i on i.environment_id = l.environment_id and i.id = l.invoice_id
     where s.environment_id = $1 and s.addon_association_id = $2 and s.price_type = 'FIXED' and s.invoice_cadence = 'ADVANCE'
       and s.billing_period <> 'ONETIME' and i.invoice_status in ('DRAFT', 'FINALIZED') and l.status = 'published'
       and l.period_end > $3 and l.amount > l.line_item_discount + l.invoice_level_discount limit 1`,
    [scope.environmentId, associationId, effectiveAt],
  );
  if (charged.length > 0) refuseProration();
}
