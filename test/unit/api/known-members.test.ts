import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { knownMembers, nearestOf, unknownMembers } from '../../../api/known-members.ts';

function unknownIn(schema: z.ZodType, value: unknown): string[] {
  const known = knownMembers(schema, 'test');
  return known ? unknownMembers(known, value).map(({ path }) => path.join('.')) : [];
}

describe('members nobody knows', () => {
  const tier = z.object({ up_to: z.int().nullish() });

  it.each<[string, z.ZodType, unknown, string[]]>([
    ['an object', tier, { up_to: 1, upto: 2 }, ['upto']],
    ['an object behind nothing, a default, a transform', tier.nullish().transform((t) => t ?? {}), { x: 1 }, ['x']],
    ['an object behind a preparation', z.preprocess((value) => value, tier), { x: 1 }, ['x']],
    ['elements', z.object({ tiers: z.array(tier) }), { tiers: [{ up_to: 1 }, { x: 1 }] }, ['tiers.1.x']],
    ['values of a map', z.record(z.string(), tier), { any: { x: 1 } }, ['any.x']],
    ['the alternative that fits best', z.union([z.string(), tier, z.object({ x: z.int() })]), { x: 1, y: 1 }, ['y']],
    ['the alternative that is a list', z.union([z.string(), z.array(tier)]), [{ x: 1 }], ['0.x']],
    ['a closed object', z.strictObject({ a: z.string() }), { a: 'a', b: 'b' }, ['b']],
  ])('of %s are found', (_name, schema, value, unknown) => {
    expect(unknownIn(schema, value)).toEqual(unknown);
  });

  it.each<[string, z.ZodType, unknown]>([
    ['an open object', z.looseObject({ a: z.string() }), { b: 1 }],
    ['a map', z.object({ metadata: z.record(z.string(), z.string()) }), { metadata: { b: '1' } }],
    ['an alternative that takes anything', z.union([tier, z.unknown()]), { x: 1 }],
    ['a value of another type', z.object({ tier }), { tier: 'none' }],
    ['what is empty', tier, { a: null, b: '', c: [], d: {} }],
  ])('are none in %s', (_name, schema, value) => {
    expect(unknownIn(schema, value)).toEqual([]);
  });

  it('that are numbers no float holds are not empty', () => {
    expect(unknownIn(tier, { amount: JSON.rawJSON('12345678901234567890.5') })).toEqual(['amount']);
  });
});

it.each([
  ['trial_perod_days', ['trial_start', 'trial_period_days'], 'trial_period_days'],
  ['customer_idd', ['customer_ids', 'customer_id', 'currency'], 'customer_ids'],
  ['subscription_id', ['customer_ids', 'subscription_ids'], 'subscription_ids'],
  ['customer', ['currency', 'external_customer_id', 'customer_id'], 'customer_id'],
  ['anything', [], null],
])('the name nearest to %s of %j is %s', (name, known, nearest) => {
  expect(nearestOf(name, known)).toBe(nearest);
});
