import { describe, expect, test } from 'vitest';
import { accountWithRoles } from '../../support/account.ts';
import { testApp } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import { testDatabase } from '../../support/database.ts';
import { catalogueFile } from './catalogue-push.fixture.ts';

const base = await testDatabase();
const { api } = await testApp(base);
const { done, pull, push } = catalogueFile(api);

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
