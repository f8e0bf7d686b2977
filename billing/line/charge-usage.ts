import { type Allowance, resetWindows } from '../allowance/allowance.ts';
import { limitOfShares, limitPeriodOf, limitShares } from '../allowance/period-limit.ts';
import type { Bucketing } from '../price/derivation.ts';
import { cadenceRelation } from '../time/cadence.ts';
import { earlier, type Interval, later } from '../time/calendar.ts';
import { foldingOf, grantCycles, grantsOfLine } from './charge-grant.ts';
import type { ChargeItem, ChargePlanInput, PlannedUsage, PlannedWindow, UsageQuestion } from './charge-input.ts';
import type { Service } from './service.ts';

/** Adds a question and gives its key; an empty time needs no question. */
type Ask = (item: ChargeItem, from: string, to: string) => string[];

/**
 * Which usage decides the quantity of one charge period: the meter's value over the service time (for a running meter since
 * the item began), and, with a limited allowance, its value per reset window before and until the end of that time, of this
 * line and of the lines ahead of it on the same meter. spec: catalogue-and-metering §7.1 reset_usage, §8.4
 */
export function planUsage(
  item: ChargeItem,
  service: Service,
  input: ChargePlanInput,
  questions: Map<string, UsageQuestion>,
): PlannedUsage {
  const ask = askInto(questions);
  const to = later(earlier(input.usageUntil ?? service.end, service.end), service.start);
  const granted = planGranted(item, service, to, input, questions);
  if (granted) return granted;
  const running = item.resetUsage === 'NEVER';
  const from = running ? item.startDate : service.start;
  const main = to > service.start ? ask(item, from, to) : [];
  const allowance = (item.meterId && input.allowances[item.meterId]) || null;
  const limited = allowance !== null && (allowance.usageLimit !== null || !!allowance.shared) && main.length > 0;
  const planned = {
    meterId: item.meterId ?? '',
    from,
    to,
    main: main[0] ?? null,
    bucketing: bucketingOf(item, input),
    allowance,
    grants: null,
  };
  if (!limited) return { ...planned, windows: [] };
  const ahead = linesAhead(item, input);
  if (running) {
    const aheadTotal = ahead.flatMap((line) => ask(line, line.startDate, ending(line, to)));
    const window = { start: from, end: to, ...windowLimit(allowance, service.window, item, service, input) };
    return { ...planned, windows: [{ ...window, before: [], total: main, aheadBefore: [], aheadTotal }] };
  }
  const firstStart = ahead[0]?.startDate ?? item.startDate;
  const { subscription } = input;
  const windows = resetWindows({
    allowance,
    cadence: subscription,
    chargeWindow: service.window,
    firstStart,
    from,
    to,
  });
  return {
    ...planned,
    windows: windows.map((window) => ({
      ...planWindow(window, item, ahead, { start: from, end: to }, ask),
      ...windowLimit(allowance, window, item, service, input),
    })),
  };
}

/** What is included in a window, where it is not the allowance's limit. spec: subscriptions-and-invoicing §2.3.6 */
function windowLimit(
  allowance: Allowance,
  window: Interval,
  item: ChargeItem,
  service: Service,
  { subscription }: ChargePlanInput,
): Pick<PlannedWindow, 'limit' | 'shares'> {
  if (!allowance.shared) return {};
  const { portions, period: running } = allowance.shared;
  const relation = cadenceRelation(item, subscription);
  const uncut = window === service.window ? (service.uncut ?? window) : window;
  const period = limitPeriodOf(uncut, allowance, { period: running, relation, cadence: subscription });
  if (period === null) return {};
  const shares = limitShares(portions, period);
  const isWhole = shares.every(
    ({ start, end, limit, share }) => start === period.start && end === period.end && share === limit,
  );
  return isWhole && shares.length > 0 ? {} : { limit: limitOfShares(shares), shares };
}

/** With budgets: every event of the billing periods that they belong to, which tells the line's own usage too. spec: §9 */
function planGranted(
  item: ChargeItem,
  service: Service,
  to: string,
  input: ChargePlanInput,
  questions: Map<string, UsageQuestion>,
): PlannedUsage | null {
  const grants = grantsOfLine(item, input);
  if (!grants) return null;
  const cycles = grantCycles(service, input);
  const meterId = item.meterId ?? '';
  const from = cycles[0]?.start ?? service.start;
  const ofLine = { grants, cycles, timezone: input.subscription.timezone };
  const folding = foldingOf(ofLine, { start: service.start, end: to }, item.price);
  const planned = {
    meterId,
    from: service.start,
    to,
    bucketing: null,
    allowance: null,
    windows: [],
    grants: { ...ofLine, folding },
  };
  if (to <= service.start) return { ...planned, main: null };
  const key = `${item.id}|${from}|${to}|events`;
  const { id: lineItemId, priceId } = item;
  questions.set(key, { key, lineItemId, priceId, meterId, from, to, bucketSize: null, eachEvent: folding });
  return { ...planned, main: key };
}

function bucketingOf(item: ChargeItem, { subscription }: ChargePlanInput): Bucketing | null {
  if (item.bucketSize === null) return null;
  const { timezone, billingAnchor } = subscription;
  return { size: item.bucketSize, timezone, billingAnchor };
}

function planWindow(
  window: Interval,
  item: ChargeItem,
  ahead: ChargeItem[],
  charged: Interval,
  ask: Ask,
): PlannedWindow {
  const starts = later(window.start, charged.start);
  const ends = earlier(window.end, charged.end);
  const opened = (line: ChargeItem): string => later(window.start, line.startDate);
  return {
    ...window,
    before: ask(item, opened(item), starts),
    total: item.bucketSize === null ? ask(item, opened(item), ends) : [],
    aheadBefore: ahead.flatMap((line) => ask(line, opened(line), ending(line, starts))),
    aheadTotal: ahead.flatMap((line) => ask(line, opened(line), ending(line, ends))),
  };
}

/** The lines that use the meter's allowance before this one: by start, then id. spec: catalogue-and-metering §8.4 */
function linesAhead(item: ChargeItem, input: ChargePlanInput): ChargeItem[] {
  return input.items
    .filter((other) => other.priceType === 'USAGE' && other.meterId === item.meterId)
    .filter((other) => other.startDate < item.startDate || (other.startDate === item.startDate && other.id < item.id))
    .sort((a, b) => (a.startDate + a.id < b.startDate + b.id ? -1 : 1));
}

function askInto(questions: Map<string, UsageQuestion>): Ask {
  return (item, from, to) => {
    if (from >= to) return [];
    const { id, priceId, bucketSize } = item;
    const key = `${id}|${from}|${to}`;
    questions.set(key, { key, lineItemId: id, priceId, meterId: item.meterId ?? '', from, to, bucketSize });
    return [key];
  };
}

function ending(item: ChargeItem, instant: string): string {
  return item.endDate === null ? instant : earlier(item.endDate, instant);
}
