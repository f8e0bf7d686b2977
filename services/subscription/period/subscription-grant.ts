import type { NewCreditGrant } from '../../../billing/subscription/new-subscription.ts';
import { proratedCredits } from '../../../billing/wallet/credit-grant.ts';
import { newId } from '../../../db/id.ts';
import { updateText, writeRows } from '../../../db/rows/bulk.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import {
  firstApplication,
  type GrantRow,
  insertApplications,
  insertGrants,
  type NewApplication,
  readGrants,
} from '../../ledger/credit-grant-row.ts';
import { checkRates } from '../../ledger/grant-record.ts';

/**
 * The grants of a new subscription: copies of its plan's, or what the request asks for in their place, from the start or the
 * end of its trial. A draft has them without applications; they come when it begins. Throws `validation_error`.
 * spec: wallets-and-payments §2.15 Materialization; subscriptions-and-invoicing §2.3.1 step 19
 */
export async function grantCredits(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  requested: readonly NewCreditGrant[] | null,
): Promise<void> {
  const templates = requested ?? (await readGrants(sql, scope.environmentId, 'g.plan_id = $2', row.planId));
  if (templates.length === 0) return;
  checkRates(templates);
  const begin = row.trialEnd ?? row.startDate;
  const grants = templates.map((template, index) => {
    if (requested) checkDates(row, template, `credit_grants[${index}].`);
    const startDate = (requested && template.startDate) || begin;
    const dates = { startDate, endDate: (requested && template.endDate) || row.endDate };
    return { ...copyOfGrant(template, row, dates), originPlanId: requested ? null : row.planId };
  });
  await insertGrants(sql, scope, grants);
  if (row.status === 'draft') return;
  await insertApplications(
    sql,
    scope,
    grants.map((grant) => firstApplication(grant, row.timezone)),
  );
}

/** One grant for a subscription that exists, with its first application. spec: wallets-and-payments §1.2 POST /creditgrants */
export async function grantToSubscription(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  input: NewCreditGrant,
): Promise<GrantRow> {
  checkDates(row, input, '');
  checkRates([...(await readGrants(sql, scope.environmentId, 'g.subscription_id = $2', row.id)), input]);
  const grant = copyOfGrant(input, row, { startDate: input.startDate!, endDate: input.endDate ?? row.endDate });
  await insertGrants(sql, scope, [grant]);
  if (row.status !== 'draft') await insertApplications(sql, scope, [firstApplication(grant, row.timezone)]);
  return grant;
}

/** What an add-on brings: copies of its grants from the attachment on. */
export interface AttachedGrants {
  addonId: string;
  associationId: string;
  start: string;
  end: string | null;
  behavior: 'create_prorations' | 'none';
}

/**
 * Copies the grants of an attached add-on. One that recurs with the billing period, attached within it with prorations, gives its
 * share of the first period and goes on with the periods of the subscription. spec: wallets-and-payments §2.15
 */
export async function grantAddonCredits(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  attached: AttachedGrants,
): Promise<void> {
  const templates = await readGrants(sql, scope.environmentId, 'g.addon_id = $2', attached.addonId);
  if (templates.length === 0) return;
  const endDate = [attached.end, row.endDate].filter((end) => end !== null).sort()[0] ?? null;
  const applications = templates.map((template): NewApplication => {
    const grant = copyOfGrant(template, row, { startDate: attached.start, endDate });
    grant.addonAssociationId = attached.associationId;
    if (!isProrated(grant, row, attached)) return firstApplication(grant, row.timezone);
    grant.creditGrantAnchor = row.currentPeriodEnd;
    return proratedApplication(grant, row, attached.start);
  });
  await insertGrants(
    sql,
    scope,
    applications.map(({ grant }) => grant),
  );
  if (row.status !== 'draft') await insertApplications(sql, scope, applications);
}

function isProrated(grant: GrantRow, row: SubscriptionRow, { start, behavior }: AttachedGrants): boolean {
  const { currentPeriodStart, currentPeriodEnd, endDate } = row;
  return (
    behavior === 'create_prorations' &&
    grant.cadence === 'RECURRING' &&
    grant.period === row.billingPeriod &&
    grant.periodCount === row.billingPeriodCount &&
    start > currentPeriodStart &&
    start < currentPeriodEnd &&
    (endDate === null || currentPeriodEnd <= endDate)
  );
}

function proratedApplication(grant: GrantRow, row: SubscriptionRow, attachedAt: string): NewApplication {
  const period = { start: row.currentPeriodStart, end: row.currentPeriodEnd };
  const { coefficient, credits } = proratedCredits(grant.credits, period, attachedAt);
  return {
    grant,
    period: { start: attachedAt, end: period.end },
    first: true,
    credits,
    metadata: {
      proration_applied: 'true',
      proration_coefficient: coefficient,
      proration_original_credits: grant.credits,
      proration_period_start: period.start,
      proration_period_end: period.end,
      proration_date: attachedAt,
      proration_strategy: 'second_based',
      proration_source: 'addon_attach',
    },
  };
}

/** A grant of a subscription after a template, with dates of its own. */
export function copyOfGrant(
  { startDate: _start, endDate: _end, ...template }: NewCreditGrant,
  row: SubscriptionRow,
  dates: { startDate: string; endDate: string | null },
): GrantRow {
  return {
    ...template,
    ...dates,
    id: newId('cg'),
    scope: 'SUBSCRIPTION',
    planId: null,
    originPlanId: null,
    addonId: null,
    subscriptionId: row.id,
    addonAssociationId: null,
    creditGrantAnchor: dates.startDate,
  };
}

function checkDates(
  row: Pick<SubscriptionRow, 'startDate' | 'endDate'>,
  { startDate, endDate }: NewCreditGrant,
  path: string,
): void {
  if (startDate !== null && startDate < row.startDate)
    throw badField(`${path}start_date`, `must not be before ${row.startDate}, the subscription's start`);
  if (endDate !== null && endDate < (startDate ?? row.startDate))
    throw badField(`${path}end_date`, 'must not be before start_date');
  if (endDate !== null && row.endDate !== null && endDate > row.endDate)
    throw badField(`${path}end_date`, `must not be after ${row.endDate}, the subscription's end`);
}

/** Ends the grants of ended subscriptions at each one's end and cancels what was to come; credits that were granted stay. */
export function endGrants(
  sql: Sql,
  scope: Scope,
  ended: readonly { subscriptionId: string; at: string }[],
): Promise<void> {
  const ids = ended.map(({ subscriptionId }) => subscriptionId);
  return endWhere(
    sql,
    scope,
    'g.subscription_id',
    ids,
    ended.map(({ at }) => at),
  );
}

/** Ends the grants that an add-on brought, when it is detached. spec: wallets-and-payments §2.15 */
export function endAddonGrants(sql: Sql, scope: Scope, associationId: string, at: string): Promise<void> {
  return endWhere(sql, scope, 'g.addon_association_id', [associationId], [at]);
}

/** Ends one grant. spec: wallets-and-payments §1.2 DELETE */
export function endGrant(sql: Sql, scope: Scope, grantId: string, at: string): Promise<void> {
  return endWhere(sql, scope, 'g.id', [grantId], [at]);
}

async function endWhere(
  sql: Sql,
  scope: Scope,
  column: string,
  ids: readonly string[],
  instants: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const stamp = [new Date().toISOString(), scope.actor];
  const of = 'unnest($2::text[], $3::timestamptz[]) as t(id, at)';
  await sql.rows(
    `update credit_grant_application a set application_status = 'cancelled', updated_at = $4, updated_by = $5
     from ${of}, credit_grant g where a.environment_id = $1 and g.environment_id = $1 and ${column} = t.id
       and g.scope = 'SUBSCRIPTION' and a.credit_grant_id = g.id and a.application_status in ('pending', 'failed') and a.scheduled_for >= t.at`,
    [scope.environmentId, ids, instants, ...stamp],
  );
  await sql.rows(
    `update credit_grant g set end_date = greatest(g.start_date, t.at), updated_at = $4, updated_by = $5
     from ${of} where g.environment_id = $1 and ${column} = t.id and g.scope = 'SUBSCRIPTION'
       and g.status = 'published' and (g.end_date is null or g.end_date > t.at)`,
    [scope.environmentId, ids, instants, ...stamp],
  );
}

/**
 * Grants of a draft begin with it: those that were to begin with it or its trial's end do so again, others move by the same
 * shift; each gets its first application. spec: subscriptions-and-invoicing §2.4.1
 */
export async function startGrants(sql: Sql, scope: Scope, draft: SubscriptionRow, row: SubscriptionRow): Promise<void> {
  const grants = await readGrants(sql, scope.environmentId, 'g.subscription_id = $2', row.id);
  if (grants.length === 0) return;
  const shiftMs = Date.parse(row.startDate) - Date.parse(draft.startDate);
  const begin = row.trialEnd ?? row.startDate;
  const moved = grants.map((grant): GrantRow => {
    const fromBeginning = grant.startDate === (draft.trialEnd ?? draft.startDate);
    const startDate = fromBeginning ? begin : new Date(Date.parse(grant.startDate!) + shiftMs).toISOString();
    return { ...grant, startDate, creditGrantAnchor: startDate };
  });
  await writeRows(sql, moveGrants, moved);
  await insertApplications(
    sql,
    scope,
    moved.map((grant) => firstApplication(grant, row.timezone)),
  );
}

const moveGrants = updateText('credit_grant', {
  id: 'text',
  startDate: 'timestamptz',
  creditGrantAnchor: 'timestamptz',
});

/**
 * Gives the grants of an add-on their first applications, which waited for its checkout session: one that gives a share of the period it
 * was attached in goes on at that period's end. spec: wallets-and-payments §2.15, §2.17 add_addon
 */
export async function startAddonGrants(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  associationId: string,
): Promise<void> {
  const grants = await readGrants(sql, scope.environmentId, 'g.addon_association_id = $2', associationId);
  const applications = grants.map((grant) =>
    grant.creditGrantAnchor === grant.startDate
      ? firstApplication(grant, row.timezone)
      : proratedApplication(grant, row, grant.startDate!),
  );
  await insertApplications(sql, scope, applications);
}

/** What waited for a subscription to begin is due when it does. spec: subscriptions-and-invoicing §2.4 incomplete */
export async function releaseGrants(sql: Sql, scope: Scope, subscriptionId: string, at: string): Promise<void> {
  await sql.rows(
    `update credit_grant_application set scheduled_for = $3, updated_at = $4, updated_by = $5 where environment_id = $1
       and subscription_id = $2 and application_status = 'pending' and retry_count > 0 and period_start <= $3 and scheduled_for > $3`,
    [scope.environmentId, subscriptionId, at, new Date().toISOString(), scope.actor],
  );
}
