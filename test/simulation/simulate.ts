import { type Difference, firstDifference, smallest, told } from './compare.ts';
import type { Life } from './life.ts';
import { oracleBilled } from './oracle.ts';
import { productBilled } from './product.ts';
import { randomLife } from './random-life.ts';

/** What was simulated. */
export interface Simulated {
  lives: number;
  years: number;
  invoices: number;
  lines: number;
  /** Commands that were carried out, by kind. */
  commands: Record<string, number>;
  refused: number;
  /** Lives with commitments of the whole, of lines, by windows; with phases; with heirs; with an invoice that used a credit of changes. */
  terms: Record<'committed' | 'committedLines' | 'windowed' | 'phased' | 'inherited' | 'credited', number>;
  /** The first life on which product and oracle differ, and how, in words; null where they agree to the cent. */
  failure: string | null;
}

const yearMs = 365.25 * 86_400_000;

/** Bills random lives twice, one seed after the other, until they cover so many subscription-years or two bills differ. */
export function simulate(firstSeed: number, years: number): Simulated {
  const terms = { committed: 0, committedLines: 0, windowed: 0, phased: 0, inherited: 0, credited: 0 };
  const done: Simulated = {
    lives: 0,
    years: 0,
    invoices: 0,
    lines: 0,
    commands: {},
    refused: 0,
    terms,
    failure: null,
  };
  for (let seed = firstSeed; done.years < years && done.failure === null; seed += 1) {
    const life = randomLife(seed);
    const compared = compare(life);
    done.lives += 1;
    if (compared.difference !== null) done.failure = failureOf(life);
    else count(done, life, compared.oracle);
  }
  return done;
}

function count(done: Simulated, life: Life, oracle: ReturnType<typeof oracleBilled>): void {
  const until = oracle.endedAt ?? life.until;
  done.years += Math.max(until - life.start, 0) / yearMs;
  done.invoices += oracle.invoices.length;
  done.lines += oracle.invoices.reduce((all, invoice) => all + invoice.lines.length, 0);
  const lines = life.plans[0]!.flatMap(({ commitment }) => commitment ?? []);
  if (life.commitment) done.terms.committed += 1;
  if (lines.some(({ windowed }) => !windowed)) done.terms.committedLines += 1;
  if (lines.some(({ windowed }) => windowed)) done.terms.windowed += 1;
  if (life.phases.length > 0) done.terms.phased += 1;
  if (life.heirs.length > 0) done.terms.inherited += 1;
  if (oracle.invoices.some((invoice) => invoice.lines.some(({ item }) => item === 'credit'))) done.terms.credited += 1;
  for (const [index, { kind }] of life.commands.entries()) {
    if (oracle.accepted[index]) done.commands[kind] = (done.commands[kind] ?? 0) + 1;
    else done.refused += 1;
  }
}

function compare(life: Life): { oracle: ReturnType<typeof oracleBilled>; difference: Difference | null } {
  const oracle = oracleBilled(life);
  try {
    return { oracle, difference: firstDifference(oracle, productBilled(life)) };
  } catch (error) {
    // What the product throws is a difference too, which a smaller life may show.
    const thrown = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { oracle, difference: { what: 'the product throws', oracle: null, product: thrown } };
  }
}

function failureOf(life: Life): string {
  const least = smallest(life, (smaller) => compare(smaller).difference !== null);
  const { difference } = compare(least);
  return [
    `seed ${life.seed}: product and oracle differ at ${difference?.what}; the smallest life that shows it:`,
    told(least),
    `  oracle:  ${difference?.oracle}`,
    `  product: ${difference?.product}`,
  ].join('\n');
}
