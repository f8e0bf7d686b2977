import type { ChargeReason } from '../../../billing/line/charge.ts';
import {
  type ClosedPeriod,
  closePeriod,
  endTrial,
  endTrialInGroup,
  type SubscriptionStatus,
} from '../../../billing/subscription/subscription.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { ChargeRequest } from '../../charging/charge-request.ts';
import type { BilledLine } from '../../charging/subscription-charge.ts';
import { periodOf } from '../../charging/subscription-period.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import type { readBillingContext } from '../../invoice/draft/billing-context.ts';
import { type BillingReason, type DraftInvoice, draftInvoice } from '../../invoice/draft/invoice-draft.ts';
import { groupedChildren, mergedLines, termsWithChildren } from '../../invoice/draft/subscription-group.ts';
import type { OutboundEvent } from '../../platform/event-catalogue/event-catalogue.ts';
import { behindItsPhases } from '../phase/subscription-phase-cross.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { moveTrial, trialGoesOn } from '../status/subscription-trial-move.ts';

/** A kind of boundary: in which statuses it comes, what it leads to and what is invoiced there. */
export interface Boundary {
  statuses: readonly SubscriptionStatus[];
  cross(row: SubscriptionRow): ClosedPeriod;
  reason: BillingReason;
  action: string;
}

/** A subscription at its boundary. */
export interface Crossing {
  row: SubscriptionRow;
  boundary: Boundary;
  closed: ClosedPeriod;
  /** The subscription on whose invoice its lines are; null for its own. */
  parentId: string | null;
  at: string;
}

export const periodBoundary: Boundary = {
  statuses: ['active', 'paused'],
  cross: closePeriod,
  reason: 'SUBSCRIPTION_CYCLE',
  action: 'period closed',
};

export const trialBoundary: Boundary = {
  statuses: ['trialing'],
  cross: (row) => endTrial(row, waitsForPayment(row) ? 'incomplete' : 'active'),
  reason: 'SUBSCRIPTION_TRIAL_END',
  action: 'trial ended',
};

/** The children that are invoiced with subscriptions which go on behind their boundary. spec: subscriptions-and-invoicing §2.13 */
export async function childCrossings(sql: Sql, scope: Scope, crossings: readonly Crossing[]): Promise<Crossing[]> {
  const going = crossings.filter(({ closed }) => closed.next !== null);
  const parents = new Map(going.map((crossing) => [crossing.row.id, crossing]));
  const children = await groupedChildren(
    sql,
    scope.environmentId,
    going.map(({ row }) => row),
  );
  const found: Crossing[] = [];
  for (const child of children) {
    const parent = parents.get(child.parentSubscriptionId ?? '')!;
    const { at, closed: crossed } = parent;
    const boundary = child.status === 'trialing' ? trialBoundary : periodBoundary;
    if (!boundary.statuses.includes(child.status) || child.currentPeriodEnd > crossed.elapsed.end) continue;
    if (boundary === trialBoundary && trialGoesOn(child, crossed.state)) {
      await moveTrial(sql, scope, child, {
        parent: parent.row,
        end: crossed.state.currentPeriodEnd,
        at: crossed.elapsed.end,
      });
      continue;
    }
    // Its phases come first, as its own agenda has them.
    const row = await behindItsPhases(sql, scope, child, crossed.elapsed.end);
    // What a child waits for is its parent's payment.
    const closed =
      boundary === trialBoundary
        ? endTrialInGroup({ ...row, currentPeriodEnd: crossed.elapsed.end }, crossed.state)
        : boundary.cross(row);
    found.push({ row, boundary, closed, parentId: parent.row.id, at });
  }
  return found;
}

/** What a boundary charges. spec: subscriptions-and-invoicing §2.6.1 */
export function chargeRequest({ row, closed, boundary }: Crossing): ChargeRequest {
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

interface CrossingBill {
  charges: ReadonlyMap<string, BilledLine[]>;
  context: Awaited<ReturnType<typeof readBillingContext>>;
  /** Of all the crossings, those that are invoiced with another. */
  children: readonly Crossing[];
}

/** A subscription behind its boundary, with the invoice of it; the lines of a child are on its parent's. spec: §2.5.1, §2.13 */
export function crossed(
  scope: Scope,
  crossing: Crossing,
  bill: CrossingBill,
): { row: SubscriptionRow; crossing: Crossing; draft: DraftInvoice | null; events: OutboundEvent[] } {
  const { closed, boundary } = crossing;
  const opening = boundary === trialBoundary;
  const bills = crossing.parentId === null && (crossing.row.status !== 'trialing' || closed.next !== null);
  const row: SubscriptionRow = {
    ...crossing.row,
    ...closed.state,
    billingSequence: crossing.row.billingSequence + (bills ? 1 : 0),
    version: crossing.row.version + 1,
  };
  const draft = bills ? crossingDraft(scope, crossing, row, bill) : null;
  // A trial's end that leaves nothing to pay makes the subscription active whatever it was to wait for.
  if (row.status === 'cancelled') Object.assign(row, { pauseStatus: 'none', activePauseId: '' });
  if (row.status === 'incomplete' && draft?.row.invoiceStatus === 'SKIPPED') row.status = 'active';
  return { row, crossing, draft, events: crossingEvents(row, closed, draft, opening) };
}

function crossingDraft(scope: Scope, crossing: Crossing, row: SubscriptionRow, bill: CrossingBill): DraftInvoice {
  const { closed, boundary } = crossing;
  const { config, planNames, terms } = bill.context;
  const planName = (subscription: SubscriptionRow) => planNames.get(subscription.planId) ?? '';
  const children = bill.children.filter(({ parentId }) => parentId === row.id).map((child) => child.row);
  const merged = children.flatMap((child) => mergedLines(child, planName(child), bill.charges.get(child.id) ?? []));
  return draftInvoice(scope, {
    subscription: row,
    planName: planName(row),
    reason: boundary.reason,
    period: boundary === trialBoundary && closed.next ? closed.next : closed.elapsed,
    lines: [...(bill.charges.get(row.id) ?? []), ...merged],
    billingSequence: row.billingSequence,
    config,
    terms: termsWithChildren(terms, row.id, children),
    at: closed.elapsed.end,
    paused: crossing.row.status === 'paused',
  });
}

function crossingEvents(
  row: SubscriptionRow,
  closed: ClosedPeriod,
  draft: DraftInvoice | null,
  opening: boolean,
): OutboundEvent[] {
  const at = closed.elapsed.end;
  const events: OutboundEvent[] = draft ? invoiceEvents('invoice.update', draft.row.id, at) : [];
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
