import type { Random } from '../faults/random.ts';
import type { Life, Offer, SimulatedPhase } from './life.ts';
import { randomOffer, randomPrice } from './random-life.ts';

const dayMs = 86_400_000;

/** Two to four phases, at any instant or where months turn, after which the subscription may go on. */
export function randomPhases(random: Random, life: Life): SimulatedPhase[] {
  const { whole } = random;
  const starts = [life.start];
  for (let count = whole(3) + 1; count > 0; count -= 1) starts.push(later(random, life, starts.at(-1)!));
  const end = whole(2) === 0 ? null : later(random, life, starts.at(-1)!);
  return starts.map((start, index) => ({
    start,
    end: starts[index + 1] ?? end,
    items: itemsOf(random, life, index),
  }));
}

function later({ whole }: Random, life: Life, from: number): number {
  if (whole(2) === 0) return from + whole(120 * 24) * 3_600_000 + dayMs;
  const start = new Date(life.start);
  const at = new Date(start);
  const months = Math.ceil((from - life.start) / (30.4 * dayMs)) + whole(4) + 1;
  at.setUTCMonth(start.getUTCMonth() + months, Math.min(start.getUTCDate(), 28));
  return Math.max(at.getTime(), from + dayMs);
}

/** Other prices and quantities for some of what the plan charges again and again, and now and then an item more. */
function itemsOf(random: Random, life: Life, phase: number): SimulatedPhase['items'] {
  const { whole } = random;
  const overridden = life.plans[0]!.filter(({ cadence }) => cadence !== null && whole(100) < 60);
  const items: SimulatedPhase['items'] = overridden.map((offer) => ({
    replaces: offer.id,
    offer: {
      ...offer,
      id: `${offer.id}p${phase}`,
      price: whole(100) < 70 ? randomPrice(random, life.currency) : offer.price,
      quantity: whole(2) === 0 ? String(whole(1000) / 100) : offer.quantity,
    },
  }));
  if (whole(100) < 30) items.push({ replaces: null, offer: added(random, life, phase) });
  return items;
}

function added(random: Random, life: Life, phase: number): Offer {
  for (;;) {
    const offer = randomOffer(random, `x${phase}`, life.cadence, life.currency, true);
    if (offer.cadence !== null) return offer;
  }
}
