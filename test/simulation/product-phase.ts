import { ownStretches, type Phase } from '../../billing/subscription/phase.ts';
import { changeTypeOf } from '../../billing/subscription/plan-change.ts';
import type { SimulatedPhase } from './life.ts';
import type { HeldItem, ProductLife } from './product.ts';
import { type Behavior, isActiveAt, prorated, settle } from './product-proration.ts';

const text = (instant: number): string => new Date(instant).toISOString();
const textOrNull = (instant: number | null): string | null => (instant === null ? null : text(instant));

/** As services/subscription/phase/subscription-phase-items.ts writes them: what is there from the start. */
export function firstItems(life: ProductLife): HeldItem[] {
  return [...ownItems(life, 0, life.row.startDate), ...phaseItems(life, life.life.phases[0])];
}

function phaseItems(life: ProductLife, phase: SimulatedPhase | undefined): HeldItem[] {
  return (phase?.items ?? []).map(({ offer }) => {
    const held = life.committedItem(offer, text(phase!.start));
    return { ...held, isOfPhase: true, item: { ...held.item, endDate: textOrNull(phase!.end ?? life.life.end) } };
  });
}

/** What the plan itself charges from a phase on. */
function ownItems(life: ProductLife, phase: number, at: string): HeldItem[] {
  const { phases, plans, end } = life.life;
  const terms = phases.map((one) => ({ start: text(one.start), end: textOrNull(one.end) }));
  const begins = plans[0]!.filter(({ id, cadence }) => {
    if (phases.length === 0) return true;
    const overridden = phases.map(({ items }) => items.some(({ replaces }) => replaces === id));
    const stretches = ownStretches(overridden, terms, textOrNull(end));
    return stretches.some((stretch) => stretch.phase === phase && (phase === 0 || cadence !== null));
  });
  return begins.map((offer) => life.committedItem(offer, at));
}

/** The rows of the phases. */
export function phasesOf(life: ProductLife): Phase[] {
  return life.life.phases.map(({ start, end }, index) => ({
    id: String(index),
    start: text(start),
    end: textOrNull(end),
    startedAt: index <= life.phase ? text(start) : null,
    endedAt: index < life.phase ? textOrNull(end) : null,
  }));
}

/** services/subscription/phase/subscription-phase-cross.ts */
export function crossPhase(life: ProductLife, kind: 'startPhase' | 'endPhase', ref: string, at: string): void {
  const index = kind === 'startPhase' ? Number(ref) : life.life.phases.length;
  const phase = life.life.phases[index];
  life.phase = index;
  const replaced = new Set(phase?.items.flatMap(({ replaces }) => replaces ?? []));
  const leaving = life.items.filter(
    ({ item, offer, isOfPhase }) =>
      item.billingPeriod !== 'ONETIME' && isActiveAt(item, at) && (isOfPhase || replaced.has(offer.id)),
  );
  const ended = leaving.map(({ item }) => item);
  const begun = [...phaseItems(life, phase), ...ownItems(life, index, at)];
  const started = begun.map(({ item }) => item);
  const behavior: Behavior = life.row.status === 'paused' ? 'none' : (life.row.prorationBehavior as Behavior);
  const change = prorated(life, changeTypeOf(ended, started), behavior, at, ended, started);
  for (const item of ended) item.endDate = at;
  life.items.push(...begun);
  settle(life, change, behavior, at);
}
