import { later, previousBoundary } from '../time/calendar.ts';
import { epochMs, instantText } from '../time/local-time.ts';
import type { ChargeItem, ChargePlanInput } from './charge-input.ts';
import type { Service } from './service.ts';

const serviceMs = 1000;
const walkBound = 10_000;

/**
 * A one-time charge: once, in full, when the item starts; never prorated. A pause only delays it: what starts while the
 * subscription is paused, or in the part of the period before it, whose closing invoice bills no one-time charge, is due with
 * the first period that ends after the resume. spec: subscriptions-and-invoicing §2.6.1, §2.11
 */
export function oneTimeServices(item: ChargeItem, input: ChargePlanInput): Service[] {
  if (item.endDate !== null && item.endDate <= item.startDate) return [];
  const start = item.startDate;
  const { elapsed, next, reason } = input;
  const due =
    reason === 'opening'
      ? next !== null && start <= next.start
      : elapsed !== null &&
        (start >= elapsed.start || wasDelayed(start, elapsed, input)) &&
        (start < elapsed.end || (start === elapsed.end && reason !== 'last' && reason !== 'running'));
  if (!due) return [];
  const service = { start, end: instantText(epochMs(start) + serviceMs) };
  return [{ ...service, window: service, proration: null }];
}

/** Whether an instant before a period lies in pauses that led to it, or in the pieces of periods that they closed. */
function wasDelayed(
  start: string,
  elapsed: NonNullable<ChargePlanInput['elapsed']>,
  { subscription, paused = [] }: ChargePlanInput,
): boolean {
  const { startDate, trialEnd, ...cadence } = subscription;
  // The first invoice billed what was there when billing began.
  if (startDate === undefined || start <= later(startDate, trialEnd ?? startDate)) return false;
  let since = elapsed.start;
  let boundary = elapsed.full.start;
  for (let step = 0; step < walkBound; step += 1) {
    const pause = paused.find((stretch) => stretch.end === since && stretch.start < since);
    if (!pause) return false;
    if (start >= pause.start) return true;
    while (boundary > pause.start) boundary = previousBoundary({ ...cadence, anchor: cadence.billingAnchor, boundary });
    const resumed = paused.map(({ end }) => end).filter((end) => end <= pause.start);
    since = resumed.reduce(later, boundary);
    // What starts at a boundary is on the invoice of that boundary.
    if (start > since || (start === since && since !== boundary)) return true;
  }
  return false;
}
