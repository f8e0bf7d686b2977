import type { EntitlementPart, OverridableMember } from '../../../billing/allowance/entitlement.ts';
import type { GrantTerms } from '../../../billing/allowance/grant.ts';
import type { LimitTimeline } from '../../../billing/line/period-allowance.ts';
import type { Feature } from '../../../db/entities/catalogue/feature.ts';
import type { Meter } from '../../../db/entities/catalogue/meter.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { Sql } from '../../../db/transaction.ts';
import { shownRows, versionText } from '../../platform/shown-row.ts';
import type { SubscriptionSet } from '../../subscription-set.ts';
import { type GrantColumns, grantOf } from './entitlement-grant-terms.ts';

/** A part with what is granted by it and by whom. */
export interface StoredPart extends EntitlementPart {
  featureId: string;
  featureType: string;
  /** The meter of the feature. */
  meterId: string | null;
  /** The plan, add-on or subscription. */
  entityId: string;
  entityName: string;
  aggregationMode: string;
  grant: GrantTerms | null;
  /** Null where every limit is the whole one. */
  timeline: LimitTimeline | null;
}

type PartRow = StoredPart &
  GrantColumns & { tenureStart: string | null; tenureEnd: string | null } & Record<string, unknown>;

// The planner is held to the only sensible order, from owners to what they grant to its feature: on tables it knows nothing of yet, and
// behind row-level security, it reads every feature for every part instead.
const partsText = (owners: string, shown = '') => `
with p as materialized (${owners})
select p.subscription_id as "subscriptionId", e.id, e.entity_type as "entityType", e.entity_id as "entityId", p.name as "entityName",
  e.feature_id as "featureId", e.feature_type as "featureType", f.meter_id as "meterId", e.parent_entitlement_id as "parentEntitlementId",
  e.overridden_members as "overriddenMembers", e.is_enabled as "isEnabled", e.is_soft_limit as "isSoftLimit",
  e.usage_limit as "usageLimit", e.usage_reset_period as "usageResetPeriod", e.static_value as "staticValue",
  e.config_value as "configValue", e.aggregation_mode as "aggregationMode",
  e.grant_measure as "grantMeasure", e.grant_quota as "grantQuota", e.grant_duration_unit as "grantDurationUnit",
  e.grant_duration_value as "grantDurationValue", e.grant_allocation_behavior as "grantAllocationBehavior",
  greatest(e.start_date, p.start_date) as "startDate", least(e.end_date, p.end_date) as "endDate",
  p.tenure_start as "tenureStart", p.tenure_end as "tenureEnd", p.timeline${shown}
from p
join entitlement e on e.environment_id = $1 and e.entity_type = p.entity_type and e.entity_id = p.entity_id and e.status = 'published'
join lateral (select *, ${versionText('feature')} as row_version from feature where id = e.feature_id offset 0) f on true
left join lateral (select *, ${versionText('meter')} as row_version from meter where id = f.meter_id offset 0) m on true`;

// Where a limit may be shared out by time, the subscription's periods come with it: the first calendar period, a change of plan.
const timelineText = `jsonb_build_object('startDate', o.start_date, 'trialEnd', o.trial_end, 'billingAnchor', o.billing_anchor,
  'billingPeriod', o.billing_period, 'billingPeriodCount', o.billing_period_count, 'billingCycle', o.billing_cycle,
  'timezone', o.timezone, 'prorationBehavior', o.proration_behavior)`;

// What is inherited has what its parent has. A subscription has its plan since the last change in place, and had others before.
const subscriptionsText = `
with s as materialized (
  select s.id, s.plan_id, o.id as owner_id, h.changes,
    case when h.changes > 0 or (o.billing_cycle = 'calendar' and o.proration_behavior = 'create_prorations') then ${timelineText} end as timeline
  from subscription s
  join subscription o on o.id = case when s.subscription_type = 'inherited' then s.parent_subscription_id else s.id end
  cross join lateral (select count(*) as changes from subscription_change c
    where c.environment_id = $1 and c.subscription_id = o.id and c.kind = 'plan_changed') h
  where s.environment_id = $1 and s.id = any($2)), c as (
  select s.id, c.from_plan_id, c.effective_at, c.id as change_id,
    lag(c.effective_at) over (partition by s.id order by c.effective_at, c.created_at, c.id) as since
  from s join subscription_change c on c.environment_id = $1 and c.subscription_id = s.owner_id and c.kind = 'plan_changed'
  where s.changes > 0), t as (
  select s.id, s.plan_id, (select max(c.effective_at) from c where c.id = s.id) as tenure_start, null::timestamptz as tenure_end,
    '' as change_id, s.timeline from s
  union all
  select c.id, c.from_plan_id, c.since, c.effective_at, c.change_id, s.timeline from c join s on s.id = c.id
  where c.effective_at > coalesce(c.since, '-infinity'))`;

// An attachment grants while it is in force: its time and the entitlement's own overlap.
const ownersOfSubscriptions = `${subscriptionsText}
  select t.id as subscription_id, 'PLAN' as entity_type, t.plan_id as entity_id, n.name, null::timestamptz as start_date,
    null::timestamptz as end_date, t.change_id as association_id, t.tenure_start, t.tenure_end, t.timeline
  from t left join plan n on n.id = t.plan_id
  union all
  select s.id, 'ADDON', a.addon_id, n.name, a.start_date, a.end_date, a.id, null, null, s.timeline
  from s join addon_association a on a.entity_id = s.owner_id
  left join addon n on n.id = a.addon_id
  where a.environment_id = $1 and a.status = 'published' and a.addon_status in ('active', 'cancelled')
  union all
  select s.id, 'SUBSCRIPTION', s.owner_id, '', null, null, '', null, null, s.timeline from s`;

const ownersOfPlans = `
  select '' as subscription_id, 'PLAN' as entity_type, n.id as entity_id, n.name, null::timestamptz as start_date,
    null::timestamptz as end_date, '' as association_id, null::timestamptz as tenure_start, null::timestamptz as tenure_end,
    null::jsonb as timeline
  from plan n where n.environment_id = $1 and n.id = any($2)`;

const metered = `where e.feature_type = 'metered' and f.meter_id is not null`;
const partsOfSubscriptions = partsText(ownersOfSubscriptions);
const shownPartsOf = ({ ids }: SubscriptionSet) =>
  partsText(
    ownersOfSubscriptions.replace('$2', () => ids),
    ', f.row_version as "featureVersion", m.row_version as "meterVersion"',
  );
const partsOfPlans = partsText(ownersOfPlans);

/**
 * A part with its feature and meter as plain rows that nobody changes: the mapper would compare each of them at the end of the
 * transaction.
 */
export interface ShownPart extends StoredPart {
  feature: Feature;
  meter: Meter | null;
}

type VersionedPart = StoredPart & { featureVersion: string; meterVersion: string | null };

/**
 * Every published part of subscriptions: of their plans, of each attachment of an add-on, and their own; oldest first. One
 * statement for any number of them. spec: catalogue-and-metering §8.3
 */
export async function entitlementParts(sql: Sql, environmentId: string, of: SubscriptionSet): Promise<ShownPart[]> {
  const text = `${shownPartsOf(of)} ${oldestFirst}`;
  const rows = await sql.rows<PartRow>(text, [environmentId, ...of.values], `entitlements-parts-${of.name}`);
  const parts = partsOf(rows) as VersionedPart[];
  const ofFeatures = parts.map((part) => ({ id: part.featureId, version: part.featureVersion }));
  const ofMeters = parts.flatMap(({ meterId: id, meterVersion: version }) => (id && version ? [{ id, version }] : []));
  const features = await shownRows(sql, 'feature', environmentId, ofFeatures);
  const meters = await shownRows(sql, 'meter', environmentId, ofMeters);
  return parts.map((part) => ({
    ...part,
    feature: features.get(part.featureId)!,
    meter: (part.meterId && meters.get(part.meterId)) || null,
  }));
}

/** The metered parts that a subscription has or will have: those of its plan, not of plans it has left. */
export async function meteredPartsHeld(sql: Sql, environmentId: string, subscriptionId: string): Promise<StoredPart[]> {
  const parts = await meteredParts(sql, environmentId, [subscriptionId]);
  const left = parts.filter(({ tenure }) => tenure?.end);
  return parts.filter((part) => !left.includes(part) && !left.some(({ id }) => id === part.parentEntitlementId));
}

/**
 * The metered parts of subscriptions that decide what usage is billed, enabled or not, those of plans they have left too.
 * spec: catalogue-and-metering §8.4
 */
export async function meteredParts(
  sql: Sql,
  environmentId: string,
  subscriptionIds: readonly string[],
): Promise<StoredPart[]> {
  const text = `${partsOfSubscriptions} ${metered} ${oldestFirst}`;
  return partsOf(await sql.rows<PartRow>(text, [environmentId, [...subscriptionIds]], 'metered-parts'));
}

/** The metered parts of a plan by itself, as a subscription to it would have them. */
export async function meteredPartsOfPlan(sql: Sql, environmentId: string, planId: string): Promise<StoredPart[]> {
  return partsOf(await sql.rows<PartRow>(`${partsOfPlans} ${metered} ${oldestFirst}`, [environmentId, [planId]]));
}

const oldestFirst = 'order by e.created_at, e.id, p.association_id';

function partsOf(rows: readonly PartRow[]): StoredPart[] {
  return rows.map(({ tenureStart, tenureEnd, ...row }) => ({
    ...row,
    overriddenMembers: row.overriddenMembers as OverridableMember[] | null,
    usageLimit: row.usageLimit === null ? null : decimalText(row.usageLimit),
    grant: grantOf(row),
    startDate: row.startDate && instantText(row.startDate),
    endDate: row.endDate && instantText(row.endDate),
    timeline: timelineOf(row.timeline),
    ...(tenureStart || tenureEnd
      ? { tenure: { start: tenureStart && instantText(tenureStart), end: tenureEnd && instantText(tenureEnd) } }
      : {}),
  }));
}

function timelineOf(row: LimitTimeline | null): LimitTimeline | null {
  if (row === null) return null;
  const { startDate, trialEnd, billingAnchor } = row;
  return {
    ...row,
    startDate: instantText(startDate),
    trialEnd: trialEnd && instantText(trialEnd),
    billingAnchor: instantText(billingAnchor),
  };
}
