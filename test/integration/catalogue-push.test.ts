import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accountWithRoles } from '../support/account.ts';
import { testApp } from '../support/app.ts';
import { created } from '../support/billing.ts';
import { testDatabase } from '../support/database.ts';

const base = await testDatabase();
const { api } = await testApp(base);

interface Change {
  action: string;
  noun: string;
  name: string;
  fields: { field: string; from: unknown; to: unknown }[];
}

type Document = Record<string, Record<string, unknown>[]>;

const push = (catalogue: unknown, options: Record<string, unknown> = {}) =>
  api<{ applied: boolean; changes: Change[]; details: { fields: Record<string, string> }; message: string }>(
    'POST',
    '/catalogue/push',
    { catalogue, ...options },
  );
const pull = async () => (await api<Document>('GET', '/catalogue')).body;
const done = async (catalogue: unknown, options: Record<string, unknown> = {}) => {
  const { status, body } = await push(catalogue, options);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.changes.map(({ action, name }) => `${action} ${name}`);
};

const seats = {
  key: 'pro-seats',
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'usd',
  amount: '30',
};
const calls = {
  key: 'pro-calls',
  display_name: 'Calls to the API',
  type: 'USAGE',
  billing_model: 'TIERED',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ARREAR',
  currency: 'usd',
  tier_mode: 'SLAB',
  tiers: [
    { up_to: 1000, unit_amount: '0.01' },
    { unit_amount: '0.005', flat_amount: '2' },
  ],
  feature: 'api_calls',
  filter_values: { region: ['eu'] },
  group: 'compute',
};
const tokens = {
  key: 'pro-tokens',
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'usd',
  price_unit_config: { price_unit: 'tok', amount: '100' },
};
const catalogue = {
  price_units: [{ code: 'tok', name: 'Tokens', symbol: 'T', base_currency: 'usd', conversion_rate: '0.02' }],
  groups: [{ key: 'compute', name: 'Compute', entity_type: 'price' }],
  features: [
    {
      key: 'api_calls',
      name: 'API calls',
      type: 'metered',
      unit_singular: 'call',
      unit_plural: 'calls',
      meter: {
        name: 'API calls',
        event_name: 'api_call',
        aggregation: { type: 'COUNT' },
        filters: [{ key: 'region', values: ['eu', 'us'] }],
        reset_usage: 'BILLING_PERIOD',
      },
    },
    { key: 'sso', name: 'Single sign-on', type: 'boolean', metadata: { tier: '' } },
  ],
  plans: [
    {
      key: 'pro',
      name: 'Pro',
      description: 'For teams',
      display_order: 2,
      prices: [calls, seats, tokens],
      entitlements: [{ feature: 'api_calls', usage_limit: 1000, usage_reset_period: 'MONTHLY' }, { feature: 'sso' }],
    },
  ],
  addons: [
    { key: 'support', name: 'Support', type: 'onetime', prices: [{ ...seats, key: 'support-fee', amount: '9.5' }] },
  ],
};

function changed(edit: (copy: typeof catalogue) => void): typeof catalogue {
  const copy = structuredClone(catalogue);
  edit(copy);
  return copy;
}

describe('a catalogue in a file', () => {
  test('is made as it says, read back as it was written, and made once', async () => {
    const dry = await push(catalogue, { dry_run: true });
    expect(dry.body).toMatchObject({ applied: false });
    expect(await pull()).toEqual({ price_units: [], groups: [], features: [], plans: [], addons: [] });
    const { body } = await push(catalogue);
    expect(body.changes).toEqual(dry.body.changes);
    expect(body.changes.map(({ action }) => action)).toEqual(Array(12).fill('create'));
    expect(await pull()).toEqual(catalogue);
    expect(await done(catalogue)).toEqual([]);
    expect(await done(await pull())).toEqual([]);
  });

  test('a changed price is a successor, and the old one keeps its values', async () => {
    const dearer = changed(({ plans }) => Object.assign(plans[0]!.prices[1]!, { amount: '35' }));
    const { body } = await push(dearer);
    expect(body.changes).toMatchObject([
      {
        action: 'supersede',
        name: 'plan pro / price pro-seats',
        fields: [{ field: 'amount', from: '30', to: '35' }],
      },
    ]);
    const [plan] = (await api<{ items: { id: string }[] }>('POST', '/plans/search', { lookup_key: 'pro' })).body.items;
    const { body: whole } = await api<{ prices: Record<string, unknown>[] }>('GET', `/plans/${plan!.id}`);
    const chain = whole.prices.filter(({ lookup_key }) => lookup_key === 'pro-seats');
    expect(chain.map(({ amount, end_date }) => [amount, end_date !== null]).sort()).toEqual([
      ['30', true],
      ['35', false],
    ]);
    expect(await pull()).toEqual(dearer);
    const moreTokens = changed(({ plans, price_units }) => {
      Object.assign(plans[0]!.prices[2]!, { price_unit_config: { price_unit: 'tok', amount: '120' } });
      Object.assign(price_units[0]!, { conversion_rate: '0.03' });
    });
    expect(await done(moreTokens)).toEqual([
      'update price unit tok',
      'supersede plan pro / price pro-seats',
      'supersede plan pro / price pro-tokens',
    ]);
    expect(await pull()).toEqual(moreTokens);
    expect(await done(catalogue)).toHaveLength(2);
  });

  test('what a price is about is changed by ending it and making another, words in place', async () => {
    const inEuro = changed(({ plans }) => Object.assign(plans[0]!.prices[1]!, { currency: 'eur' }));
    expect(await done(inEuro)).toEqual(['replace plan pro / price pro-seats']);
    expect(await pull()).toEqual(inEuro);
    expect(await done(catalogue)).toEqual(['replace plan pro / price pro-seats']);
    const reworded = changed(({ plans, features }) => {
      Object.assign(plans[0]!, { name: 'Professional' });
      Object.assign(features[1]!, { description: 'SAML' });
      Object.assign(plans[0]!.entitlements[0]!, { usage_limit: 2000 });
    });
    expect(await done(reworded)).toEqual([
      'update feature sso',
      'update plan pro',
      'update plan pro / price pro-seats',
      'update plan pro / price pro-tokens',
      'update plan pro / entitlement api_calls',
    ]);
    expect(await pull()).toEqual(reworded);
    expect(await done(reworded)).toEqual([]);
    await done(catalogue);
  });

  test('what it leaves out stays until it is told to go', async () => {
    const smaller = changed((copy) => {
      copy.plans[0]!.prices.shift();
      copy.plans[0]!.entitlements.pop();
      copy.addons = [];
    });
    const kept = ['keep plan pro / price pro-calls', 'keep plan pro / entitlement sso', 'keep add-on support'];
    expect(await done(smaller)).toEqual(kept);
    expect(await pull()).toEqual(catalogue);
    expect(await done({ plans: [{ key: 'pro', name: 'Pro', description: 'For teams', display_order: 2 }] })).toEqual(
      [],
    );
    const gone = [...kept.map((line) => line.replace('keep', 'remove')), 'remove add-on support / price support-fee'];
    expect(await done(smaller, { prune: true })).toEqual(gone);
    expect(await pull()).toEqual(smaller);
    await done(catalogue);
    expect(await pull()).toEqual(catalogue);
  });

  test('every problem is named with its place, and nothing is written', async () => {
    const before = await pull();
    const bad = changed((copy) => {
      Object.assign(copy.groups[0]!, { name: 'Other' });
      Object.assign(copy.features[0]!.meter!, { event_name: 'other' });
      copy.plans[0]!.prices.push({ ...calls, key: 'unknown-feature', feature: 'nothing' } as never);
      copy.plans[0]!.prices.push({ ...seats, key: 'no-amount', amount: undefined } as never);
      copy.plans[0]!.prices.push({ ...seats } as never);
      copy.plans.push({ key: 'fresh', name: 'Fresh', prices: [], entitlements: [{ feature: 'none' }] } as never);
    });
    const { status, body } = await push(bad);
    expect(status).toBe(400);
    expect(Object.keys(body.details.fields).sort()).toEqual([
      'catalogue.features[0].meter',
      'catalogue.groups[0].name',
      'catalogue.plans[0].prices[3].feature',
      'catalogue.plans[0].prices[4].amount',
      'catalogue.plans[0].prices[5].key',
      'catalogue.plans[1].entitlements[0].feature',
    ]);
    expect(await pull()).toEqual(before);
    const malformed = await push({ plans: [{ key: 'x', name: 1, prices: [{ ...seats, amount: 'much' }] }], what: [] });
    expect(Object.keys(malformed.body.details.fields)).toEqual(
      expect.arrayContaining(['catalogue.plans[0].name', 'catalogue.plans[0].prices[0].amount', 'catalogue']),
    );
  });

  test('what something depends on is not removed', async () => {
    const { status, body } = await push({ features: [catalogue.features[0]] }, { prune: true });
    expect(status).toBe(400);
    expect(body.details.fields['catalogue.features']).toContain('feature sso cannot be removed');
  });

  test('an object without a key is known by its id until the file gives it one', async () => {
    const { id } = await created(api, '/plans', { name: 'Old' });
    const nameless = (await pull()).plans?.at(-1);
    expect(nameless).toEqual({ id, name: 'Old' });
    expect(await done({ plans: [{ id, key: 'old', name: 'Older' }] })).toContain(`update plan ${id}`);
    expect((await pull()).plans).toContainEqual({ key: 'old', name: 'Older' });
    const gone = await push({ plans: [{ id: 'plan_unknown', name: 'x' }] });
    expect(gone.body.details.fields).toMatchObject({ 'catalogue.plans[0].id': expect.stringContaining('no plan') });
    await api('DELETE', `/plans/${id}`);
  });

  test('a push needs what the single operations need', async () => {
    const { apiKey } = await accountWithRoles(base.database, base.scope, ['reader']);
    const refused = await api('POST', '/catalogue/push', { catalogue }, { 'x-api-key': apiKey });
    expect(refused.status).toBe(403);
  });
});

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
