import type { ChargeItem } from '../../billing/line/charge.ts';
import type { ProrationAction } from '../../billing/line/proration.ts';
import { decimal, greatest, sum, zero } from '../../billing/money/money.ts';
import { type ProratedChange, prorateChange } from '../../billing/subscription/proration-change.ts';
import { runningPeriodOf } from '../../services/charging/subscription-period.ts';
import type { Kept, ProductLife } from './product.ts';
import { minor } from './product-line.ts';

export type Behavior = 'create_prorations' | 'none';

/** Whether an item has not ended by then. */
export const isActiveAt = ({ endDate }: ChargeItem, at: string): boolean => endDate === null || endDate > at;

/** services/subscription/plan-change/unused-charge.ts: the times of which a pause gave something back. */
export function creditedBy(life: ProductLife, cause: string) {
  const byItem = Map.groupBy(
    life.credited.filter((credit) => credit.cause === cause),
    ({ item }) => item,
  );
  return [...byItem].flatMap(([lineItemId, credits]) => {
    const start = credits.map((credit) => credit.start).sort()[0] as string;
    const end = credits
      .map((credit) => credit.end)
      .sort()
      .at(-1) as string;
    return sum(credits.map(({ amount }) => amount)).isZero() ? [] : [{ lineItemId, start, end }];
  });
}

/** services/subscription/plan-change/unused-charge.ts */
export function creditUnused(
  life: ProductLife,
  action: 'pause' | 'cancellation',
  behavior: Behavior,
  from: string,
  at: number,
): void {
  const paused = life.row.status === 'paused' ? creditedBy(life, `pause ${life.pauseStart}`) : [];
  const given = new Set(paused.filter(({ end }) => end > from).map(({ lineItemId }) => lineItemId));
  const ended = life.items.map(({ item }) => item).filter((item) => !given.has(item.id) && isActiveAt(item, from));
  const change = prorated(life, action, behavior, from, ended, []);
  settle(life, change, behavior, from, action === 'pause' ? `pause ${from}` : action, at);
}

/** services/subscription/plan-change/proration.ts: what rows say of earlier charges and credits. */
export function prorated(
  life: ProductLife,
  action: ProrationAction,
  behavior: Behavior,
  at: string,
  ended: readonly ChargeItem[],
  started: readonly ChargeItem[],
): ProratedChange {
  const later = (kept: readonly Kept[], item: string | null = null) =>
    sum(kept.filter((one) => one.end > at && (item === null || one.item === item)).map(({ amount }) => amount));
  const trial = life.row.status === 'trialing';
  const billedOf = (item: string) =>
    later(
      life.charged.filter(({ amount }) => amount.isPositive()),
      item,
    ).plus(later(life.netted, item));
  return prorateChange({
    action,
    behavior,
    subscription: life.row,
    period: runningPeriodOf(life.row),
    effectiveAt: at,
    ended: trial
      ? []
      : ended.map((item) => ({
          item,
          billed: billedOf(item.id).toFixed(),
          credited: later(life.credited, item.id).toFixed(),
        })),
    started: trial ? [] : started,
    room: greatest(later(life.charged).minus(later(life.returned)), zero).toFixed(),
  });
}

/** services/subscription/plan-change/proration.ts */
export function settle(
  life: ProductLife,
  change: ProratedChange,
  behavior: Behavior,
  from: string,
  cause: 'change' | 'cancellation' | `pause ${string}` = 'change',
  at = Date.parse(from),
): void {
  if (behavior === 'none' || change.lines.length === 0) return;
  if (change.settlement === 'invoice') {
    const { currentPeriodEnd: end } = life.row;
    life.invoice('SUBSCRIPTION_UPDATE', { start: from, end }, change.lines, 'ONE_OFF');
    life.record(change, cause);
    return;
  }
  life.record(change, cause);
  const returned = change.settlement === 'wallet_credit' ? change.returned : '0';
  life.returned.push(...returnedTimes(change, returned));
  if (decimal(returned).isZero()) return;
  if (cause === 'change' && life.carried.isDestination(from)) life.carried.give(returned);
  else life.result.returned.push({ at, amount: minor(returned) });
}

/** services/charging/proration-charged.ts: what a settlement without an invoice took and gave, by when the time of it is over. */
function returnedTimes(change: ProratedChange, returned: string): Kept[] {
  const times = change.lines.flatMap(({ side, times: of }) => of.map(({ end, amount }) => ({ side, end, amount })));
  const of = (side: string) => sum(times.filter((time) => time.side === side).map(({ amount }) => decimal(amount)));
  const [credits, given] = [of('credit'), decimal(returned).plus(of('charge'))];
  return times.map(({ side, end, amount }) => ({
    item: '',
    end,
    amount:
      side === 'charge'
        ? decimal(amount).negated()
        : credits.isZero()
          ? credits
          : decimal(amount).times(given).div(credits),
  }));
}
