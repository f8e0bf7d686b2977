/** A seeded source of choices, so that a run can be repeated with the same kills in the same order. */
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  whole(below: number): number;
  oneOf<Item>(items: readonly Item[]): Item;
}

/** Mulberry32: small, and good enough to choose whom to kill. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const whole = (below: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
  return { whole, oneOf: (items) => items[whole(items.length)]! };
}
