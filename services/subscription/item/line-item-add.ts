import { defaultQuantity } from '../../../billing/price/price.ts';
import { lineItemTerm, refuseCadence, refuseUnchangeable } from '../../../billing/subscription/line-item.ts';
import { phaseItemTerm } from '../../../billing/subscription/phase.ts';
import type { NewLineItem } from '../../../billing/subscription/subscription-change.ts';
import { cadenceRelation } from '../../../billing/time/cadence.ts';
import { later } from '../../../billing/time/calendar.ts';
import { Price } from '../../../db/entities/catalogue/price.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { createPrice } from '../../catalogue/price/price.ts';
import type { NewPrice } from '../../catalogue/price/price-rules.ts';
import { phaseOf } from '../../charging/subscription-phase.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import type { AttendedSubscription } from '../../charging/subscription-snapshot.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { type ChangeOrder, carryOut, type Decided, nothingMade } from '../plan-change/subscription-change.ts';
import { billAddition } from '../plan-change/subscription-settlement.ts';
import { refuseBothLevels } from './line-item-commitment.ts';
import { withCommitments } from './new-line-items.ts';
import { insertLineItems, lineItemOf, type PlanPrice } from './subscription-item.ts';

/**
 * Adds a line item to a subscription. What it charges in advance for the rest of the period is billed at once with
 * `create_prorations`, else from the next boundary on; arrears and usage are never billed at once. Throws `not_found`,
 * `validation_error`. spec: subscriptions-and-invoicing §1.9, §2.9.6
 */
export async function addLineItem(
  tx: Transaction,
  order: ChangeOrder,
  input: NewLineItem,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  return carryOut(tx, tx.scope, order, input, async (before, at): Promise<Decided> => {
    refuseUnchangeable(before);
    const price = await attachedPrice(tx, before, input, at);
    const wanted = await wantedTerm(tx, before, input, at);
    const term = lineItemTerm(before, { ...wanted, isOneTime: price.billingPeriod === 'ONETIME' });
    const item = await committed(tx, before, newItem(tx, before, price, input, term), input);
    await insertLineItems(tx, [item]);
    // Opening and trial-end invoices charge what is there when they are made.
    const billed =
      before.status === 'active'
        ? await billAddition(
            tx,
            tx.scope,
            {
              row: before,
              items: [{ id: item.id, price }],
              from: later(term.start, before.currentPeriodStart),
              at,
              behavior: input.prorationBehavior ?? before.prorationBehavior,
              changeKey: `add_item ${order.changeId}`,
            },
            readUsage,
          )
        : { row: before, invoiceId: null };
    return {
      ...nothingMade(),
      row: billed.row,
      kind: 'line_item_added',
      action: 'line item added',
      effectiveAt: term.start,
      events: [],
      lineItems: [{ id: item.id, action: 'created' }],
      invoiceIds: billed.invoiceId === null ? [] : [billed.invoiceId],
      detail: { line_item_id: item.id, price_id: price.id },
    };
  });
}

/** When the item is to be in force: as long as it says, and within its phase where it belongs to one. */
async function wantedTerm(tx: Transaction, row: SubscriptionRow, input: NewLineItem, at: string) {
  const wanted = { start: input.startDate, end: input.endDate };
  if (!input.phaseId) return { start: wanted.start ?? at, end: wanted.end };
  return phaseItemTerm(wanted, await phaseOf(tx, tx.scope.environmentId, row.id, input.phaseId), at);
}

function newItem(tx: Transaction, row: SubscriptionRow, price: OwnedPrice, input: NewLineItem, term: Term) {
  const ofPlan = price.owner.type === 'PLAN' && price.owner.id === row.planId;
  const owner = {
    entityType: ofPlan ? ('plan' as const) : ('subscription' as const),
    entityId: ofPlan ? row.planId : row.id,
    name: '',
    ...term,
    attachment: null,
  };
  const item = lineItemOf(tx.scope, row, price, owner);
  if (price.type === 'USAGE' && input.quantity !== null && input.quantity !== '0') {
    throw badField('quantity', 'must be left out or 0 for a usage price, whose quantity is metered');
  }
  return {
    ...item,
    quantity: defaultQuantity(price.type, price.minQuantity, input.quantity),
    displayName: input.displayName || item.displayName,
    metadata: input.metadata,
    subscriptionPhaseId: input.phaseId ?? null,
  };
}

/** The item with what it is committed to. spec: subscriptions-and-invoicing §2.7.3 */
async function committed<Item extends { id: string }>(
  tx: Transaction,
  row: SubscriptionRow,
  item: Item,
  { commitment = null }: NewLineItem,
): Promise<Item> {
  if (commitment === null) return item;
  const wanted = { item: item as Item & Record<string, unknown>, commitment, field: 'line_item' };
  refuseBothLevels(row, [wanted]);
  const [made] = await withCommitments(tx, tx.scope, row, [wanted]);
  return made as unknown as Item;
}

interface Term {
  start: string;
  end: string | null;
}

/** A new price as it was sent: without a currency it has the subscription's. */
type SubscriptionPrice = Omit<NewPrice, 'currency'> & Partial<Pick<NewPrice, 'currency'>>;
type OwnedPrice = PlanPrice & { owner: { type: string; id: string } };

/** The price of the new item: one of the environment that fits the subscription, or a new one of the subscription's own. */
async function attachedPrice(
  tx: Transaction,
  row: SubscriptionRow,
  input: NewLineItem,
  at: string,
): Promise<OwnedPrice> {
  const start = input.startDate ?? at;
  const sent = input.price as unknown as SubscriptionPrice | null;
  const brought = sent && { ...sent, currency: sent.currency ?? row.currency };
  if (brought) refuseForeignCurrency(brought.currency, row, 'price.currency');
  const price = brought
    ? await createPrice(
        tx,
        { ...brought, entityType: 'SUBSCRIPTION', entityId: row.id, startDate: brought.startDate ?? start },
        'price.',
      )
    : await sharedPrice(tx, row, input.priceId ?? '', start);
  const field = brought ? 'price' : 'price_id';
  refuseForeignCurrency(price.currency, row, field);
  const cadence = {
    billingPeriod: price.billingPeriod as PlanPrice['billingPeriod'],
    billingPeriodCount: price.billingPeriodCount,
  };
  refuseCadence(cadence, row, field);
  if (cadenceRelation(cadence, row) === 'onetime' && price.invoiceCadence !== 'ADVANCE') {
    throw badField(field, 'names a one-time charge in arrear; one-time charges are paid in advance');
  }
  return { ...planPriceOf(price), meterName: await meterName(tx, price.meterId ?? null) };
}

function refuseForeignCurrency(currency: string, row: SubscriptionRow, field: string): void {
  if (currency === row.currency) return;
  throw badField(field, `is in ${currency}; the subscription is in ${row.currency}`);
}

async function sharedPrice(tx: Transaction, row: SubscriptionRow, id: string, at: string): Promise<Price> {
  const price = await tx.em.findOne(Price, { id, environmentId: tx.scope.environmentId });
  const foreign = price?.entityType === 'SUBSCRIPTION' && price.entityId !== row.id;
  if (!price || foreign || price.entityType === 'COSTSHEET') throw missing('price', id, 'price_id');
  if (price.status !== 'published') throw badField('price_id', `names price ${id}, which is ${price.status}`);
  if (price.endDate && price.endDate <= at) {
    throw badField('price_id', `names price ${id}, which ended at ${price.endDate}; name one that is in force`);
  }
  return price;
}

async function meterName(tx: Transaction, meterId: string | null): Promise<string | null> {
  if (meterId === null) return null;
  const [meter] = await tx.rows<{ name: string }>('select name from meter where environment_id = $1 and id = $2', [
    tx.scope.environmentId,
    meterId,
  ]);
  return meter?.name ?? null;
}

function planPriceOf(price: Price): OwnedPrice {
  return {
    id: price.id,
    parentPriceId: price.parentPriceId ?? null,
    type: price.type as PlanPrice['type'],
    billingPeriod: price.billingPeriod as PlanPrice['billingPeriod'],
    billingPeriodCount: price.billingPeriodCount,
    invoiceCadence: price.invoiceCadence as PlanPrice['invoiceCadence'],
    currency: price.currency,
    meterId: price.meterId ?? null,
    meterName: null,
    minQuantity: price.minQuantity ?? null,
    trialPeriodDays: price.trialPeriodDays,
    displayName: price.displayName,
    startDate: instantText(price.startDate),
    endDate: price.endDate ? instantText(price.endDate) : null,
    sequence: price.sequence,
    owner: { type: price.entityType, id: price.entityId },
  };
}
