import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testApp } from '../../support/app.ts';
import { testDatabase } from '../../support/database.ts';
import { catalogueFile, type Document } from './catalogue-push.fixture.ts';

const base = await testDatabase();
const { api } = await testApp(base);
const { done, pull } = catalogueFile(api);

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const amount = fc.integer({ min: 0, max: 99_999 }).map((cents) => String(cents / 100));
const priceOf = (owner: string) =>
  fc.uniqueArray(
    fc.record({
      key: word.map((name) => `${owner}-${name}`),
      type: fc.constant('FIXED'),
      billing_model: fc.constant('FLAT_FEE'),
      billing_period: fc.constantFrom('MONTHLY', 'ANNUAL'),
      invoice_cadence: fc.constantFrom('ADVANCE', 'ARREAR'),
      currency: fc.constantFrom('usd', 'eur'),
      amount,
    }),
    { maxLength: 3, selector: ({ key }) => key },
  );
const entries = <Entry extends { key: string }>(entry: fc.Arbitrary<Entry>) =>
  fc.uniqueArray(entry, { maxLength: 3, selector: ({ key }) => key });
// Of one key always of one type, which cannot be changed.
const featureOf = fc.tuple(word, word).map(([key, name]) => {
  const type = key < 'n' ? 'boolean' : 'metered';
  return withMeter({ key: `f-${key}`, name, type });
});
const catalogues = entries(featureOf).chain((features) => {
  const grants = fc.subarray(features.map(({ key }) => ({ feature: key })));
  const owner = (prefix: string) =>
    entries(word.map((name) => ({ key: `${prefix}-${name}` }))).chain((keys) =>
      fc.tuple(
        ...keys.map(({ key }) =>
          fc
            .record({ name: word, description: word, prices: priceOf(key), entitlements: grants })
            .map((own) => ({ key, ...own })),
        ),
      ),
    );
  return fc.record({ features: fc.constant(features), plans: owner('p'), addons: owner('a') });
});

function withMeter<Feature extends { key: string; type: string }>(feature: Feature) {
  const meter = { name: feature.key, event_name: 'e', aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' };
  return feature.type === 'metered' ? { ...feature, meter } : feature;
}

/** A document in the order and brevity of a pulled one. */
function canonical(document: Record<string, readonly Record<string, unknown>[]>): Document {
  const name = (entry: Record<string, unknown>) => String(entry.key ?? entry.feature);
  const list = (all: readonly Record<string, unknown>[]): Record<string, unknown>[] =>
    all.toSorted((a, b) => (name(a) < name(b) ? -1 : 1)).map(brief);
  const brief = (entry: Record<string, unknown>) => {
    const members = Object.entries(entry).filter(([, value]) => !(Array.isArray(value) && value.length === 0));
    return Object.fromEntries(
      members.map(([key, value]) => [key, key === 'prices' || key === 'entitlements' ? list(value as never) : value]),
    );
  };
  return Object.fromEntries(Object.entries(document).map(([section, all]) => [section, list(all)]));
}

test('whatever is pushed is pulled again, and pushing it again changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(catalogues, async (drawn) => {
      const document = { price_units: [], groups: [], ...drawn };
      await done(document, { prune: true });
      const pulled = await pull();
      expect(pulled).toEqual(canonical(document));
      expect(await done(document, { prune: true })).toEqual([]);
      expect(await done(pulled, { prune: true })).toEqual([]);
    }),
    { numRuns: 20 },
  );
});
