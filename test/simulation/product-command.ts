import type { ChargeItem } from '../../billing/line/charge.ts';
import type { ResumeTerms } from '../../billing/line/resume-charge.ts';
import { decimal } from '../../billing/money/money.ts';
import { selectPrices } from '../../billing/price/price-selection.ts';
import { refusalIn, refuse } from '../../billing/refusal.ts';
import { refuseQuantity } from '../../billing/subscription/line-item.ts';
import { pauseSubscription, resumeSubscription } from '../../billing/subscription/pause.ts';
import { changePlan as planChange } from '../../billing/subscription/plan-change.ts';
import { refuseMixedCadence } from '../../billing/subscription/proration-change.ts';
import { endTrial } from '../../billing/subscription/subscription.ts';
import { cancelSubscription, keepSubscription } from '../../billing/subscription/subscription-cancel.ts';
import { trialEndingAt } from '../../billing/subscription/trial.ts';
import { cadenceRelation } from '../../billing/time/cadence.ts';
import { wholeAdvancePeriodAt, wholePeriodAt } from '../../billing/time/whole-period.ts';
import { periodOf, runningPeriodOf } from '../../services/charging/subscription-period.ts';
import type { Command, Offer } from './life.ts';
import type { ProductLife } from './product.ts';
import { type Behavior, creditedBy, creditUnused, isActiveAt, prorated, settle } from './product-proration.ts';

const text = (instant: number): string => new Date(instant).toISOString();
const behaviorOf = (prorate: boolean): Behavior => (prorate ? 'create_prorations' : 'none');

/** What a store refuses by itself. */
function refuseHere(): never {
  throw refuse('validation_error', 'refused by the store');
}

/** Carries a command out as the stores do; false when it is refused. */
export function obey(life: ProductLife, command: Command): boolean {
  try {
    carryOut(life, command, text(command.at));
    return true;
  } catch (error) {
    if (refusalIn(error)?.code !== 'validation_error') throw error;
    return false;
  }
}

function carryOut(life: ProductLife, command: Command, at: string): void {
  switch (command.kind) {
    case 'pause':
      pause(life, at, behaviorOf(command.prorate));
      break;
    case 'resume':
      resume(life, at, behaviorOf(command.prorate));
      break;
    case 'cancelNow':
      cancelNow(life, at, command);
      break;
    case 'cancelAt':
      cancelLater(life, at, 'scheduled_date', text(command.end));
      break;
    case 'cancelAtPeriodEnd':
      cancelLater(life, at, 'end_of_period', null);
      break;
    case 'keep':
      keep(life);
      break;
    case 'endTrial':
      endTrialNow(life, at);
      break;
    case 'quantity':
      changeQuantity(life, at, command);
      break;
    case 'plan':
      changePlan(life, at, command);
      break;
    case 'inherit':
      life.family.inherit(command.heir, at);
      break;
    case 'disinherit':
      life.family.disinherit(command.heir);
      break;
  }
}

/** services/subscription/status/subscription-pause.ts */
function pause(life: ProductLife, at: string, behavior: Behavior): void {
  const before = life.row;
  const pauses = life.paused.map(({ start, end }) => ({ pauseStart: start, resumedAt: end }));
  const { state, closing } = pauseSubscription(before, at, pauses);
  creditUnused(life, 'pause', behavior, at, Date.parse(at));
  const elapsed = periodOf(before, closing.start, closing.end);
  const lines = life.linesFor({ reason: 'closing', elapsed, next: null, pauses: true });
  life.row = { ...before, ...state };
  life.pauseStart = at;
  life.invoice('SUBSCRIPTION_UPDATE', closing, lines);
}

/** services/subscription/status/subscription-resume.ts */
function resume(life: ProductLife, at: string, behavior: Behavior): void {
  const before = life.row;
  const { state, skipped } = resumeSubscription(before, at);
  life.row = { ...before, ...state };
  if (skipped) life.invoice('SUBSCRIPTION_CYCLE', skipped, []);
  life.paused.push({ start: life.pauseStart, end: at });
  const wholeStart = wholePeriodAt(before, at).start;
  const credited = creditedBy(life, `pause ${life.pauseStart}`);
  const terms: ResumeTerms = { behavior, now: at, pauseStart: life.pauseStart, wholeStart, credited };
  if (behavior === 'none' && wholeStart !== at) return;
  const period = { start: at, end: life.row.currentPeriodEnd };
  const next = { ...periodOf(before, period.start, period.end), full: wholeAdvancePeriodAt(before, at) };
  const lines = life.linesFor({ reason: 'resume', elapsed: null, next, resume: terms });
  if (lines.some(({ amount }) => !decimal(amount).isZero())) life.invoice('SUBSCRIPTION_UPDATE', period, lines);
}

/** services/subscription/status/subscription-cancel.ts */
function cancelNow(life: ProductLife, at: string, command: Command & { kind: 'cancelNow' }): void {
  const before = life.row;
  const cancelAt = command.back > 0 ? text(command.at - command.back) : null;
  const { state, effectiveDate } = cancelSubscription(
    before,
    { cancellationType: 'immediate', cancelAt },
    at,
    life.before !== null,
  );
  creditUnused(life, 'cancellation', behaviorOf(command.prorate), effectiveDate, command.at);
  life.endItems(effectiveDate);
  life.row = { ...before, ...state };
  const period = { start: before.currentPeriodStart, end: effectiveDate };
  const bills = period.start < period.end && before.status !== 'trialing';
  if (bills && before.status === 'paused') life.invoice('SUBSCRIPTION_CYCLE', period, []);
  else if (bills && command.invoice) {
    const elapsed = periodOf(before, period.start, period.end);
    life.invoice('PRORATION', period, life.linesFor({ reason: 'closing', elapsed, next: null }));
  }
  life.carried.release(command.at);
}

function cancelLater(
  life: ProductLife,
  at: string,
  cancellationType: 'scheduled_date' | 'end_of_period',
  cancelAt: string | null,
): void {
  const { row } = life;
  const { state } = cancelSubscription(row, { cancellationType, cancelAt }, at, life.before !== null);
  life.before = { cancelAt: row.cancelAt, endDate: row.endDate };
  life.row = { ...row, ...state };
}

/** services/subscription/plan-change/subscription-schedule-cancel.ts; without a pending schedule there is nothing to take back. */
function keep(life: ProductLife): void {
  if (life.before === null) refuseHere();
  life.row = { ...life.row, ...keepSubscription(life.row, life.before) };
  life.before = null;
}

/** changeTrialEnd of services/subscription/plan-change/subscription-modify.ts */
function endTrialNow(life: ProductLife, at: string): void {
  const before = life.row;
  const end = trialEndingAt(before, null, at);
  const cancelAt = before.cancelAtPeriodEnd ? end : before.cancelAt;
  life.row = { ...before, trialEnd: end, currentPeriodEnd: end, cancelAt };
  life.cross(endTrial(life.row, 'active'), 'SUBSCRIPTION_TRIAL_END');
}

/** services/subscription/item/quantity-change.ts */
function changeQuantity(life: ProductLife, at: string, wanted: { offer: string; quantity: string }): void {
  const held = life.items.filter(({ item, offer }) => offer.id === wanted.offer && isActiveAt(item, at)).at(-1);
  if (!held) refuseHere();
  const { item: old, offer, isOfPhase } = held;
  const term = { start: old.startDate, end: old.endDate, isOneTime: old.billingPeriod === 'ONETIME' };
  refuseQuantity(life.row, { ...term, id: old.id, priceType: old.priceType }, at, 'line_items[0]');
  if (decimal(old.quantity).equals(wanted.quantity)) return;
  const behavior = life.row.prorationBehavior;
  refuseMixedCadence([old], life.row, behavior);
  const { id } = life.itemOf(offer, at);
  const copy = { ...old, id, startDate: at, quantity: wanted.quantity };
  const change = prorated(life, 'quantity_change', behavior, at, [old], [copy]);
  old.endDate = at;
  life.items.push({ item: copy, offer, isOfPhase });
  settle(life, change, behavior, at);
}

/** services/subscription/plan-change/plan-change.ts, with the conditions of plan-change-guard.ts */
function changePlan(life: ProductLife, at: string, { plan, prorate }: { plan: number; prorate: boolean }): void {
  const { row } = life;
  const behavior = behaviorOf(prorate);
  const changeable = row.status === 'active' || row.status === 'trialing';
  if (plan === life.plan || !changeable || row.cancelAt !== null || life.life.phases.length > 0) refuseHere();
  if (life.family.present().length > 0) refuseHere();
  const ofPlan = (item: ChargeItem) => !['longer', 'finer'].includes(cadenceRelation(item, row));
  const present = life.items.filter(({ item }) => ofPlan(item) && isActiveAt(item, at));
  const priced = life.life.plans[plan]!.map((offer) => ({ id: offer.id, offer, ...cadenceOf(offer) }));
  const offers = selectPrices(row, priced, null).map(({ offer }) => offer);
  if (offers.every(({ cadence }) => cadence === null)) refuseHere();
  const numbered = life.made;
  const offered = offers.map((offer) => ({ offer, item: life.itemOf(offer, at) }));
  const change = planChange({
    subscription: row,
    period: runningPeriodOf(row),
    effectiveAt: at,
    behavior,
    present: present.map(({ item }) => ({ item, filters: null, billed: null, credited: '0' })),
    offered: offered.map(({ item }) => ({ item, filters: null })),
    charges: false,
  });
  life.made = numbered;
  refuseMixedCadence([...change.ended, ...change.started], row, behavior);
  for (const { item, offered: other } of change.carried) {
    const held = life.items.find((one) => one.item === item)!;
    held.offer = offered.find((one) => one.item === other)!.offer;
  }
  const started = change.started.map((item) => {
    const { offer } = offered.find((one) => one.item === item)!;
    return { offer, item: life.itemOf(offer, at), isOfPhase: false };
  });
  const settled = prorated(
    life,
    change.changeType,
    behavior,
    at,
    change.ended,
    started.map(({ item }) => item),
  );
  for (const item of change.ended) item.endDate = at;
  life.items.push(...started);
  life.plan = plan;
  settle(life, settled, behavior, at);
}

const cadenceOf = ({ cadence }: Offer) => ({
  billingPeriod: cadence?.unit ?? ('ONETIME' as const),
  billingPeriodCount: cadence?.count ?? 1,
});
