import { decimal } from '../money/money.ts';

/** A line item as an order found it when it was opened: the order changes this item and no other. */
export interface FoundItem {
  quantity: string;
  priceId: string;
  startDate: string;
  endDate: string | null;
}

/** A change of a subscription that waits for its checkout session to be paid; everything it makes is written down already. */
export type PlannedChange =
  | {
      kind: 'addon';
      /** Start of the period it was opened in. */
      periodStart: string;
      associationId: string;
      addonId: string;
      behavior: 'create_prorations' | 'none';
    }
  | {
      kind: 'quantity';
      periodStart: string;
      effectiveAt: string;
      items: { lineItemId: string; copyId: string; quantity: string; found: FoundItem }[];
    };

/** Parts of a subscription that a command changes; `all` is the subscription as a whole, as a cancellation or a pause. */
export type TouchedParts = 'all' | 'nothing' | { lineItemIds?: readonly string[]; addonIds?: readonly string[] };

/** True for a command that would make a planned change impossible or do it a second time. design: money-in-checkout §A10 */
export function conflictsWith(plan: PlannedChange, touched: TouchedParts): boolean {
  if (touched === 'all' || touched === 'nothing') return touched === 'all';
  if (plan.kind === 'addon') return touched.addonIds?.includes(plan.addonId) ?? false;
  return plan.items.some(({ lineItemId }) => touched.lineItemIds?.includes(lineItemId) ?? false);
}

/**
 * True when a planned change can no longer be carried out as it was shown: the subscription is not active any more, its period is
 * another one, or an item that the change is about is not as it was found. Anything else that changed meanwhile does not matter.
 * design: money-in-checkout §A10
 */
export function isOvertaken(
  plan: PlannedChange,
  present: { status: string; periodStart: string; items: ReadonlyMap<string, FoundItem> },
): boolean {
  if (present.status !== 'active' || present.periodStart !== plan.periodStart) return true;
  if (plan.kind === 'addon') return false;
  return plan.items.some(({ lineItemId, found }) => !isSame(found, present.items.get(lineItemId)));
}

function isSame(found: FoundItem, now: FoundItem | undefined): boolean {
  return (
    now !== undefined &&
    decimal(found.quantity).equals(now.quantity) &&
    found.priceId === now.priceId &&
    found.startDate === now.startDate &&
    found.endDate === now.endDate
  );
}
