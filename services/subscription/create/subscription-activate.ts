import { couponAssociationEnd } from '../../../billing/invoice/coupon.ts';
import {
  type CollectionMethod,
  openingCollection,
  type PaymentBehavior,
} from '../../../billing/subscription/collection.ts';
import { refuseInherited } from '../../../billing/subscription/hierarchy.ts';
import type { Activation } from '../../../billing/subscription/subscription-command.ts';
import { activateDraft, shiftedPart } from '../../../billing/subscription/subscription-draft.ts';
import { updateText, writeRows } from '../../../db/rows/bulk.ts';
import { instantText } from '../../../db/rows/columns.ts';
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
import { type AttendedSubscription, one, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { noteUnpriced } from '../../charging/unpriced-time.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { followParents } from '../family/subscription-follow.ts';
import { applyDueGrants } from '../period/credit-grant-apply.ts';
import { startGrants } from '../period/subscription-grant.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import type { RecordedOpening } from './paid-opening.ts';
import { issueOpening } from './subscription-opening.ts';

export interface ActivateInput extends Activation {
  subscriptionId: string;
  at: string;
}

/**
 * Makes a draft begin at `startDate`: its dates and those of what hangs on it move, and its opening or trial-start invoice is
 * made as at a creation. Throws `validation_error` when it is no draft, `OpeningToPay` when it must be paid before. spec: subscriptions-and-invoicing §2.4.1
 */
export async function activateSubscription(
  sql: Sql,
  scope: Scope,
  input: ActivateInput,
  readUsage: UsageReader,
  paid: RecordedOpening | null = null,
): Promise<AttendedSubscription> {
  const { at, startDate, subscriptionId } = input;
  const draft = (await lockSubscriptions(sql, scope.environmentId, [subscriptionId])).get(subscriptionId);
  if (!draft) throw missing('subscription', subscriptionId);
  refuseInherited(draft, 'activated');
  const collection = openingCollection(
    draft.collectionMethod as CollectionMethod,
    draft.paymentBehavior as PaymentBehavior,
    '1',
  );
  const state = activateDraft(draft, startDate, collection.statusUnpaid);
  const row: SubscriptionRow = { ...draft, ...state, version: draft.version + 1 };
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
  await moveItems(sql, scope, draft, row);
  await moveAttachments(sql, scope, draft, row);
  await moveCoupons(sql, scope, draft, row);
  await moveTaxes(sql, scope, row);
  await startGrants(sql, scope, draft, row);
  const planName = await planNameOf(sql, scope.environmentId, row.planId);
  const opened = await issueOpening(sql, scope, { row, planName, at, period: openingPeriod(row), readUsage, paid });
  await applyDueGrants(sql, scope, opened, at);
  if (opened.status !== 'incomplete') {
    await writeEvents(sql, scope, [subscriptionEvent('subscription.activated', opened, at)]);
  }
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: row.id,
      action: 'draft activated',
      version: row.version,
      occurredAt: at,
      detail: { start_date: startDate, status: opened.status },
    },
  ]);
  await noteUnpriced(sql, scope, row, { from: row.startDate, at });
  await followParents(sql, scope, [{ row: opened, at }]);
  return one(await refreshAgendas(sql, scope.environmentId, [opened]));
}

const dates = { id: 'text', startDate: 'timestamptz', endDate: 'timestamptz' };
const updateItems = updateText('subscription_line_item', dates);
const updateAttachments = updateText('addon_association', dates);
const updateCoupons = updateText('coupon_association', dates);

interface DatedRow {
  id: string;
  start_date: string;
  end_date: string | null;
  [column: string]: unknown;
}

async function moveItems(sql: Sql, scope: Scope, draft: SubscriptionRow, row: SubscriptionRow): Promise<void> {
  const items = await sql.rows<DatedRow & { price_start: string; price_end: string | null }>(
    `select l.id, l.start_date, l.end_date, p.start_date as price_start, p.end_date as price_end
     from subscription_line_item l join price p on p.id = l.price_id where l.environment_id = $1 and l.subscription_id = $2`,
    [scope.environmentId, row.id],
  );
  const moved = items.map((item) => {
    const end = item.end_date ? instantText(item.end_date) : null;
    const priceEnd = item.price_end ? instantText(item.price_end) : null;
    const part = {
      start: instantText(item.start_date),
      end,
      notBefore: instantText(item.price_start),
      fixedEnd: end === priceEnd || end === draft.endDate,
    };
    return datesOf(item.id, shiftedPart(part, draft.startDate, row.startDate));
  });
  await writeRows(sql, updateItems, moved);
}

async function moveAttachments(sql: Sql, scope: Scope, draft: SubscriptionRow, row: SubscriptionRow): Promise<void> {
  const attachments = await sql.rows<DatedRow>(
    `select id, start_date, end_date from addon_association where environment_id = $1 and entity_id = $2`,
    [scope.environmentId, row.id],
  );
  const moved = attachments.map((attachment) => {
    const end = attachment.end_date ? instantText(attachment.end_date) : null;
    const part = { start: instantText(attachment.start_date), end, fixedEnd: end === draft.endDate };
    return datesOf(attachment.id, shiftedPart(part, draft.startDate, row.startDate));
  });
  await writeRows(sql, updateAttachments, moved);
}

/** Coupons of a draft begin with it; an end that followed from the coupon is computed anew, one that was asked for stays. */
async function moveCoupons(sql: Sql, scope: Scope, draft: SubscriptionRow, row: SubscriptionRow): Promise<void> {
  const links = await sql.rows<
    DatedRow & { cadence: 'once' | 'repeated' | 'forever'; duration_in_periods: number | null }
  >(
    `select a.id, a.start_date, a.end_date, c.cadence, c.duration_in_periods from coupon_association a join coupon c on c.id = a.coupon_id
     where a.environment_id = $1 and a.subscription_id = $2`,
    [scope.environmentId, row.id],
  );
  const moved = links.map((link) => {
    const end = link.end_date ? instantText(link.end_date) : null;
    const endOf = (state: SubscriptionRow, start: string) =>
      couponAssociationEnd({
        ...state,
        anchor: state.billingAnchor,
        cadence: link.cadence,
        durationInPeriods: link.duration_in_periods,
        start,
      });
    const derived = end !== null && end === endOf(draft, instantText(link.start_date));
    return datesOf(link.id, { start: row.startDate, end: derived ? endOf(row, row.startDate) : end });
  });
  await writeRows(sql, updateCoupons, moved);
}

async function moveTaxes(sql: Sql, scope: Scope, row: SubscriptionRow): Promise<void> {
  await sql.rows(
    `update tax_association set start_date = $3, updated_at = $4
     where environment_id = $1 and entity_type = 'subscription' and entity_id = $2 and status = 'published'`,
    [scope.environmentId, row.id, row.startDate, new Date().toISOString()],
  );
}

function datesOf(id: string, { start, end }: { start: string; end: string | null }) {
  return { id, startDate: start, endDate: end };
}

async function planNameOf(sql: Sql, environmentId: string, planId: string): Promise<string> {
  const [plan] = await sql.rows<{ name: string }>('select name from plan where environment_id = $1 and id = $2', [
    environmentId,
    planId,
  ]);
  return plan?.name ?? '';
}
