import type { GrantPays, NewCreditGrant } from '../../billing/subscription/new-subscription.ts';
import type { BillingPeriod } from '../../billing/time/calendar.ts';
import type { GrantExpiry, GrantPeriod, GrantSchedule } from '../../billing/wallet/credit-grant.ts';
import { firstGrantPeriod } from '../../billing/wallet/credit-grant.ts';
import { newId } from '../../db/id.ts';
import { type Columns, insertText, recordColumnTypes, writeRows } from '../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/** A grant as its row has it. */
export interface GrantRow extends NewCreditGrant {
  id: string;
  scope: 'PLAN' | 'ADDON' | 'SUBSCRIPTION';
  planId: string | null;
  /** The plan a subscription's grant was copied from; null for one that was asked for. */
  originPlanId: string | null;
  addonId: string | null;
  subscriptionId: string | null;
  addonAssociationId: string | null;
  creditGrantAnchor: string | null;
}

const grantColumns: Columns = {
  ...recordColumnTypes,
  name: 'text',
  scope: 'text',
  planId: 'text',
  originPlanId: 'text',
  addonId: 'text',
  subscriptionId: 'text',
  addonAssociationId: 'text',
  cadence: 'text',
  credits: 'numeric',
  conversionRate: 'numeric',
  topupConversionRate: 'numeric',
  period: 'text',
  periodCount: 'int',
  creditGrantAnchor: 'timestamptz',
  startDate: 'timestamptz',
  endDate: 'timestamptz',
  expirationType: 'text',
  expirationDuration: 'int',
  expirationDurationUnit: 'text',
  priority: 'int',
  pays: 'text',
  metadata: 'jsonb',
};
const insertGrantRows = insertText('credit_grant', grantColumns);

const applicationColumns: Columns = {
  ...recordColumnTypes,
  creditGrantId: 'text',
  subscriptionId: 'text',
  scheduledFor: 'timestamptz',
  periodStart: 'timestamptz',
  periodEnd: 'timestamptz',
  applicationStatus: 'text',
  applicationReason: 'text',
  credits: 'numeric',
  retryCount: 'int',
  idempotencyKey: 'text',
  metadata: 'jsonb',
};
// The next row may be there already where an application is performed a second time.
const insertApplicationRows = insertText('credit_grant_application', applicationColumns, 'on conflict do nothing');

function recordOf(scope: Scope) {
  const now = new Date().toISOString();
  const { tenantId, environmentId, actor } = scope;
  return { tenantId, environmentId, createdAt: now, createdBy: actor, updatedAt: now, updatedBy: actor };
}

/** Writes grants; one statement for any number. */
export async function insertGrants(sql: Sql, scope: Scope, grants: readonly GrantRow[]): Promise<void> {
  await writeRows(
    sql,
    insertGrantRows,
    grants.map((grant) => ({ ...recordOf(scope), ...grant, pays: grant.pays ?? 'any_open_invoice' })),
  );
}

/** An application to be written. */
export interface NewApplication {
  grant: GrantRow;
  period: GrantPeriod;
  first: boolean;
  credits?: string;
  metadata?: Record<string, string>;
}

/** Writes pending applications, each due when its period begins; one that exists stays. spec: wallets-and-payments §2.15 */
export async function insertApplications(
  sql: Sql,
  scope: Scope,
  applications: readonly NewApplication[],
): Promise<void> {
  await writeRows(
    sql,
    insertApplicationRows,
    applications.map(({ grant, period, first, credits, metadata }) => ({
      ...recordOf(scope),
      id: newId('cga'),
      creditGrantId: grant.id,
      subscriptionId: grant.subscriptionId,
      scheduledFor: period.start,
      periodStart: period.start,
      periodEnd: period.end,
      applicationStatus: 'pending',
      applicationReason:
        grant.cadence === 'ONETIME'
          ? 'onetime_credit_grant'
          : first
            ? 'first_time_recurring_credit_grant'
            : 'recurring_credit_grant',
      credits: credits ?? grant.credits,
      retryCount: 0,
      idempotencyKey: [grant.id, period.start, period.end ?? ''].join('/'),
      metadata: metadata ?? {},
    })),
  );
}

/** The first application of a grant of a subscription, which it always gets. spec: wallets-and-payments §2.15 */
export function firstApplication(grant: GrantRow, timezone: string): NewApplication {
  return { grant, period: firstGrantPeriod(scheduleOf(grant, timezone)), first: true };
}

/** What decides the periods of a grant of a subscription. */
export function scheduleOf(grant: GrantRow, timezone: string): GrantSchedule {
  return {
    cadence: grant.cadence,
    period: grant.period as BillingPeriod | null,
    periodCount: grant.periodCount,
    anchor: grant.creditGrantAnchor!,
    timezone,
    startDate: grant.startDate!,
    endDate: grant.endDate,
  };
}

/** When the credits of a grant expire. */
export function expiryOf(grant: GrantRow): GrantExpiry {
  return {
    type: grant.expirationType,
    duration: grant.expirationDuration,
    unit: grant.expirationDurationUnit,
  };
}

/** Published grants that satisfy a condition on `g`, the oldest first. */
export async function readGrants(
  sql: Sql,
  environmentId: string,
  condition: string,
  value: unknown,
): Promise<GrantRow[]> {
  const rows = await sql.rows<Record<string, unknown>>(
    `select g.* from credit_grant g where g.environment_id = $1 and g.status = 'published' and ${condition} order by g.created_at, g.id`,
    [environmentId, value],
  );
  return rows.map(grantFromRow);
}

/** A grant from its row. */
export function grantFromRow(row: Record<string, unknown>): GrantRow {
  const text = (column: string) => (row[column] ?? null) as string | null;
  const number = (column: string) => (row[column] ?? null) as number | null;
  const decimal = (column: string) => (text(column) === null ? null : decimalText(text(column)!));
  const at = (column: string) => (text(column) === null ? null : instantText(text(column)!));
  return {
    id: row.id as string,
    name: row.name as string,
    scope: row.scope as GrantRow['scope'],
    planId: text('plan_id'),
    originPlanId: text('origin_plan_id'),
    addonId: text('addon_id'),
    subscriptionId: text('subscription_id'),
    addonAssociationId: text('addon_association_id'),
    cadence: row.cadence as GrantRow['cadence'],
    credits: decimal('credits')!,
    conversionRate: decimal('conversion_rate'),
    topupConversionRate: decimal('topup_conversion_rate'),
    period: text('period'),
    periodCount: number('period_count'),
    creditGrantAnchor: at('credit_grant_anchor'),
    startDate: at('start_date'),
    endDate: at('end_date'),
    expirationType: row.expiration_type as GrantRow['expirationType'],
    expirationDuration: number('expiration_duration'),
    expirationDurationUnit: text('expiration_duration_unit') as GrantRow['expirationDurationUnit'],
    priority: number('priority'),
    pays: row.pays as GrantPays,
    metadata: row.metadata as Record<string, string>,
  };
}
