import { creditedBy } from '../../../billing/invoice/carried-credit.ts';
import { type PhaseMoment, phaseMoments } from '../../../billing/subscription/phase.ts';
import { changeTypeOf } from '../../../billing/subscription/plan-change.ts';
import { compareText } from '../../../billing/text-order.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import { instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type ChargedItem, readItems } from '../../charging/charged-item.ts';
import { type PhaseRow, readPhases } from '../../charging/subscription-phase.ts';
import {
  lockSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import { type AttendedSubscription, refreshSubscriptions } from '../../charging/subscription-snapshot.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { endLineItemsAt } from '../item/subscription-item.ts';
import { type ProrationRequest, planProration, type Settled, settleProration } from '../plan-change/proration.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';

interface DuePhase {
  subscriptionId: string;
  at: string;
  /** The phase. */
  ref: string;
}

type Boundary = PhaseMoment['kind'];

/**
 * Begins phases whose time has come: the line items and overrides of each replace those of the phase before, and inside a period
 * charges in advance are settled as `proration_behavior` says. At a period's end the invoice of the new period finds them in
 * force. Asked again it changes nothing. spec: subscriptions-and-invoicing §2.5, §2.9.5
 */
export function startPhases(sql: Sql, scope: Scope, due: readonly DuePhase[]): Promise<AttendedSubscription[]> {
  return crossAll(sql, scope, due, 'startPhase');
}

/** Leaves the last phases of subscriptions that go on: what they overrode is charged as the plan has it again. spec: §2.9.5 */
export function endPhases(sql: Sql, scope: Scope, due: readonly DuePhase[]): Promise<AttendedSubscription[]> {
  return crossAll(sql, scope, due, 'endPhase');
}

/** What is due of the phases of a subscription up to an instant, first things first. */
export async function duePhases(sql: Sql, row: SubscriptionRow, until: string): Promise<PhaseMoment[]> {
  const moments = phaseMoments(row, await readPhases(sql, row.environmentId, row.id));
  return moments.filter(({ at }) => at <= until).sort((a, b) => compareText(a.at, b.at));
}

/**
 * What `look` sees once the phases that start or end up to an instant have done so; then that is taken back.
 * spec: subscriptions-and-invoicing §2.15.13
 */
export async function withComingPhases<T>(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  until: string,
  look: () => Promise<T>,
): Promise<T> {
  const ahead = { ...row, status: row.status === 'incomplete' ? ('active' as const) : row.status };
  const due = await duePhases(sql, ahead, until);
  if (due.length === 0) return look();
  await sql.rows('savepoint coming_phases');
  await crossEach(sql, scope, row, due);
  const seen = await look();
  await sql.rows('rollback to savepoint coming_phases');
  // Those of several subscriptions lie within each other.
  await sql.rows('release savepoint coming_phases');
  return seen;
}

/**
 * A locked subscription behind every beginning and end of its phases that is due by an instant, which its own workflow may not have
 * come to; the agenda is the caller's. spec: subscriptions-and-invoicing §2.9.5, §2.13
 */
export async function behindItsPhases(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  until: string,
): Promise<SubscriptionRow> {
  return crossEach(sql, scope, row, await duePhases(sql, row, until));
}

async function crossEach(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  due: readonly PhaseMoment[],
): Promise<SubscriptionRow> {
  let present = row;
  for (const { kind, ref } of due) {
    const phase = (await readPhases(sql, scope.environmentId, row.id)).find(({ id }) => id === ref);
    if (phase) present = await crossPhase(sql, scope, present, phase, kind);
  }
  return present;
}

async function crossAll(
  sql: Sql,
  scope: Scope,
  due: readonly DuePhase[],
  boundary: Boundary,
): Promise<AttendedSubscription[]> {
  const ids = due.map(({ subscriptionId }) => subscriptionId);
  const rows = await lockSubscriptions(sql, scope.environmentId, ids);
  for (const { subscriptionId, ref, at } of due) {
    const row = rows.get(subscriptionId);
    if (!row) continue;
    const phases = await readPhases(sql, scope.environmentId, subscriptionId);
    const isDue = phaseMoments(row, phases).some(
      // What ends before it comes first.
      (moment) =>
        moment.kind === boundary && moment.ref === ref && moment.at <= at && moment.at <= row.currentPeriodEnd,
    );
    const phase = phases.find(({ id }) => id === ref);
    if (isDue && phase) rows.set(subscriptionId, await crossPhase(sql, scope, row, phase, boundary));
  }
  return refreshSubscriptions(sql, scope.environmentId, ids);
}

/** One phase begins or the last one ends, with its event and audit; the agenda is the caller's. Gives the row as it is then. */
async function crossPhase(
  sql: Sql,
  scope: Scope,
  before: SubscriptionRow,
  phase: PhaseRow,
  boundary: Boundary,
): Promise<SubscriptionRow> {
  const starts = boundary === 'startPhase';
  const at = starts ? phase.start : (phase.end ?? phase.start);
  const { settled, ended, begun } = await exchangeItems(sql, scope, before, phase, boundary, at);
  const row: SubscriptionRow = { ...settled.row, version: before.version + 1 };
  const now = new Date().toISOString();
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, now)]);
  await sql.rows(
    `update subscription_phase set started_at = case when id = $3 then coalesce(started_at, start_date) else started_at end,
       ended_at = case when id = $3 and $4 then null else $5::timestamptz end, updated_at = $6, updated_by = $7
     where environment_id = $1 and subscription_id = $2 and status = 'published' and ended_at is null
       and start_date <= (select start_date from subscription_phase where id = $3)`,
    [scope.environmentId, row.id, phase.id, starts, at, now, scope.actor],
  );
  await writeEvents(sql, scope, [subscriptionEvent('subscription.updated', row, at)]);
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: row.id,
      action: starts ? 'phase started' : 'phase ended',
      version: row.version,
      occurredAt: at,
      detail: { phase_id: phase.id, ended, begun, invoice_id: settled.invoiceId, ...creditedBy(settled) },
    },
  ]);
  return row;
}

interface Exchange {
  settled: Settled;
  ended: string[];
  begun: string[];
}

/** Ends the items of the phase before and what is overridden, begins what waited, and settles charges in advance. */
async function exchangeItems(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  phase: PhaseRow,
  boundary: Boundary,
  at: string,
): Promise<Exchange> {
  const { environmentId } = scope;
  const leaving = await leavingItems(sql, row, phase, boundary, at);
  const present = (await readItems(sql, environmentId, [row.id])).get(row.id) ?? [];
  const ended = present.filter(({ item }) => leaving.has(item.id));
  const { begins = [], resumes = [] } = phase.terms;
  const begun = new Set(await publishItems(sql, scope, boundary === 'startPhase' ? begins : resumes, at));
  const all = begun.size === 0 ? present : ((await readItems(sql, environmentId, [row.id])).get(row.id) ?? []);
  const started = all.filter(({ item }) => begun.has(item.id));
  const planned = await planProration(sql, scope, {
    row,
    action: changeTypeOf(
      ended.map(({ item }) => item),
      started.map(({ item }) => item),
    ),
    ...settledParts(row, ended, started),
    effectiveAt: at,
    at,
  });
  await endLineItemsAt(
    sql,
    scope,
    [...leaving].map(([lineItemId, endDate]) => ({ lineItemId, endDate })),
  );
  const settled = await settleProration(sql, scope, planned);
  return { settled, ended: [...leaving.keys()], begun: [...begun] };
}

/**
 * Items of an exchange that are settled at once: those that end as the subscription says, those that begin as they say themselves. Nothing is charged
 * while a subscription is paused; its resume charges what is in force then. spec: subscriptions-and-invoicing §2.9.5, §2.9.6
 */
function settledParts(
  { status, prorationBehavior }: SubscriptionRow,
  ended: readonly ChargedItem[],
  started: readonly ChargedItem[],
): Pick<ProrationRequest, 'behavior' | 'ended' | 'started'> {
  const own = started.filter(({ item }) => (item.prorationBehavior ?? prorationBehavior) === 'create_prorations');
  if (status === 'paused') return { behavior: 'none', ended, started };
  if (prorationBehavior === 'create_prorations') return { behavior: 'create_prorations', ended, started: own };
  return own.length === 0
    ? { behavior: 'none', ended, started }
    : { behavior: 'create_prorations', ended: [], started: own };
}

/**
 * The line items that end at a boundary, with their ends: those of earlier phases that are still open, and those of the plan's
 * prices that the phase overrides, whatever version of a price they have come to. What is charged once stays as it is.
 */
async function leavingItems(
  sql: Sql,
  row: SubscriptionRow,
  phase: PhaseRow,
  boundary: Boundary,
  at: string,
): Promise<Map<string, string>> {
  const replaces = boundary === 'startPhase' ? (phase.terms.replaces ?? []) : [];
  const items = await sql.rows<{ id: string; ends: string }>(
    `select l.id, greatest(l.start_date, $5::timestamptz) as ends from subscription_line_item l join price p on p.id = l.price_id
     left join subscription_phase f on f.id = l.subscription_phase_id
     where l.environment_id = $1 and l.subscription_id = $2 and l.status = 'published' and l.billing_period <> 'ONETIME'
       and (l.end_date is null or l.end_date > $5)
       and (f.start_date < $3 or (l.subscription_phase_id is null and l.entity_type = 'plan' and coalesce(p.parent_price_id, p.id) in (
         select coalesce(o.parent_price_id, o.id) from price o where o.environment_id = $1 and o.id = any($4))))`,
    [row.environmentId, row.id, boundary === 'startPhase' ? phase.start : at, replaces, at],
  );
  return new Map(items.map(({ id, ends }) => [id, instantText(ends)]));
}

// A usage price of the plan that was superseded while a phase hid it comes back as its present version.
const succeedText = `
update subscription_line_item l set price_id = n.id, end_date = least(n.end_date, s.end_date)
from price o join price n on n.environment_id = o.environment_id and n.entity_type = o.entity_type and n.entity_id = o.entity_id
  and coalesce(n.parent_price_id, n.id) = coalesce(o.parent_price_id, o.id) and n.status = 'published', subscription s
where l.environment_id = $1 and l.id = any($2) and l.status = 'draft' and l.subscription_phase_id is null and l.price_type = 'USAGE'
  and s.id = l.subscription_id and o.id = l.price_id and o.environment_id = $1 and o.end_date <= $3
  and n.start_date <= $3 and (n.end_date is null or n.end_date > $3)`;

/** Brings waiting line items into force; coupons of the plan's own follow from the item before. Gives those that came. */
async function publishItems(sql: Sql, scope: Scope, ids: readonly string[], at: string): Promise<string[]> {
  if (ids.length === 0) return [];
  const now = new Date().toISOString();
  await sql.rows(succeedText, [scope.environmentId, [...ids], at]);
  const rows = await sql.rows<{ id: string }>(
    `update subscription_line_item set status = 'published', updated_at = $3, updated_by = $4
     where environment_id = $1 and id = any($2) and status = 'draft' and (end_date is null or end_date > start_date) returning id`,
    [scope.environmentId, [...ids], now, scope.actor],
  );
  await sql.rows(
    `update coupon_association a set subscription_line_item_id = n.id, updated_at = $4, updated_by = $5
     from subscription_line_item n join subscription_line_item o on o.environment_id = n.environment_id
       and o.subscription_id = n.subscription_id and o.price_id = n.price_id and o.id <> n.id and o.subscription_phase_id is null
     where n.environment_id = $1 and n.id = any($2) and n.subscription_phase_id is null and n.entity_type = 'plan'
       and a.environment_id = $1 and a.subscription_line_item_id = o.id and a.subscription_phase_id is null
       and (a.end_date is null or a.end_date > $3)`,
    [scope.environmentId, rows.map(({ id }) => id), at, now, scope.actor],
  );
  return rows.map(({ id }) => id);
}
