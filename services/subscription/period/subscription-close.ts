import { isChild } from '../../../billing/subscription/hierarchy.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { computeCharges } from '../../charging/subscription-charge.ts';
import { demoteParentOf } from '../../charging/subscription-family.ts';
import {
  lockSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import { type AttendedSubscription, readAgendas, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { readBillingContext } from '../../invoice/draft/billing-context.ts';
import { insertDrafts } from '../../invoice/draft/invoice-draft.ts';
import { issueInvoices } from '../../invoice/issue/invoice-issue.ts';
import { releaseCarriedCredits } from '../../invoice/terms/carried-credit.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { followParents } from '../family/subscription-follow.ts';
import { releaseChildren, tellChildren } from '../family/subscription-group-leave.ts';
import { groupTrialCrossings, overdueTrials } from '../family/subscription-group-trial.ts';
import { executeCancellations } from '../plan-change/subscription-schedule.ts';
import { endSubscriptionParts } from '../status/subscription-end.ts';
import { isInGroupTrial } from '../status/subscription-trial-move.ts';
import {
  type Boundary,
  type Crossing,
  chargeRequest,
  childCrossings,
  crossed,
  periodBoundary,
  trialBoundary,
} from './subscription-crossing.ts';

/** One boundary of one subscription that has come. */
export interface BoundaryRequest {
  subscriptionId: string;
  /** The instant of the agenda entry; a subscription that already moved past it is left as it is. */
  at: string;
}

/**
 * Closes the oldest elapsed period of each subscription: draft cycle invoice, next period, agenda, events and audit, for
 * any number of subscriptions of one environment in the statements of one. Asked again it changes nothing.
 * spec: subscriptions-and-invoicing §2.5.1
 */
export async function closePeriods(
  sql: Sql,
  scope: Scope,
  requests: readonly BoundaryRequest[],
  readUsage: UsageReader,
) {
  return crossBoundaries(sql, scope, requests, readUsage, periodBoundary);
}

/**
 * Ends the trials that are over: the first billed period begins and its opening invoice is issued at once.
 * spec: subscriptions-and-invoicing §2.10
 */
export async function endTrials(sql: Sql, scope: Scope, requests: readonly BoundaryRequest[], readUsage: UsageReader) {
  return crossBoundaries(sql, scope, requests, readUsage, trialBoundary);
}

async function crossBoundaries(
  sql: Sql,
  scope: Scope,
  requests: readonly BoundaryRequest[],
  readUsage: UsageReader,
  boundary: Boundary,
): Promise<AttendedSubscription[]> {
  const rows = await lockSubscriptions(
    sql,
    scope.environmentId,
    requests.map((request) => request.subscriptionId),
  );
  const crossings = requests.flatMap((request): Crossing[] => {
    const row = rows.get(request.subscriptionId);
    // A child's boundary is its parent's.
    const due = row && !isChild(row) && boundary.statuses.includes(row.status) && row.currentPeriodEnd <= request.at;
    return due ? [{ row, boundary, closed: boundary.cross(row), parentId: null, at: request.at }] : [];
  });
  await endOverdueTrials(sql, scope, crossings, readUsage);
  const inGroups = requests.flatMap(({ subscriptionId, at }) => {
    const row = boundary === trialBoundary ? rows.get(subscriptionId) : undefined;
    return row && isInGroupTrial(row) && row.currentPeriodEnd <= at ? [row] : [];
  });
  const ofGroups = await groupTrialCrossings(sql, scope, inGroups, requests[0]?.at ?? '');
  for (const row of ofGroups.goingOn) rows.set(row.id, row);
  const all = [...crossings, ...(await childCrossings(sql, scope, crossings)), ...ofGroups.crossings];
  const changed = await bill(sql, scope, all, readUsage);
  const untouched = [...rows.values()].filter(({ id }) => !changed.some((row) => row.id === id));
  return [
    ...(await refreshAgendas(sql, scope.environmentId, changed)),
    ...(await readAgendas(sql, scope.environmentId, untouched)),
  ];
}

/** Steps that the workflows of children have not come to yet: their trials ended before this boundary of their parents. spec: §2.13 */
async function endOverdueTrials(
  sql: Sql,
  scope: Scope,
  crossings: readonly Crossing[],
  readUsage: UsageReader,
): Promise<void> {
  const parents = crossings.map(({ row }) => row);
  const late = await overdueTrials(sql, scope, parents);
  if (late.length === 0) return;
  const { at } = crossings[0] as Crossing;
  const ofGroups = await groupTrialCrossings(sql, scope, late, at);
  const ended = await bill(sql, scope, ofGroups.crossings, readUsage);
  await refreshAgendas(sql, scope.environmentId, ended);
  for (const parent of parents) {
    const own = ended.filter(({ parentSubscriptionId }) => parentSubscriptionId === parent.id);
    await tellChildren(sql, scope, parent, own, at);
  }
}

async function bill(sql: Sql, scope: Scope, crossings: readonly Crossing[], readUsage: UsageReader) {
  if (crossings.length === 0) return [];
  const rows = crossings.map(({ row }) => row);
  const [charges, context] = await Promise.all([
    computeCharges(sql, scope, crossings.map(chargeRequest), readUsage),
    readBillingContext(sql, scope.environmentId, rows),
  ]);
  const billing = { charges, context, children: crossings.filter(({ parentId }) => parentId !== null) };
  const results = crossings.map((crossing) => crossed(scope, crossing, billing));
  const drafts = results.flatMap((result) => result.draft ?? []);
  await insertDrafts(sql, drafts);
  const changed = results.map((result) => result.row);
  const ended = results.flatMap(({ row, crossing }) =>
    row.status === 'cancelled' ? [{ subscriptionId: row.id, at: crossing.closed.elapsed.end }] : [],
  );
  await endSubscriptionParts(sql, scope, ended);
  await executeCancellations(sql, scope.environmentId, ended);
  await writeRows(
    sql,
    updateSubscriptions,
    changed.map((row) => subscriptionRecord(row, scope.actor, new Date().toISOString())),
  );
  await writeEvents(
    sql,
    scope,
    results.flatMap((result) => result.events),
  );
  await writeAudit(
    sql,
    scope,
    results.map(({ row, crossing }) => ({
      objectType: 'subscription',
      objectId: row.id,
      action: `${crossing.boundary.action}${row.status === 'cancelled' ? ', cancelled' : ''}`,
      version: row.version,
      occurredAt: crossing.closed.elapsed.end,
      detail: {
        period_start: crossing.closed.elapsed.start,
        period_end: crossing.closed.elapsed.end,
        ...(crossing.parentId === null ? {} : { merged_into: crossing.parentId }),
      },
    })),
  );
  const opened = results.flatMap(({ draft, crossing }) =>
    draft && crossing.boundary === trialBoundary ? [{ invoiceId: draft.row.id, at: crossing.closed.elapsed.end }] : [],
  );
  await issueInvoices(sql, scope, opened, null);
  await releaseCarriedCredits(
    sql,
    scope,
    ended.map(({ subscriptionId }) => subscriptionId),
    ended[0]?.at ?? '',
  );
  await leaveChildren(sql, scope, results);
  for (const { row } of results) if (row.status === 'cancelled') await demoteParentOf(sql, scope, row);
  await followParents(
    sql,
    scope,
    results.map(({ row, crossing }) => ({ row, at: crossing.closed.elapsed.end })),
  );
  return changed;
}

/** Children of those that ended are left to themselves, and workflows of the others told of their next period. */
async function leaveChildren(sql: Sql, scope: Scope, results: readonly { row: SubscriptionRow; crossing: Crossing }[]) {
  for (const { row, crossing } of results) {
    const at = crossing.closed.elapsed.end;
    if (row.status === 'cancelled') await releaseChildren(sql, scope, row, at);
    const children = results.filter(({ crossing: other }) => other.parentId === row.id);
    await tellChildren(
      sql,
      scope,
      row,
      children.map((child) => child.row),
      at,
    );
  }
}
