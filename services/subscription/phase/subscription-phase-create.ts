import type { NewCouponLink, NewPhase, NewSubscription } from '../../../billing/subscription/new-subscription.ts';
import { phaseCouponTerm } from '../../../billing/subscription/phase.ts';
import { insertText, recordColumnTypes, writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { phaseEvent } from '../../charging/subscription-phase.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { linkSubscriptionCoupons } from '../../invoice/terms/coupon-link.ts';
import { writeAudit } from '../../platform/audit.ts';
import type { OutboundEvent } from '../../platform/event-catalogue/event-catalogue.ts';
import { type BaseItems, type PhaseItems, writePhaseItems } from './subscription-phase-items.ts';

const insertPhases = insertText('subscription_phase', {
  ...recordColumnTypes,
  subscriptionId: 'text',
  startDate: 'timestamptz',
  endDate: 'timestamptz',
  startedAt: 'timestamptz',
  terms: 'jsonb',
  metadata: 'jsonb',
});

/**
 * Writes the phases of a new subscription with everything they bring, so that whatever is wrong with one is told now; the first
 * takes hold at once. Gives their events. Throws `not_found` and `validation_error`. spec: subscriptions-and-invoicing §2.3.1 step 22
 */
export async function writePhases(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  base: BaseItems,
  input: Pick<NewSubscription, 'lineItemCommitments' | 'phases' | 'at'>,
): Promise<OutboundEvent[]> {
  const { at, phases = [] } = input;
  if (phases.length === 0) return [];
  const made = await writePhaseItems(sql, scope, row, base, { ...input, phases });
  const now = new Date().toISOString();
  const records = phases.map((phase, index) => ({
    id: phase.phaseId,
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    createdAt: now,
    createdBy: scope.actor,
    updatedAt: now,
    updatedBy: scope.actor,
    subscriptionId: row.id,
    startDate: phase.startDate,
    endDate: phase.endDate,
    startedAt: index === 0 ? phase.startDate : null,
    terms: made[index]!.terms,
    metadata: phase.metadata,
  }));
  await writeRows(sql, insertPhases, records);
  for (const [index, phase] of phases.entries()) {
    await linkSubscriptionCoupons(sql, scope, row, couponsOf(phase, made[index]!), at, phase.phaseId);
  }
  await writeAudit(
    sql,
    scope,
    records.map(({ id, subscriptionId, startDate, endDate }) => ({
      objectType: 'subscription_phase',
      objectId: id,
      action: 'created',
      occurredAt: at,
      detail: { subscription_id: subscriptionId, start_date: startDate, end_date: endDate },
    })),
  );
  return records.map(({ id, subscriptionId, startDate: start, endDate: end }) =>
    phaseEvent('created', { id, subscriptionId, start, end }, at),
  );
}

/** The coupons of a phase, for as long as it lasts and on the line items it has. */
function couponsOf(phase: NewPhase, { itemOfPrice }: PhaseItems): NewCouponLink[] {
  const term = { start: phase.startDate, end: phase.endDate };
  return phase.coupons.map((link) => {
    const { start, end } = phaseCouponTerm({ start: link.startDate, end: link.endDate }, term, link.field);
    const lineItemId = link.priceId === null ? null : (itemOfPrice.get(link.priceId) ?? null);
    return { ...link, startDate: start, endDate: end, lineItemId };
  });
}
