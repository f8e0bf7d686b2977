import type { SimulatedPhase } from './life.ts';
import type { OracleLife } from './oracle.ts';
import type { OracleItem } from './oracle-charge.ts';
import { settle } from './oracle-command.ts';

/** The items a subscription begins with: those of the plan that its first phase leaves alone, and the phase's. §2.3.3, §2.9.5 */
export function firstItems(life: OracleLife): OracleItem[] {
  const { plans, phases, start } = life.life;
  const [first] = phases;
  const own = plans[0]!.filter(({ id }) => !replaces(first, id)).map((offer) => life.committedItem(offer, start));
  return first ? [...own, ...itemsOf(life, first)] : own;
}

const replaces = (phase: SimulatedPhase | undefined, offer: string): boolean =>
  phase?.items.some((item) => item.replaces === offer) ?? false;

/** In force until the phase ends, or the subscription. */
function itemsOf(life: OracleLife, phase: SimulatedPhase): OracleItem[] {
  return phase.items.map(({ offer }) => ({
    ...life.committedItem(offer, phase.start),
    end: phase.end ?? life.life.end,
    isOfPhase: true,
  }));
}

/** When phases begin after the first, and the last one ends, while the subscription goes on. */
export function nextMoment(life: OracleLife): number | null {
  const { phases } = life.life;
  const moments = [...phases.slice(1).map(({ start }) => start), ...phases.slice(-1).flatMap(({ end }) => end ?? [])];
  const at = moments[life.phase];
  if (at === undefined || [life.cancelAt, life.endsAt].some((end) => end !== null && end <= at)) return null;
  return at;
}

/**
 * The next phase replaces what the one before charged: what it overrides of the plan ends, what the one before overrode and it
 * does not comes back; all in one settlement. A pause charges nothing. §2.9.5
 */
export function crossPhase(life: OracleLife, at: number): void {
  const { phases, plans, prorate } = life.life;
  const [before, phase] = [phases[life.phase], phases[life.phase + 1]];
  life.phase += 1;
  const isThere = ({ end }: OracleItem) => end === null || end > at;
  const ended = life.items.filter(
    (item) => isThere(item) && item.offer.cadence !== null && (item.isOfPhase || replaces(phase, item.offer.id)),
  );
  const back = plans[0]!.filter(({ id, cadence }) => cadence !== null && replaces(before, id) && !replaces(phase, id));
  const started = [...(phase ? itemsOf(life, phase) : []), ...back.map((offer) => life.committedItem(offer, at))];
  if (life.status === 'active') settle(life, at, { ended, started, capped: true, prorate });
  for (const item of ended) item.end = at;
  life.items.push(...started);
}
