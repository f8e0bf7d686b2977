import { changesCommitment } from '../../../billing/commitment/commitment-change.ts';
import type { ChargeItem } from '../../../billing/line/charge.ts';
import { lineItemEnd, refuseUnchangeable, versionStart } from '../../../billing/subscription/line-item.ts';
import type { LineItemChange, LineItemEnding } from '../../../billing/subscription/subscription-change.ts';
import { later } from '../../../billing/time/calendar.ts';
import { Price } from '../../../db/entities/catalogue/price.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { termsOver } from '../../catalogue/price/own-price.ts';
import { auditPrice, insertPrice } from '../../catalogue/price/price.ts';
import { columnsOf } from '../../catalogue/price/price-change.ts';
import type { SomeTerms } from '../../catalogue/price/price-rules.ts';
import { findPriceUnit } from '../../catalogue/price/price-unit.ts';
import type { ChargedItem } from '../../charging/charged-item.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import type { AttendedSubscription } from '../../charging/subscription-snapshot.ts';
import { planProration, settleProration } from '../plan-change/proration.ts';
import { type ChangeOrder, carryOut, type Decided, nothingMade } from '../plan-change/subscription-change.ts';
import { commitNextVersion } from './line-item-commitment-change.ts';
import { chargedItemOf, copyLineItem, termOf, updateLineItemRow } from './line-item-row.ts';
import { endLineItemsAt } from './subscription-item.ts';

/**
 * Changes a line item: metadata in place; what decides its cost by a new version. Then the item ends where the new one begins,
 * with a price of the subscription's own, and what is paid in advance for the rest of the period is settled as the
 * subscription prorates. Throws `not_found`, `validation_error`. spec: subscriptions-and-invoicing §1.9
 */
export async function updateLineItem(
  tx: Transaction,
  order: ChangeOrder,
  input: LineItemChange,
): Promise<AttendedSubscription> {
  return carryOut(tx, tx.scope, order, input, async (before, at): Promise<Decided | null> => {
    const old = await chargedItemOf(tx, tx.scope.environmentId, before.id, input.lineItemId);
    const commits = input.commitment && changesCommitment(input.commitment, !!old.item.commitment);
    const supersedes = commits || Object.values(input.terms).some((value) => value !== undefined);
    if (supersedes) return supersede(tx, before, old, commits ? input : { ...input, commitment: null }, at);
    if (input.metadata === null) return null;
    await updateLineItemRow(tx, tx.scope, input.lineItemId, { metadata: input.metadata });
    return {
      ...nothingMade(),
      row: before,
      kind: 'line_item_updated',
      action: 'line item updated',
      effectiveAt: at,
      events: [],
      lineItems: [{ id: input.lineItemId, action: 'updated' }],
      detail: { line_item_id: input.lineItemId },
    };
  });
}

async function supersede(
  tx: Transaction,
  before: SubscriptionRow,
  old: ChargedItem,
  input: LineItemChange,
  at: string,
): Promise<Decided> {
  refuseUnchangeable(before, 'id');
  const { item } = old;
  const from = versionStart(termOf(item), input.effectiveFrom ?? at);
  const priceId = await ownPrice(tx, before, item.priceId, input.terms as SomeTerms, from);
  const own = input.metadata === null ? {} : { metadata: input.metadata };
  const next = { lineItemId: item.id, priceId };
  const committed = input.commitment ? await commitNextVersion(tx, tx.scope, before, next, input.commitment) : null;
  const columns = { start_date: from, price_id: priceId, ...own };
  const lineItemId = await copyLineItem(tx, tx.scope, item.id, columns, committed);
  const version = await chargedItemOf(tx, tx.scope.environmentId, before.id, lineItemId);
  const planned = await planProration(tx, tx.scope, {
    row: before,
    action: 'lateral',
    behavior: before.prorationBehavior,
    effectiveAt: later(from, before.currentPeriodStart),
    at,
    ended: [old],
    started: [version],
  });
  await endLineItemsAt(tx, tx.scope, [{ lineItemId: item.id, endDate: from }]);
  const settled = await settleProration(tx, tx.scope, planned);
  return {
    ...nothingMade(),
    row: settled.row,
    kind: 'line_item_updated',
    action: 'line item changed',
    effectiveAt: from,
    events: [],
    lineItems: [
      { id: item.id, action: 'ended' },
      { id: lineItemId, action: 'created' },
    ],
    invoiceIds: settled.invoiceId === null ? [] : [settled.invoiceId],
    returned: settled.returned,
    carried: settled.carried,
    detail: { line_item_id: lineItemId, replaces: item.id, ...(committed ? { commitment: committed } : {}) },
  };
}

/** A price of the subscription's own with some other terms; it stands in for the price it comes from. */
async function ownPrice(
  tx: Transaction,
  row: SubscriptionRow,
  priceId: string,
  sent: SomeTerms,
  from: string,
): Promise<string> {
  const price = await tx.em.findOne(Price, { id: priceId, environmentId: tx.scope.environmentId });
  if (!price) throw missing('price', priceId);
  const own = await insertPrice(tx, {
    ...columnsOf(price),
    ...(await termsOver(price, sent, (unitId) => findPriceUnit(tx, unitId))),
    entityType: 'SUBSCRIPTION',
    entityId: row.id,
    parentPriceId: price.parentPriceId ?? price.id,
    lookupKey: '',
    groupId: price.groupId,
    startDate: from,
    endDate: null,
  });
  await auditPrice(tx, own, 'created', { subscription_id: row.id });
  return own.id;
}

/**
 * Ends a line item; with `create_prorations` what it was paid in advance for the time after is given back. Throws
 * `not_found`, `validation_error`. spec: subscriptions-and-invoicing §1.9, §2.9.6
 */
export async function endLineItem(
  tx: Transaction,
  order: ChangeOrder,
  input: LineItemEnding,
): Promise<AttendedSubscription> {
  return carryOut(tx, tx.scope, order, input, async (before, at): Promise<Decided> => {
    refuseUnchangeable(before, 'id');
    const old = await chargedItemOf(tx, tx.scope.environmentId, before.id, input.lineItemId);
    const end = lineItemEnd(termOf(old.item), input.effectiveFrom ?? at);
    const planned = await planProration(tx, tx.scope, {
      row: before,
      action: 'remove_item',
      behavior: input.prorationBehavior ?? before.prorationBehavior,
      effectiveAt: later(end, before.currentPeriodStart),
      at,
      ended: [old],
      started: [],
    });
    await endLineItemsAt(tx, tx.scope, [{ lineItemId: old.item.id, endDate: end }]);
    const settled = await settleProration(tx, tx.scope, planned);
    return {
      ...nothingMade(),
      row: settled.row,
      kind: 'line_item_ended',
      action: 'line item ended',
      effectiveAt: end,
      events: [],
      lineItems: [{ id: old.item.id, action: 'ended' }],
      returned: settled.returned,
      carried: settled.carried,
      detail: { line_item_id: old.item.id, ...named(old.item) },
    };
  });
}

function named(item: ChargeItem): Record<string, string> {
  return { price_id: item.priceId };
}
