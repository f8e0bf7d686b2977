import { type Allowance, resetWindows } from '../allowance/allowance.ts';
import { aggregateEntitlement, partsInForce } from '../allowance/entitlement.ts';
import { limitPeriodOf, limitShares } from '../allowance/period-limit.ts';
import { epochMs, instantText } from '../time/local-time.ts';
import { heldParts, type LimitTimeline, limitPeriodAt, limitPortions, type MeteredPart } from './period-allowance.ts';

/**
 * The metered parts of one feature as they count at an instant, for any number of subscriptions: each limit is what it gives to
 * the running period or reset window, so that their sum is what is billed by, and plans that were left in it stand beside the
 * one that is. spec: catalogue-and-metering §8.3; subscriptions-and-invoicing §2.3.6
 */
export function shownParts<Part extends MeteredPart>(parts: readonly Part[], at: string): Part[] {
  if (parts.every(({ timeline }) => !timeline)) return partsInForce(parts, at);
  const bySubscription = Map.groupBy(parts, ({ subscriptionId }) => subscriptionId);
  const shown = [...bySubscription.values()].flatMap((own) => {
    const timeline = own[0]?.timeline;
    return timeline ? sharedParts(own, timeline, at) : partsInForce(own, at);
  });
  return [
    ...shown.filter(({ entityType }) => entityType === 'PLAN'),
    ...shown.filter(({ entityType }) => entityType !== 'PLAN'),
  ];
}

function sharedParts<Part extends MeteredPart>(parts: readonly Part[], timeline: LimitTimeline, at: string): Part[] {
  const held = heldParts(parts, at);
  const { standing } = held;
  const reset = aggregateEntitlement('metered', standing).usageResetPeriod as Allowance['usageResetPeriod'];
  const running = limitPeriodAt(timeline, at);
  const [window = running] = resetWindows({
    allowance: { usageLimit: null, usageResetPeriod: reset },
    cadence: timeline,
    chargeWindow: running,
    firstStart: timeline.startDate,
    from: at,
    to: instantText(epochMs(at) + 1),
  });
  const charge = { period: running, relation: 'equal' as const, cadence: timeline };
  const period = limitPeriodOf(window, { usageResetPeriod: reset }, charge);
  if (period === null || standing.some(({ grant }) => grant)) return standing;
  const counted = limitPortions(held, reset, timeline).flatMap(({ part, portion }) => {
    const [share] = limitShares([portion], period);
    return share ? [{ ...part, usageLimit: share.share }] : [];
  });
  return [...counted, ...standing.filter(({ isEnabled }) => !isEnabled)];
}
