import { resetConflicts } from '../../../billing/allowance/entitlement.ts';
import { refuse } from '../../../billing/refusal.ts';
import { type AddonCadence, type AttachmentTerm, attachmentTerm } from '../../../billing/subscription/addon.ts';
import type { NewAttachment } from '../../../billing/subscription/new-subscription.ts';
import { cadenceRelation } from '../../../billing/time/cadence.ts';
import type { BillingPeriod } from '../../../billing/time/calendar.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { siblingDisagreement } from '../../catalogue/entitlement/entitlement-grant-rules.ts';
import { type GrantColumns, grantOf } from '../../catalogue/entitlement/entitlement-grant-terms.ts';
import { meteredPartsHeld, type StoredPart } from '../../catalogue/entitlement/entitlement-part.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { refuseBothLevels } from '../item/line-item-commitment.ts';
import { committedBy, overridden, type Wanted, withCommitments } from '../item/new-line-items.ts';
import { insertLineItems, lineItemOf, type PlanPrice, readOwnedPrices } from '../item/subscription-item.ts';
import { grantAddonCredits } from '../period/subscription-grant.ts';

/** An attachment that was written, with what it charges. */
export interface Attached {
  associationId: string;
  addonId: string;
  term: AttachmentTerm;
  items: { id: string; price: PlanPrice }[];
}

/**
 * Writes the attachment of an add-on to a locked subscription, and a line item for each of the add-on's prices in its
 * currency. `field` is where the add-on stands in the request. Throws `not_found`, `validation_error` for an archived add-on,
 * one that has no fitting price or resets an allowance otherwise, and dates that do not fit, `already_exists` for a onetime add-on that is attached.
 * spec: subscriptions-and-invoicing §1.10, §2.3.3; catalogue-and-metering §10.1
 */
export async function writeAttachment(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  { attachment, at, field }: { attachment: NewAttachment; at: string; field: string },
): Promise<Attached> {
  const addon = await attachableAddon(sql, scope, attachment.addonId, field);
  const cadence = attachment.cadence as AddonCadence;
  const term = attachmentTerm(row, attachment.startDate ?? at, cadence);
  if (addon.type === 'onetime') await refuseSecond(sql, scope, row.id, addon.id, term, field);
  await refuseResetConflict(sql, scope, row, addon.id, term.start, field);
  const prices = await attachablePrices(sql, scope, row, addon, { at: term.start, field });
  await writeAssociation(sql, scope, row, attachment, term);
  const end = [term.end, row.endDate].filter((instant) => instant !== null).sort()[0] ?? null;
  const owner = {
    entityType: 'addon' as const,
    entityId: addon.id,
    name: addon.name,
    start: term.start,
    end,
    attachment: {
      id: attachment.associationId,
      quantity: attachment.quantity,
      onetime: cadence === 'onetime',
    },
  };
  const prefix = field.replace(/addon_id$/, '');
  const own = await overridden(sql, scope, row, prices, attachment.overrideLineItems ?? [], prefix);
  const charged = own.prices.map((price) => lineItemOf(scope, row, price, owner) as Wanted['item']);
  const asked = attachment.lineItemCommitments ?? {};
  const wanted = committedBy(charged, own.prices, own.originals, asked, { path: prefix, noun: 'add-on' });
  refuseBothLevels(row, wanted);
  const items = await withCommitments(sql, scope, row, wanted);
  await insertLineItems(sql, items);
  await grantAddonCredits(sql, scope, row, {
    addonId: addon.id,
    associationId: attachment.associationId,
    ...{ start: term.start, end: term.end },
    behavior: (attachment.prorationBehavior ?? row.prorationBehavior) as 'create_prorations' | 'none',
  });
  return {
    associationId: attachment.associationId,
    addonId: addon.id,
    term,
    items: items.map(({ id }, index) => ({ id, price: own.prices[index]! })),
  };
}

/** True when the attachment of this id was written before: the same command asked again. */
export async function isAttached(sql: Sql, scope: Scope, associationId: string): Promise<boolean> {
  const rows = await sql.rows('select id from addon_association where environment_id = $1 and id = $2', [
    scope.environmentId,
    associationId,
  ]);
  return rows.length > 0;
}

/** Ends the attachments of ended subscriptions at each one's end, as their line items end. spec: §2.12 */
export async function endAttachments(
  sql: Sql,
  scope: Scope,
  ended: readonly { subscriptionId: string; at: string }[],
): Promise<void> {
  if (ended.length === 0) return;
  await sql.rows(
    `update addon_association a set addon_status = 'cancelled', end_date = greatest(a.start_date, t.at), cancelled_at = coalesce(a.cancelled_at, t.at),
       updated_at = $4, updated_by = $5
     from unnest($2::text[], $3::timestamptz[]) as t(subscription_id, at)
     where a.environment_id = $1 and a.entity_id = t.subscription_id and a.addon_status <> 'cancelled'
       and (a.end_date is null or a.end_date > t.at)`,
    [
      scope.environmentId,
      ended.map((end) => end.subscriptionId),
      ended.map((end) => end.at),
      new Date().toISOString(),
      scope.actor,
    ],
  );
}

interface AddonFacts {
  id: string;
  name: string;
  type: string;
}

/** Shared with other attachments, held against archiving the add-on meanwhile. */
async function attachableAddon(sql: Sql, scope: Scope, id: string, field: string): Promise<AddonFacts> {
  const [addon] = await sql.rows<AddonFacts & { status: string }>(
    'select id, name, type, status from addon where environment_id = $1 and id = $2 for share',
    [scope.environmentId, id],
  );
  if (!addon) throw missing('add-on', id, field);
  if (addon.status !== 'published')
    throw badField(field, `names add-on ${id}, which is ${addon.status}; choose another`);
  return addon;
}

async function refuseSecond(
  sql: Sql,
  scope: Scope,
  subscriptionId: string,
  addonId: string,
  term: AttachmentTerm,
  field: string,
): Promise<void> {
  const [held] = await sql.rows<{ id: string }>(
    `select id from addon_association where environment_id = $1 and entity_id = $2 and addon_id = $3 and addon_status <> 'cancelled'
       and (end_date is null or end_date > $4) and ($5::timestamptz is null or start_date < $5) limit 1`,
    [scope.environmentId, subscriptionId, addonId, term.start, term.end],
  );
  if (!held) return;
  throw refuse(
    'already_exists',
    `${field} names add-on ${addonId}, which is attached once at a time and is attached as ${held.id}; detach that first`,
    { fields: { [field]: 'attached already' } },
  );
}

async function refuseResetConflict(
  sql: Sql,
  { environmentId }: Scope,
  row: SubscriptionRow,
  addonId: string,
  from: string,
  field: string,
): Promise<void> {
  const added = await sql.rows<AddedAllowance>(
    `select feature_id as "featureId", usage_reset_period as "usageResetPeriod", aggregation_mode as "aggregationMode",
       grant_measure as "grantMeasure", grant_quota as "grantQuota", grant_duration_unit as "grantDurationUnit",
       grant_duration_value as "grantDurationValue", grant_allocation_behavior as "grantAllocationBehavior" from entitlement
     where environment_id = $1 and entity_type = 'ADDON' and entity_id = $2 and status = 'published' and feature_type = 'metered'
     order by created_at, id`,
    [environmentId, addonId],
  );
  if (added.length === 0) return;
  const parts = await meteredPartsHeld(sql, environmentId, row.id);
  const sameAsBilling = (period: string) =>
    period !== 'NEVER' &&
    cadenceRelation({ billingPeriod: period as BillingPeriod, billingPeriodCount: 1 }, row) === 'equal';
  refuseGrantConflict(parts, added, from, field);
  const features = resetConflicts(parts, added, { from, sameAsBilling });
  if (features.length === 0) return;
  throw badField(
    field,
    `names an add-on whose allowance resets at other times than what the subscription has of ${features.join(', ')}; give both one usage_reset_period`,
  );
}

type AddedAllowance = GrantColumns & {
  featureId: string;
  usageResetPeriod: string | null;
  aggregationMode: string;
  [column: string]: unknown;
};

/** Entitlements of one feature that meet on a subscription agree in how their budgets go. spec: catalogue-and-metering §9.1 */
function refuseGrantConflict(
  parts: readonly StoredPart[],
  added: readonly AddedAllowance[],
  from: string,
  field: string,
): void {
  for (const columns of added) {
    const own = { aggregationMode: columns.aggregationMode, grant: grantOf(columns) };
    const meeting = parts.filter(
      (part) => part.featureId === columns.featureId && (part.endDate === null || part.endDate > from),
    );
    const [differing] = meeting.flatMap((part) => siblingDisagreement(own, part) ?? []);
    if (differing)
      throw badField(
        field,
        `names an add-on whose ${differing} for feature ${columns.featureId} is not what the subscription has; give both one`,
      );
  }
}

/** Every price of the add-on in the subscription's currency; an add-on that has prices must have one. */
async function attachablePrices(
  sql: Sql,
  { environmentId }: Scope,
  row: SubscriptionRow,
  addon: AddonFacts,
  { at, field }: { at: string; field: string },
): Promise<PlanPrice[]> {
  const owner = { entityType: 'ADDON' as const, entityId: addon.id };
  const prices = await readOwnedPrices(sql, environmentId, owner, { currency: row.currency, at });
  const unfit = prices.filter((price) => cadenceRelation(price, row) === 'longer' && !isMultiple(price, row));
  if (unfit.length > 0) {
    const ids = unfit.map((price) => price.id).join(', ');
    throw badField(field, `has prices whose billing period is no part or multiple of the subscription's: ${ids}`);
  }
  if (prices.length > 0) return prices;
  const [other] = await sql.rows(
    `select id from price where environment_id = $1 and entity_type = 'ADDON' and entity_id = $2 and status = 'published'
       and (end_date is null or end_date > $3) limit 1`,
    [environmentId, addon.id, at],
  );
  if (other) throw badField(field, `names an add-on without a price in ${row.currency}; add one or choose another`);
  return [];
}

function isMultiple(price: PlanPrice, subscription: SubscriptionRow): boolean {
  return ['equal', 'shorter'].includes(cadenceRelation(subscription, price));
}

const insertAssociationText = `
insert into addon_association (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, addon_id, entity_id,
  addon_status, cadence, quantity, start_date, end_date, metadata)
values ($1, $2, $3, $4, $5, $4, $5, $6, $7, 'active', $8, $9, $10, $11, $12::jsonb)`;

async function writeAssociation(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  attachment: NewAttachment,
  term: AttachmentTerm,
): Promise<void> {
  await sql.rows(insertAssociationText, [
    attachment.associationId,
    scope.tenantId,
    scope.environmentId,
    new Date().toISOString(),
    scope.actor,
    attachment.addonId,
    row.id,
    attachment.cadence,
    attachment.quantity,
    term.start,
    term.end,
    attachment.metadata,
  ]);
}
