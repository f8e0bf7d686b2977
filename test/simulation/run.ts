import { parseArgs } from 'node:util';
import { simulate } from './simulate.ts';

/**
 * `npm run simulate -- --seed N --years Y`: random subscriptions through the product's billing and through an oracle that knows
 * the chapter alone. Ends with 1 at the first life whose bills differ.
 */
const { values } = parseArgs({ options: { seed: { type: 'string' }, years: { type: 'string', default: '20000' } } });
const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
const years = Number(values.years);
if (!Number.isSafeInteger(seed) || seed < 0 || !(years > 0)) {
  console.error('simulate takes --seed, a whole number from 0 on, and --years, a number above 0');
  process.exit(2);
}
const startedAt = performance.now();
const { failure, ...done } = simulate(seed, years);
console.log(
  JSON.stringify({
    seed,
    ...done,
    years: Math.round(done.years),
    seconds: Math.round((performance.now() - startedAt) / 1000),
  }),
);
if (failure !== null) {
  console.error(failure);
  process.exitCode = 1;
}
