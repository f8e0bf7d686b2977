import type { ChargeReason } from '../../billing/charge.ts';
import { isChild } from '../../billing/hierarchy.ts';
import { type ClosedPeriod, closePeriod, endTrial, type SubscriptionStatus } from '../../billing/subscription.ts';
import { writeAudit } from '../audit.ts';
import { writeRows } from '../bulk.ts';
import { type OutboundEvent, writeEvents } from '../outbox.ts';
import type { Scope } from '../scope.ts';
import type { Sql } from '../transaction.ts';
import type { UsageReader } from '../usage-reader.ts';
import { readBillingContext } from './billing-context.ts';
import { type BillingReason, type DraftInvoice, draftInvoice, insertDrafts } from './invoice-draft.ts';
import { invoiceEvents } from './invoice-event.ts';
import { issueInvoices } from './invoice-issue.ts';
import { type BilledLine, type ChargeRequest, computeCharges } from './subscription-charge.ts';
import { endSubscriptionParts } from './subscription-end.ts';
import { subscriptionEvent } from './subscription-event.ts';
import { followParents } from './subscription-follow.ts';
import { periodOf } from './subscription-period.ts';
import {
  lockSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from './subscription-row.ts';
import { executeCancellations } from './subscription-schedule.ts';
import { type AttendedSubscription, readAgendas, refreshAgendas } from './subscription-snapshot.ts';

/** One boundary of one subscription that has come. */
export interface BoundaryRequest {
  subscriptionId: string;
  /** The instant of the agenda entry; a subscription that already moved past it is left as it is. */
  at: string;
}

interface Crossing {
  row: SubscriptionRow;
  closed: ClosedPeriod;
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
  return crossBoundaries(sql, scope, requests, readUsage, {
    statuses: ['active', 'paused'],
    cross: closePeriod,
    reason: 'SUBSCRIPTION_CYCLE',
    action: 'period closed',
  });
}

/**
 * Ends the trials that are over: the first billed period begins and its opening invoice is issued at once.
 * spec: subscriptions-and-invoicing §2.10
 */
export async function endTrials(sql: Sql, scope: Scope, requests: readonly BoundaryRequest[], readUsage: UsageReader) {
  return crossBoundaries(sql, scope, requests, readUsage, {
    statuses: ['trialing'],
    cross: (row) => endTrial(row, waitsForPayment(row) ? 'incomplete' : 'active'),
    reason: 'SUBSCRIPTION_TRIAL_END',
    action: 'trial ended',
  });
}

interface Boundary {
  statuses: readonly SubscriptionStatus[];
  cross(row: SubscriptionRow): ClosedPeriod;
  reason: BillingReason;
  action: string;
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
    return due ? [{ row, closed: boundary.cross(row), at: request.at }] : [];
  });
  const changed = await bill(sql, scope, crossings, readUsage, boundary);
  const untouched = [...rows.values()].filter((row) => !crossings.some((crossing) => crossing.row.id === row.id));
  return [
    ...(await refreshAgendas(sql, scope.environmentId, changed)),
    ...(await readAgendas(sql, scope.environmentId, untouched)),
  ];
}

async function bill(
  sql: Sql,
  scope: Scope,
  crossings: readonly Crossing[],
  readUsage: UsageReader,
  boundary: Boundary,
) {
  if (crossings.length === 0) return [];
  const charges = await computeCharges(
    sql,
    scope,
    crossings.map((crossing) => chargeRequest(crossing, boundary)),
    readUsage,
  );
  const context = await readBillingContext(
    sql,
    scope.environmentId,
    crossings.map(({ row }) => row),
  );
  const results = crossings.map((crossing) =>
    crossed(scope, crossing, charges.get(crossing.row.id) ?? [], boundary, context),
  );
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
      action: row.status === 'cancelled' ? `${boundary.action}, cancelled` : boundary.action,
      version: row.version,
      occurredAt: crossing.closed.elapsed.end,
      detail: { period_start: crossing.closed.elapsed.start, period_end: crossing.closed.elapsed.end },
    })),
  );
  if (boundary.reason === 'SUBSCRIPTION_TRIAL_END') {
    const opened = results.flatMap(({ draft, crossing }) =>
      draft ? [{ invoiceId: draft.row.id, at: crossing.closed.elapsed.end }] : [],
    );
    await issueInvoices(sql, scope, opened, null);
  }
  await followParents(
    sql,
    scope,
    results.map(({ row, crossing }) => ({ row, at: crossing.closed.elapsed.end })),
  );
  return changed;
}

function chargeRequest({ row, closed }: Crossing, boundary: Boundary): ChargeRequest {
  // A paused stretch bills nothing, behind the boundary or ahead. spec: §2.11
  if (row.status === 'paused') return { key: row.id, subscription: row, reason: 'cycle', elapsed: null, next: null };
  const opening = boundary.reason === 'SUBSCRIPTION_TRIAL_END';
  const reason: ChargeReason = closed.next === null ? 'last' : opening ? 'opening' : 'cycle';
  return {
    key: row.id,
    subscription: opening ? { ...row, ...closed.state } : row,
    reason,
    // During a trial usage is recorded and not billed.
    elapsed: opening ? null : periodOf(row, closed.elapsed.start, closed.elapsed.end),
    next: closed.next && periodOf({ ...row, ...closed.state }, closed.next.start, closed.next.end),
  };
}

function crossed(
  scope: Scope,
  crossing: Crossing,
  lines: BilledLine[],
  boundary: Boundary,
  { config, planNames, terms }: Awaited<ReturnType<typeof readBillingContext>>,
): { row: SubscriptionRow; crossing: Crossing; draft: DraftInvoice | null; events: OutboundEvent[] } {
  const { closed } = crossing;
  const opening = boundary.reason === 'SUBSCRIPTION_TRIAL_END';
  const bills = crossing.row.status !== 'trialing' || closed.next !== null;
  const row: SubscriptionRow = {
    ...crossing.row,
    ...closed.state,
    billingSequence: crossing.row.billingSequence + (bills ? 1 : 0),
    version: crossing.row.version + 1,
  };
  const period = opening && closed.next ? closed.next : closed.elapsed;
  const draft = bills
    ? draftInvoice(scope, {
        subscription: row,
        planName: planNames.get(row.planId) ?? '',
        reason: boundary.reason,
        period,
        lines,
        billingSequence: row.billingSequence,
        config,
        terms: terms.get(row.id),
        at: closed.elapsed.end,
        paused: crossing.row.status === 'paused',
      })
    : null;
  // A trial's end that leaves nothing to pay makes the subscription active whatever it was to wait for.
  if (row.status === 'cancelled') Object.assign(row, { pauseStatus: 'none', activePauseId: '' });
  if (row.status === 'incomplete' && draft?.row.invoiceStatus === 'SKIPPED') row.status = 'active';
  return { row, crossing, draft, events: crossingEvents(row, closed, draft, opening) };
}

function crossingEvents(
  row: SubscriptionRow,
  closed: ClosedPeriod,
  draft: DraftInvoice | null,
  opening: boolean,
): OutboundEvent[] {
  const at = closed.elapsed.end;
  const events = draft ? invoiceEvents('invoice.update', draft.row.id, at) : [];
  if (row.status === 'cancelled') {
    events.push(
      subscriptionEvent('subscription.updated', row, at),
      subscriptionEvent('subscription.cancelled', row, at),
    );
  } else if (opening && row.status === 'active') {
    events.push(subscriptionEvent('subscription.activated', row, at));
  }
  return events;
}

/** Collection that must succeed before the subscription counts as active. spec: §2.3.4 */
export function waitsForPayment(row: Pick<SubscriptionRow, 'paymentBehavior'>): boolean {
  return row.paymentBehavior === 'allow_incomplete' || row.paymentBehavior === 'default_incomplete';
}
