/** Behaviour of a customer's card. */
export type DemoCard = 'good' | 'declines twice' | 'declines' | 'stolen' | 'wants its payer' | 'none';

/** A customer and the tokens it uses, a pure function of its number. */
export interface BoughtTokens {
  name: string;
  card: DemoCard;
  uses: { at: string; tokens: number }[];
}

const hourMs = 3_600_000;
const firstDay = Date.parse('2026-01-01T00:00:00Z');
/** Days from the first of January on of which some are days of use, and how many those are. */
const wholeMonth = { from: 0, days: 30, uses: 5 };
/**
 * Use of a team whose card wants its payer, on the same two days for all of them: their gateway is asked some fifteen times about every charge
 * that waits for a day, and the clock stops each time.
 */
const lastDays = { from: 28, days: 2, uses: 2 };

/** So many customers, each with a card and its use of tokens in January: the same ones in every run. */
export function prepaidCustomers(count: number): BoughtTokens[] {
  return Array.from({ length: count }, (_, index) => {
    const random = randomNumbers(index + 1);
    const card = cardOf(index);
    const { from, days: length, uses: used } = card === 'wants its payer' ? lastDays : wholeMonth;
    const days = new Set<number>();
    while (days.size < used) days.add(from + Math.floor(random() * length));
    const uses = [...days]
      .sort((a, b) => a - b)
      .map((day) => ({
        at: new Date(firstDay + (24 * day + 12) * hourMs).toISOString(),
        // 4 to 24 dollars' worth.
        tokens: 200_000 + 500 * Math.floor(random() * 2_000),
      }));
    return { name: `team-${String(index + 1).padStart(3, '0')}`, card, uses };
  });
}

/** Of each 20 customers 15 have a good card. */
function cardOf(index: number): DemoCard {
  const cards: Record<number, DemoCard> = {
    3: 'declines twice',
    7: 'declines',
    11: 'stolen',
    15: 'wants its payer',
    19: 'none',
  };
  return cards[index % 20] ?? 'good';
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
