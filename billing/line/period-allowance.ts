import { type Allowance, allowanceOf } from '../allowance/allowance.ts';
import { aggregateEntitlement, type EntitlementPart, partsInForce } from '../allowance/entitlement.ts';
import { type MeterGrants, meterGrants, type TenuredGrants } from '../allowance/grant.ts';
import { isOfBillingPeriod } from '../allowance/period-limit.ts';
import type { LimitPortion } from '../allowance/shared-limit.ts';
import type { BillingPeriod, BillingPeriodInterval } from '../time/calendar.ts';
import { epochMs, instantText } from '../time/local-time.ts';
import { wholeAdvancePeriodAt, wholePeriodAt } from '../time/whole-period.ts';
import type { ProrationBehavior } from './proration.ts';

/** The members of a subscription that decide where its periods lie. */
export interface LimitTimeline {
  startDate: string;
  trialEnd: string | null;
  billingAnchor: string;
  billingPeriod: BillingPeriod;
  billingPeriodCount: number;
  billingCycle: 'anniversary' | 'calendar';
  timezone: string;
  prorationBehavior: ProrationBehavior;
}

/** A part with the meter of its feature, and with its subscription's periods where limits of parts of them are to be told. */
export interface MeteredPart extends EntitlementPart {
  meterId: string | null;
  timeline?: LimitTimeline | null;
}

/** What is included of the usage of meters in a period, by meter id; a meter is in one of them at most. */
export interface PeriodTerms {
  allowances: Record<string, Allowance>;
  grants: Record<string, MeterGrants>;
}

/**
 * The allowance or the budgets of each meter for a period that ends at `end`, from the parts of one subscription, oldest first:
 * those in force in the period's last millisecond, which is what the usage summary showed last, and beside them what plans
 * gave that the subscription had earlier in the period. Budgets take the place of the limit; a meter whose parts are all
 * disabled has neither. spec: catalogue-and-metering §8.3, §8.4, §9.3, §14 Entitlement archived in mid-period;
 * subscriptions-and-invoicing §2.3.6
 */
export function periodTerms(parts: readonly MeteredPart[], end: string): PeriodTerms {
  const at = instantText(epochMs(end) - 1);
  const terms: PeriodTerms = { allowances: {}, grants: {} };
  for (const [meterId, own] of Map.groupBy(parts, (part) => part.meterId)) {
    if (meterId === null) continue;
    const held = heldParts(own, at);
    const grants = grantsOver(held);
    if (grants) {
      terms.grants[meterId] = grants;
      continue;
    }
    const allowance = allowanceOver(held, at);
    if (allowance) terms.allowances[meterId] = allowance;
  }
  return terms;
}

/** Parts by who gave them. */
export interface HeldParts<Part> {
  /** In force at the instant; where nothing is, what the last plan of the running period gave that gave something. */
  standing: Part[];
  /** Of plans that the subscription has left, the last one first. */
  former: Part[][];
}

/** The parts of one feature that are in force at an instant, and those of plans that were left before it. */
export function heldParts<Part extends MeteredPart>(parts: readonly Part[], at: string): HeldParts<Part> {
  const ends = new Set(parts.flatMap(({ tenure }) => (tenure?.end && tenure.end <= at ? [tenure.end] : [])));
  const former = [...ends]
    .sort()
    .reverse()
    .map((end) => {
      const before = instantText(epochMs(end) - 1);
      return partsInForce(parts, before).filter(({ tenure, isEnabled }) => isEnabled && tenure?.end === end);
    });
  const inForce = partsInForce(parts, at);
  const given = former.filter((own) => own.length > 0);
  if (inForce.some(({ isEnabled }) => isEnabled)) return { standing: inForce, former: given };
  const [last = [], ...rest] = given;
  const [part] = last;
  const isRecent = part?.timeline && part.tenure?.end && part.tenure.end > limitPeriodAt(part.timeline, at).start;
  return isRecent ? { standing: last, former: rest } : { standing: inForce, former: [] };
}

/**
 * The running period at an instant, not cut by anything, and what a whole limit is for: in a trial the trial, of a first
 * calendar period with prorations the whole calendar period. spec: subscriptions-and-invoicing §2.2.4, §2.3.6, §2.10
 */
export function limitPeriodAt(timeline: LimitTimeline, instant: string): BillingPeriodInterval {
  const { startDate, trialEnd } = timeline;
  if (trialEnd !== null && instant < trialEnd && startDate < trialEnd) {
    const trial = { start: startDate, end: trialEnd };
    return { ...trial, full: trial };
  }
  return { ...wholePeriodAt(timeline, instant), full: wholeAdvancePeriodAt(timeline, instant) };
}

/**
 * Terms that hold for whole periods, as they are for the period of a subscription that holds an instant: of a first calendar
 * period limits are its share. spec: subscriptions-and-invoicing §2.3.6
 */
export function termsOfPeriod(terms: PeriodTerms, timeline: LimitTimeline, instant: string): PeriodTerms {
  const period = limitPeriodAt(timeline, instant);
  if (period.full.start === period.start) return terms;
  const shared = Object.entries(terms.allowances).map(([meterId, allowance]) => {
    const portions = [{ limit: allowance.usageLimit, start: null, end: null }];
    return [meterId, { ...allowance, shared: { portions, period } }];
  });
  return { ...terms, allowances: Object.fromEntries(shared) };
}

/**
 * The addends of a limit, each of an enabled part, in the order of time. What an earlier plan gave counts for its time where it begins anew with the same rhythm; where the
 * rhythm is another one, or budgets took the limit's place, the later plan's alone stands for the whole period.
 */
export function limitPortions<Part extends MeteredPart>(
  { standing, former }: HeldParts<Part>,
  reset: Allowance['usageResetPeriod'],
  timeline: LimitTimeline,
): { part: Part; portion: LimitPortion }[] {
  const sameRhythm = ({ usageResetPeriod, grant }: MeteredPart): boolean => {
    const own = usageResetPeriod as Allowance['usageResetPeriod'];
    return !grant && (own === reset || (isOfBillingPeriod(own, timeline) && isOfBillingPeriod(reset, timeline)));
  };
  const other = former.findIndex((own) => !own.every(sameRhythm));
  const kept = other < 0 ? former : former.slice(0, other);
  // Where a plan was left out, the one after it stands for its time too.
  const since = other < 0 ? null : (kept.at(-1) ?? standing).find(({ tenure }) => tenure)?.tenure?.start;
  return [...kept.toReversed().flat(), ...standing]
    .filter(({ isEnabled }) => isEnabled)
    .map((part) => {
      const { start = null, end = null } = part.tenure ?? {};
      return { part, portion: { limit: part.usageLimit, start: start === since ? null : start, end } };
    });
}

function allowanceOver(held: HeldParts<MeteredPart>, at: string): Allowance | null {
  const { standing } = held;
  const { isEnabled, usageLimit, usageResetPeriod } = aggregateEntitlement('metered', standing);
  const reset = usageResetPeriod as Allowance['usageResetPeriod'];
  const allowance = allowanceOf({ isEnabled, usageLimit, usageResetPeriod: reset });
  const timeline = standing[0]?.timeline;
  if (!allowance || !timeline) return allowance;
  const portions = limitPortions(held, reset, timeline).map(({ portion }) => portion);
  return { ...allowance, shared: { portions, period: limitPeriodAt(timeline, at) } };
}

/** The budgets of a period: each plan's for its own time, while they are of one kind; else the last plan's for all of it. */
export function grantsOver({ standing, former }: HeldParts<MeteredPart>): MeterGrants | null {
  const grants = meterGrants(standing);
  if (!grants) return null;
  const tenures: TenuredGrants[] = [];
  let later = standing;
  for (const own of former) {
    const before = meterGrants(own);
    if (before?.mode !== grants.mode || before.measure !== grants.measure) break;
    tenures.unshift({ ...before, start: null, end: startOf(later) });
    later = own;
  }
  for (const [index, tenure] of tenures.entries()) tenure.start = tenures[index - 1]?.end ?? null;
  const own = tenures.at(-1)?.end ?? null;
  const end = standing.every(({ tenure }) => tenure?.end) ? (standing[0]?.tenure?.end ?? null) : null;
  if (own === null && end === null) return grants;
  return { ...grants, tenures: [...tenures, { ...grants, start: own, end }] };
}

function startOf(parts: readonly MeteredPart[]): string | null {
  return parts.find(({ tenure }) => tenure)?.tenure?.start ?? null;
}
