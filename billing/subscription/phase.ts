import { refuse } from '../refusal.ts';
import { earlier, later } from '../time/calendar.ts';
import { epochMs, instantText } from '../time/local-time.ts';
import type { SubscriptionState } from './subscription.ts';
import { mayHappen } from './subscription-lifecycle.ts';

/** The time of a phase; without an end it lasts as long as its subscription. */
export interface PhaseTerm {
  start: string;
  end: string | null;
}

/** A phase of a subscription and how far it has come. */
export interface Phase extends PhaseTerm {
  id: string;
  startedAt: string | null;
  endedAt: string | null;
}

/** A phase that takes hold, or the last one that leaves the subscription to its plan again. */
export interface PhaseMoment {
  kind: 'startPhase' | 'endPhase';
  at: string;
  ref: string;
}

/**
 * Refuses phases that do not follow each other from the subscription's start: the first starts with it, each one starts where
 * the one before ends, only the last may have no end, and where it and the subscription have one it is the same. `field` is
 * where they stand in the request. spec: subscriptions-and-invoicing §2.9.5, errors 14
 */
export function checkPhases(
  phases: readonly PhaseTerm[],
  subscription: { startDate: string; endDate: string | null },
  field = 'phases',
): void {
  let due = subscription.startDate;
  for (const [index, { start, end }] of phases.entries()) {
    const path = `${field}[${index}]`;
    if (start !== due) {
      const why =
        index === 0 ? 'the start of the subscription; send that as start_date' : 'where the phase before it ends';
      throw invalid(`${path}.start_date`, `must be ${due}, ${why}`);
    }
    const isLast = index === phases.length - 1;
    if (end === null) {
      if (!isLast) throw invalid(`${path}.end_date`, 'is required: only the last phase may be without an end');
      return;
    }
    if (end <= start) throw invalid(`${path}.end_date`, `must be after ${start}, where the phase starts`);
    if (isLast && subscription.endDate !== null && end !== subscription.endDate) {
      const problem = `must be ${subscription.endDate}, the end of the subscription, or left out`;
      throw invalid(`${path}.end_date`, problem);
    }
    due = end;
  }
}

/** A draft begins when it is activated, so that no phase of it has a date. spec: subscriptions-and-invoicing §3 row 14 */
export function refuseDraftPhases(isDraft: boolean, phases: readonly unknown[]): void {
  if (isDraft && phases.length > 0) {
    throw invalid('phases', 'cannot be combined with subscription_status draft; leave one of them out');
  }
}

/**
 * What time brings to the phases of a subscription before it ends: each that has not started, and the end of the last one where
 * the subscription goes on after it. Nothing while it is a draft, waits for its first payment, or has ended.
 * spec: subscriptions-and-invoicing §2.5, §2.9.5
 */
export function phaseMoments(
  state: Pick<SubscriptionState, 'status' | 'endDate' | 'cancelAt'>,
  phases: readonly Phase[],
): PhaseMoment[] {
  if (!mayHappen('startPhase', state.status)) return [];
  const ends = state.cancelAt === null ? state.endDate : earlier(state.cancelAt, state.endDate ?? state.cancelAt);
  const starts = phases
    .filter(({ startedAt }) => startedAt === null)
    .map(({ id, start }): PhaseMoment => ({ kind: 'startPhase', at: start, ref: id }));
  const last = phases.reduce<Phase | null>(
    (found, phase) => (found && found.start > phase.start ? found : phase),
    null,
  );
  const left: PhaseMoment[] =
    last && last.end !== null && last.endedAt === null ? [{ kind: 'endPhase', at: last.end, ref: last.id }] : [];
  return [...starts, ...left].filter(({ at }) => ends === null || at < ends);
}

/** Where a price of the plan is charged as the plan has it, because the phase of that number does not override it. */
export interface OwnStretch {
  /** The number of the phase, from 0; the number of phases for the time after the last one. */
  phase: number;
  start: string;
}

/**
 * The stretches in which a price of the plan is charged as the plan has it; `overridden` tells of each phase whether it overrides
 * the price. A stretch lasts until a phase overrides it. spec: subscriptions-and-invoicing §2.9.5
 */
export function ownStretches(
  overridden: readonly boolean[],
  phases: readonly PhaseTerm[],
  subscriptionEnd: string | null,
): OwnStretch[] {
  const stretches = phases.flatMap(({ start }, phase): OwnStretch[] =>
    !overridden[phase] && (phase === 0 || overridden[phase - 1]) ? [{ phase, start }] : [],
  );
  const end = phases.at(-1)?.end ?? null;
  const goesOn = end !== null && (subscriptionEnd === null || end < subscriptionEnd);
  return goesOn && overridden.at(-1) ? [...stretches, { phase: phases.length, start: end }] : stretches;
}

/**
 * When a coupon of a phase applies: from the phase's start, or its own later one, until a second before the phase ends, or its own
 * earlier end, as coupons that are repeated end. Refuses dates outside the phase. spec: subscriptions-and-invoicing §2.9.5, §2.17.1
 */
export function phaseCouponTerm(
  wanted: { start: string | null; end: string | null },
  phase: PhaseTerm,
  field: string,
): PhaseTerm {
  const start = wanted.start ?? phase.start;
  if (start < phase.start || (phase.end !== null && start >= phase.end)) {
    throw invalid(`${field}.start_date`, `must lie in the phase, from ${phase.start}${until(phase)}`);
  }
  if (wanted.end !== null && phase.end !== null && wanted.end > phase.end) {
    throw invalid(`${field}.end_date`, `must not be after ${phase.end}, where the phase ends`);
  }
  if (phase.end === null) return { start, end: wanted.end };
  const last = later(instantText(epochMs(phase.end) - 1000), start);
  return { start, end: wanted.end === null ? last : earlier(wanted.end, last) };
}

/**
 * When a line item that is added to a phase is in force: within the phase, to its end unless it says otherwise. `at` is the
 * present, before which nothing is added. Refuses a phase that is over and dates outside it. spec: subscriptions-and-invoicing §1.9
 */
export function phaseItemTerm(
  wanted: { start: string | null; end: string | null },
  phase: PhaseTerm,
  at: string,
): { start: string; end: string | null } {
  if (phase.end !== null && phase.end <= at) {
    throw invalid(
      'subscription_phase_id',
      `names a phase that ended at ${phase.end}; name one that is running or to come`,
    );
  }
  const start = wanted.start ?? later(at, phase.start);
  if (start < phase.start || (phase.end !== null && start >= phase.end)) {
    throw invalid('start_date', `must lie in the phase, from ${phase.start}${until(phase)}`);
  }
  if (wanted.end !== null && phase.end !== null && wanted.end > phase.end) {
    throw invalid('end_date', `must not be after ${phase.end}, where the phase ends`);
  }
  return { start, end: wanted.end ?? phase.end };
}

function until({ end }: PhaseTerm): string {
  return end === null ? ' on' : ` and before ${end}`;
}

function invalid(field: string, problem: string): Error {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}
