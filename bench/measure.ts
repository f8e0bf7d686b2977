/** One side of a comparison: does its work once and returns how much it did a second (or whatever the bench compares). */
export type Side = () => Promise<number>;

export interface Comparison {
  /** The name in the output. */
  bench: string;
  reference: Side;
  product: Side;
  /** Measured pairs, at least five. */
  pairs?: number;
  warmUps?: number;
}

export interface Outcome {
  bench: string;
  ratio: number;
  min: number;
  max: number;
  reference: number;
  product: number;
}

const minPairs = 5;

/**
 * Runs reference and product alternately, so that both meet the same machine, and compares each pair. Prints a JSON line a
 * pair and the medians last. The side that goes first changes with every pair. design: quality.md Benches
 */
export async function compare(comparison: Comparison): Promise<Outcome> {
  const { bench, reference, product } = comparison;
  for (let round = 0; round < (comparison.warmUps ?? 1); round += 1) {
    await reference();
    await product();
  }
  const pairs: { reference: number; product: number; ratio: number }[] = [];
  for (let pair = 0; pair < Math.max(minPairs, comparison.pairs ?? minPairs); pair += 1) {
    const measured =
      pair % 2 === 0 ? await inOrder(reference, product) : (await inOrder(product, reference)).toReversed();
    const [one = 0, other = 0] = measured;
    pairs.push({ reference: one, product: other, ratio: other / one });
    console.log(
      JSON.stringify({ bench, pair: pair + 1, ...rounded({ reference: one, product: other, ratio: other / one }) }),
    );
  }
  const ratios = pairs.map((pair) => pair.ratio);
  const outcome = rounded({
    ratio: median(ratios),
    min: Math.min(...ratios),
    max: Math.max(...ratios),
    reference: median(pairs.map((pair) => pair.reference)),
    product: median(pairs.map((pair) => pair.product)),
  });
  const line = { bench, ...outcome };
  console.log(JSON.stringify(line));
  return line;
}

async function inOrder(first: Side, second: Side): Promise<number[]> {
  return [await first(), await second()];
}

/** Four significant digits: more would only look precise. */
function rounded<T extends Record<string, number>>(figures: T): T {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value.toPrecision(4))])) as T;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Events a second of work that stores `count` of them. */
export async function rateOf(count: number, work: () => Promise<void>): Promise<number> {
  const began = process.hrtime.bigint();
  await work();
  return count / (Number(process.hrtime.bigint() - began) / 1e9);
}

/** The nearest rank of a share of the values, 0 of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
