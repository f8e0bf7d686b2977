import { expect, test } from 'vitest';
import { differenceOf, smallest } from './compare.ts';
import type { Life } from './life.ts';
import { oracleBilled } from './oracle.ts';
import { productBilled } from './product.ts';
import { randomLife } from './random-life.ts';
import { simulate } from './simulate.ts';

const seed = Number(process.env.SIMULATION_SEED ?? 20_261_122);
const years = 20_000;

test(`product and oracle bill ${years} subscription-years alike, to the cent (seed ${seed})`, () => {
  const { failure, ...done } = simulate(seed, years);
  expect(failure, failure ?? '').toBeNull();
  expect(done.years).toBeGreaterThanOrEqual(years);
  // A simulation of subscriptions to which nothing happens would prove little.
  const kinds = [
    'pause',
    'resume',
    'quantity',
    'plan',
    'cancelNow',
    'cancelAt',
    'cancelAtPeriodEnd',
    'keep',
    'endTrial',
    'inherit',
    'disinherit',
  ];
  for (const kind of kinds) expect(done.commands[kind], kind).toBeGreaterThan(20);
  for (const [term, lives] of Object.entries(done.terms)) expect(lives, term).toBeGreaterThan(100);
  console.log(JSON.stringify({ seed, ...done }));
}, 600_000);

test('the same seed is the same life', () => {
  expect(randomLife(7)).toEqual(randomLife(7));
  expect(randomLife(7)).not.toEqual(randomLife(8));
});

test('a bill that is wrong by a cent is told, of the smallest life that shows it', () => {
  const life = randomLife(3);
  expect(differenceOf(life)).toBeNull();
  const fails = (candidate: Life): boolean => {
    const billed = productBilled(candidate);
    const line = billed.invoices.flatMap((invoice) => invoice.lines).find(({ amount }) => amount > 0n);
    if (line) line.amount += 1n;
    return JSON.stringify(billed, texts) !== JSON.stringify(oracleBilled(candidate), texts);
  };
  expect(fails(life)).toBe(true);
  const least = smallest(life, fails);
  expect(least.commands).toEqual([]);
  expect(least.plans.flat()).toHaveLength(1);
});

const texts = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
