import type { DerivedProration, ProrationReason } from '../price/derivation.ts';
import { refuse } from '../refusal.ts';
import { cadenceRelation } from '../time/cadence.ts';
import {
  type BillingPeriod,
  type Cadence,
  earlier,
  type Interval,
  later,
  millisecondsBetween,
  nextBoundary,
  previousBoundary,
} from '../time/calendar.ts';
import { wholeAdvancePeriodAt } from '../time/whole-period.ts';
import type { ChargeItem, ChargePeriod, ChargePlanInput, ChargeReason } from './charge-input.ts';
import { oneTimeServices } from './one-time.ts';
import { chargesAtResume, type ResumableCharge, wasGivenBack } from './resume-charge.ts';
import type { Service } from './service.ts';

type Billed = 'advance' | 'arrear' | 'onetime';

/** spec: subscriptions-and-invoicing §2.6.1; USAGE is billed wherever arrears are. */
const billedBy: Record<ChargeReason, readonly Billed[]> = {
  opening: ['advance', 'onetime'],
  cycle: ['advance', 'arrear', 'onetime'],
  preview: ['advance', 'arrear', 'onetime'],
  last: ['arrear', 'onetime'],
  closing: ['arrear'],
  // The rest of each item's charge period, without its one-time charges. spec: §2.11
  resume: ['advance'],
  threshold: ['arrear'],
  running: ['advance', 'arrear', 'onetime'],
};

const walkBound = 10_000;

/**
 * The service periods an item adds to an invoice, without those a live invoice line already charges.
 * spec: subscriptions-and-invoicing §2.6.1, §2.6.2, §2.6.3
 */
export function servicesOf(item: ChargeItem, input: ChargePlanInput): Service[] {
  const relation = cadenceRelation(item, input.subscription);
  const advance = item.priceType === 'FIXED' && item.invoiceCadence === 'ADVANCE';
  const billed: Billed = relation === 'onetime' ? 'onetime' : advance ? 'advance' : 'arrear';
  if (!billedBy[input.reason].includes(billed)) return [];
  // An intermediate invoice bills usage alone.
  if (input.reason === 'threshold' && item.priceType !== 'USAGE') return [];
  const taken = input.billed.filter((line) => line.subscriptionLineItemId === item.id);
  const free = (service: Interval): boolean =>
    taken.every((line) => line.periodEnd <= service.start || line.periodStart >= service.end);
  if (billed === 'onetime') return oneTimeServices(item, input).filter(free);
  const period = advance ? input.next && asItBegins(item, input.next, input) : input.elapsed;
  if (!period || period.start >= period.end) return [];
  if (advance && relation !== 'longer' && waitsForBoundary(item, period)) return [];
  const services =
    relation === 'shorter'
      ? windowServices(item, period, input)
      : relation === 'longer'
        ? (advance ? ownAdvanceServices : ownArrearServices)(item, period, input)
        : periodServices(item, advance ? period : withFirstWhole(item, period, input));
  const { resume } = input;
  if (!resume) return services.filter(free);
  return services.filter((service) => {
    const charge = resumable(item, service, relation === 'longer');
    // A longer period that began while the subscription was paused may have been paid for before the pause.
    return chargesAtResume(resume, charge) && (free(service) || wasGivenBack(resume, charge));
  });
}

/** The whole charge period behind a service. */
function resumable(item: ChargeItem, service: Service, ownPeriods: boolean): ResumableCharge {
  const { proration } = service;
  const window = proration
    ? { start: proration.fullStart, end: proration.fullEnd }
    : { start: service.start, end: service.end };
  return { lineItemId: item.id, itemStart: item.startDate, window, ownPeriods };
}

/**
 * What a recurring ADVANCE item pays for from an instant on, whatever is billed already: the rest of the current period, of
 * its own window and the windows after it, or of its own longer period, each as a share of its full one. A one-time charge is
 * never given back or charged again. spec: subscriptions-and-invoicing §2.8.2, §2.6.3
 */
export function remainingServices(item: ChargeItem, from: string, input: ChargePlanInput): Service[] {
  const relation = cadenceRelation(item, input.subscription);
  const period = input.next && asItBegins(item, input.next, input);
  if (relation === 'onetime' || item.priceType !== 'FIXED' || item.invoiceCadence !== 'ADVANCE' || !period) return [];
  if (relation === 'longer') {
    return ownPeriods(item, period, input).flatMap((own) =>
      remainderOf(item, { ...own, window: own, full: own }, from),
    );
  }
  const services = relation === 'shorter' ? windowServices(item, period, input) : periodServices(item, period);
  return services.flatMap((service) => {
    const { proration } = service;
    const full = proration ? { start: proration.fullStart, end: proration.fullEnd } : service;
    return remainderOf(item, { ...service, full: { start: full.start, end: full.end } }, from);
  });
}

function remainderOf(
  item: ChargeItem,
  service: Interval & { window: Interval; full: Interval },
  from: string,
): Service[] {
  const rest = intersection({ start: later(service.start, from), end: service.end }, item);
  if (!rest) return [];
  return [{ ...rest, window: service.window, proration: prorationOf(item, rest, service.full, 'partly_active') }];
}

/**
 * A period whose arrears are billed, beside the whole calendar period that a FIXED amount pays for: the first one on a calendar
 * cycle with prorations begins before the subscription does, as for the advance fee.
 * spec: subscriptions-and-invoicing §2.2.4, README decision 44
 */
function withFirstWhole(item: ChargeItem, period: ChargePeriod, { subscription }: ChargePlanInput): ServicePeriod {
  const { startDate } = subscription;
  const prorationBehavior = item.prorationBehavior ?? subscription.prorationBehavior;
  if (item.priceType !== 'FIXED' || subscription.billingCycle !== 'calendar' || !startDate || !prorationBehavior) {
    return period;
  }
  const whole = wholeAdvancePeriodAt({ ...subscription, startDate, prorationBehavior }, period.start);
  const start = earlier(whole.start, period.full.start);
  return { ...period, full: { ...period.full, start }, isFirst: start < startDate };
}

/**
 * A period that an item pays for in advance, as its own `proration_behavior` has it: of the first one on a calendar cycle a share
 * with `create_prorations`, the whole with `none`. spec: subscriptions-and-invoicing §2.2.4
 */
function asItBegins(item: ChargeItem, period: ChargePeriod, { subscription }: ChargePlanInput): ChargePeriod {
  const { prorationBehavior } = item;
  const { startDate, billingCycle } = subscription;
  if (!prorationBehavior || !startDate || billingCycle !== 'calendar') return period;
  const { start } = wholeAdvancePeriodAt({ ...subscription, startDate, prorationBehavior }, period.start);
  return { ...period, full: { ...period.full, start } };
}

/** An item that begins within a period is first charged at the next boundary where its own behaviour is `none`. spec: §2.9.6 */
function waitsForBoundary(item: ChargeItem, period: ChargePeriod): boolean {
  return item.prorationBehavior === 'none' && item.startDate > period.start;
}

type ServicePeriod = ChargePeriod & { isFirst?: boolean };

/** Equal cadence, and days or weeks inside longer periods: one service, the part of the period in which the item is active. */
function periodServices(item: ChargeItem, period: ServicePeriod): Service[] {
  const active = intersection(period, item);
  if (!active) return [];
  const why: ProrationReason =
    active.start !== period.start || active.end !== period.end
      ? 'partly_active'
      : (period.isFirst ?? item.invoiceCadence === 'ADVANCE') &&
          period.full.start < period.start &&
          period.full.end === period.end
        ? 'first_calendar_period'
        : 'period_cut_short';
  return [
    {
      ...active,
      window: { start: period.start, end: period.end },
      proration: prorationOf(item, active, period.full, why),
    },
  ];
}

/**
 * A shorter cadence: the period cut into windows on the subscription's anchor, a cut window paying its share of its own full
 * one. A period that begins within a whole one, after a pause, keeps the windows of the whole.
 */
function windowServices(item: ChargeItem, period: ChargePeriod, input: ChargePlanInput): Service[] {
  const cadence = itemCadence(item, input, input.subscription.billingAnchor, input.subscription.billingCycle);
  const services: Service[] = [];
  let start = earlier(period.full.start, period.start);
  for (let step = 0; start < period.end; step += 1) {
    if (step === walkBound) throw tooManyPeriods(item);
    const boundary = nextBoundary({ ...cadence, periodStart: start });
    const window = { start: later(start, period.start), end: earlier(boundary, period.end) };
    const active = intersection(window, item);
    if (active) {
      const full = { start: previousBoundary({ ...cadence, boundary }), end: boundary };
      const cut = active.start !== window.start || active.end !== window.end;
      services.push({
        ...active,
        window,
        uncut: full,
        proration: prorationOf(item, active, full, cut ? 'partly_active' : 'charge_window_cut'),
      });
    }
    start = boundary;
  }
  return services;
}

/** A longer cadence in advance: its own periods that begin within the billing period. */
function ownAdvanceServices(item: ChargeItem, period: ChargePeriod, input: ChargePlanInput): Service[] {
  const resumes = input.reason === 'resume';
  return ownPeriods(item, period, input)
    .filter((own) => own.start < period.end && (resumes ? own.end > period.start : own.start >= period.start))
    .flatMap((own) => {
      const active = intersection(resumes ? { ...own, start: later(own.start, period.start) } : own, item);
      return active ? [{ ...active, window: own, proration: prorationOf(item, active, own, 'partly_active') }] : [];
    });
}

/**
 * A longer cadence in arrear: its own periods that end within the billing period; an item that ends, and a subscription that
 * closes, end the open one. What is billed already and paused stretches are left out of it.
 */
function ownArrearServices(item: ChargeItem, period: ChargePeriod, input: ChargePlanInput): Service[] {
  const closes = ['closing', 'last', 'running'].includes(input.reason);
  const done = [
    ...input.billed.filter((line) => line.subscriptionLineItemId === item.id).map((line) => line.periodEnd),
    ...(input.paused ?? []).map((stretch) => stretch.end),
  ];
  return ownPeriods(item, period, input).flatMap((own) => {
    const itemEnd = item.endDate === null ? own.end : earlier(own.end, item.endDate);
    const end = closes ? earlier(itemEnd, period.end) : itemEnd;
    const start = done.filter((instant) => instant > own.start && instant <= end).reduce(later, own.start);
    if (start >= end || end <= period.start || end > period.end) return [];
    const service = { start, end };
    const why = end === own.end || end === item.endDate ? 'partly_active' : 'period_cut_short';
    return [{ ...service, window: service, proration: prorationOf(item, service, own, why) }];
  });
}

/** Own periods of an item, from its start (or the trial's end) until one begins at or after the billing period's end. */
function ownPeriods(item: ChargeItem, period: ChargePeriod, input: ChargePlanInput): Interval[] {
  let start = later(item.startDate, input.subscription.trialEnd ?? item.startDate);
  const cadence = itemCadence(item, input, start, 'anniversary');
  const periods: Interval[] = [];
  for (let step = 0; start < period.end; step += 1) {
    if (step === walkBound) throw tooManyPeriods(item);
    const end = nextBoundary({ ...cadence, periodStart: start });
    periods.push({ start, end });
    start = end;
  }
  return periods;
}

function itemCadence(
  item: ChargeItem,
  input: ChargePlanInput,
  anchor: string,
  billingCycle: Cadence['billingCycle'],
): Cadence {
  return {
    anchor,
    billingCycle,
    billingPeriod: item.billingPeriod as BillingPeriod,
    billingPeriodCount: item.billingPeriodCount,
    timezone: input.subscription.timezone,
  };
}

/** FIXED pays for the part of the full period it covers; USAGE is never prorated by time. spec: §2.6.2 */
function prorationOf(
  item: ChargeItem,
  active: Interval,
  full: Interval,
  why: ProrationReason,
): DerivedProration | null {
  if (item.priceType === 'USAGE' || (active.start === full.start && active.end === full.end)) return null;
  return {
    numeratorMs: millisecondsBetween(active.start, active.end),
    denominatorMs: millisecondsBetween(full.start, full.end),
    fullStart: full.start,
    fullEnd: full.end,
    why,
  };
}

function intersection(period: Interval, item: ChargeItem): Interval | null {
  const start = later(period.start, item.startDate);
  const end = item.endDate === null ? period.end : earlier(period.end, item.endDate);
  return start < end ? { start, end } : null;
}

function tooManyPeriods(item: ChargeItem): Error {
  return refuse('validation_error', `line item ${item.id} has more than ${walkBound} charge periods`);
}
