import { type Decimal, decimal, decimalString } from '../money/money.ts';
import { type BillingPeriod, nextBoundary } from '../time/calendar.ts';
import { dayMs, epochMs, instantText } from '../time/local-time.ts';

/** What decides the applications of a grant; straight from its row. spec: wallets-and-payments §2.15 */
export interface GrantSchedule {
  cadence: 'ONETIME' | 'RECURRING';
  period: BillingPeriod | null;
  periodCount: number | null;
  anchor: string;
  /** The customer's. */
  timezone: string;
  startDate: string;
  endDate: string | null;
}

/** The time an application is for; a onetime one has no end. */
export interface GrantPeriod {
  start: string;
  end: string | null;
}

/** Where the grant period that begins at `start` ends: the next boundary on the grant's anchor. spec: wallets §2.15 Next date */
export function nextGrantDate(grant: GrantSchedule, start: string): string {
  return nextBoundary({
    anchor: grant.anchor,
    billingPeriod: grant.period!,
    billingPeriodCount: grant.periodCount ?? 1,
    billingCycle: 'anniversary',
    timezone: grant.timezone,
    periodStart: start,
  });
}

/** The first period of a grant, which always gets its application. spec: wallets-and-payments §2.15 Applications */
export function firstGrantPeriod(grant: GrantSchedule): GrantPeriod {
  const { cadence, startDate: start } = grant;
  return { start, end: cadence === 'ONETIME' ? null : nextGrantDate(grant, start) };
}

/** The period after one that was applied or skipped; null when it would pass the grant's end. spec: wallets §2.15 Applications */
export function followingGrantPeriod(grant: GrantSchedule, { end: start }: GrantPeriod): GrantPeriod | null {
  if (grant.cadence === 'ONETIME' || start === null) return null;
  const end = nextGrantDate(grant, start);
  return grant.endDate !== null && end > grant.endDate ? null : { start, end };
}

export type ApplicationStatus = 'pending' | 'applied' | 'failed' | 'skipped' | 'cancelled';

/** What a due application becomes, and whether the next period gets one. */
export interface GrantAction {
  status: 'applied' | 'skipped' | 'pending' | 'cancelled';
  followed: boolean;
}

/**
 * What a due application becomes by the status of its subscription: a paused one lets the period pass, one that has not begun
 * waits, a cancelled one ends it; every other is granted to. spec: wallets-and-payments §2.15 Application states
 */
export function grantAction(subscriptionStatus: string, cadence: GrantSchedule['cadence']): GrantAction {
  const followed = cadence === 'RECURRING';
  switch (subscriptionStatus.toLowerCase()) {
    case 'paused':
      return { status: 'skipped', followed };
    case 'draft':
    case 'incomplete':
      return { status: 'pending', followed: false };
    case 'cancelled':
      return { status: 'cancelled', followed: false };
    default:
      return { status: 'applied', followed };
  }
}

/** When a due application that has to wait is tried again: 30 · 2^min(retries, 4) minutes later. spec: wallets §2.15 */
export function deferredGrant(now: string, retryCount: number): { minutes: number; at: string; retryCount: number } {
  const minutes = 30 * 2 ** Math.min(retryCount, 4);
  return { minutes, at: instantText(epochMs(now) + minutes * 60_000), retryCount: retryCount + 1 };
}

export interface GrantExpiry {
  type: 'NEVER' | 'DURATION' | 'BILLING_CYCLE';
  duration: number | null;
  unit: 'DAY' | 'WEEK' | 'MONTH' | 'YEAR' | null;
}

/**
 * When the credits of a period expire; null never. Days and weeks are of 24 hours, months and years of the calendar in UTC with
 * what a short month lacks carried forward; BILLING_CYCLE is the end of the subscription period that holds the start.
 * spec: wallets-and-payments §2.15 Expiry
 */
export function grantExpiry(
  expiry: GrantExpiry,
  periodStart: string,
  subscriptionPeriods: readonly { start: string; end: string }[],
): string | null {
  const start = epochMs(periodStart);
  if (expiry.type === 'BILLING_CYCLE') {
    const holds = subscriptionPeriods.find((period) => epochMs(period.start) <= start && start < epochMs(period.end));
    return holds ? instantText(epochMs(holds.end)) : null;
  }
  if (expiry.type === 'NEVER' || expiry.duration === null) return null;
  switch (expiry.unit) {
    case 'DAY':
      return instantText(start + expiry.duration * dayMs);
    case 'WEEK':
      return instantText(start + expiry.duration * 7 * dayMs);
    case 'MONTH':
      return monthsOn(start, expiry.duration);
    case 'YEAR':
      return monthsOn(start, expiry.duration * 12);
    default:
      return null;
  }
}

/** 31 January and a month is 3 March, or 2 March in a leap year. */
function monthsOn(instant: number, months: number): string {
  const date = new Date(instant);
  return instantText(date.setUTCMonth(date.getUTCMonth() + months));
}

const creditDecimals = 8;
const coefficientDecimals = 16;

/**
 * The first credits of a grant whose add-on was attached inside a period: its share in whole seconds. The coefficient is shown,
 * the credits are exact before their one rounding. spec: wallets-and-payments §2.15 Proration
 */
export function proratedCredits(
  credits: string,
  period: { start: string; end: string },
  attachedAt: string,
): { coefficient: string; credits: string } {
  const seconds = (from: string): Decimal => decimal(Math.floor((epochMs(period.end) - epochMs(from)) / 1000));
  const left = seconds(attachedAt);
  const whole = seconds(period.start);
  return {
    coefficient: decimalString(left.dividedBy(whole).toDecimalPlaces(coefficientDecimals)),
    credits: decimalString(decimal(credits).times(left).dividedBy(whole).toDecimalPlaces(creditDecimals)),
  };
}

/** The applications that are still to come: pending and failed, strictly after now, the first one first. spec: wallets §1.2 */
export function upcomingApplications<A extends { id: string; status: string; scheduledFor: string }>(
  applications: readonly A[],
  now: string,
): A[] {
  return applications
    .filter(({ status, scheduledFor }) => (status === 'pending' || status === 'failed') && scheduledFor > now)
    .sort((a, b) => epochMs(a.scheduledFor) - epochMs(b.scheduledFor) || (a.id < b.id ? -1 : 1));
}
