import { describe, expect, test } from 'vitest';
import { created, testPlatform } from '../../support/billing.ts';
import { cloning, countOf, flat, marks, type Place, usage, type Wire } from './environment-clone.fixture.ts';

const { api, base, temporal } = await testPlatform();
const { environment, clone, allow } = cloning(api, base, temporal);
await allow();

/** Two environments of which the first is cloned into the second. */
async function pair() {
  const [from, to] = [await environment('From'), await environment('To')];
  return { from, to, into: { target_environment_id: to.id } };
}
const planIn = (place: Place, fields: object = {}) => created<Wire>(place.api, '/plans', { name: 'Pro', ...fields });
const priceOf = (place: Place, plan: { id: string }, fields: object) =>
  created<Wire>(place.api, '/prices', { ...flat, entity_type: 'PLAN', entity_id: plan.id, ...fields });
const metered = (place: Place, fields: object = {}) =>
  created<Wire>(place.api, '/features', { name: 'Calls', type: 'metered', lookup_key: 'calls', ...fields });
const pricesIn = async (place: Place) => (await place.all('/plans?expand=prices')).flatMap((plan) => plan.prices);
const counts = (cloned: number, skipped: number, failed: number) => ({ cloned, skipped, failed });

describe('what the target has already', () => {
  test('is skipped by its lookup key, and what is copied refers to it', async () => {
    const { from, to, into } = await pair();
    const { meter_id } = await metered(from, { meter: countOf('call') });
    const plan = await planIn(from, { lookup_key: 'pro' });
    await priceOf(from, plan, { ...usage, meter_id });
    await planIn(from, { lookup_key: 'basic' });
    const theirs = await metered(to, { name: 'Theirs', meter: countOf('other') });
    await planIn(to, { name: 'Their Basic', lookup_key: 'basic' });
    const run = await clone(from, into);
    expect(run).toMatchObject({ features: counts(0, 1, 0), plans: counts(1, 1, 0) });
    expect(await pricesIn(to)).toMatchObject([{ meter_id: theirs.meter_id }]);
    expect(await to.all('/meters')).toHaveLength(1);
    expect((await to.all('/plans')).map(({ name }) => name).sort()).toEqual(['Pro', 'Their Basic']);
  });

  test('without a lookup key is recognised as a copy', async () => {
    const { from, to, into } = await pair();
    const plans = [await planIn(from, { name: 'One' }), await planIn(from, { name: 'Two' })];
    expect(await clone(from, into)).toMatchObject({ plans: counts(2, 0, 0) });
    expect(await clone(from, into)).toMatchObject({ plans: counts(0, 2, 0) });
    expect((await to.all('/plans')).map(({ metadata }) => metadata)).toEqual(
      plans.map((plan) => marks('plan', plan, from)),
    );
  });

  test('but archived is copied again', async () => {
    const { from, to, into } = await pair();
    await metered(from, { meter: countOf('call') });
    await planIn(from, { lookup_key: 'pro' });
    await clone(from, into);
    const [[plan], [feature]] = [await to.all('/plans'), await to.all('/features')];
    await to.api('DELETE', `/plans/${plan.id}`);
    await to.api('DELETE', `/features/${feature.id}`);
    expect(await clone(from, into)).toMatchObject({ features: counts(1, 0, 0), plans: counts(1, 0, 0) });
    const [again] = await to.all('/features?status=published');
    expect(again.meter_id).not.toBe(feature.meter_id);
  });

  test('and what a chain of clones brought says where it came from last', async () => {
    const { from, to, into } = await pair();
    const third = await environment('Third');
    await planIn(from, { lookup_key: 'pro' });
    await clone(from, into);
    await clone(to, { target_environment_id: third.id });
    const [[middle], [last]] = [await to.all('/plans'), await third.all('/plans')];
    expect(last.metadata).toEqual(marks('plan', middle, to));
  });
});

describe('what is not published', () => {
  test('stays behind: archived features and plans, ended prices, removed entitlements and grants', async () => {
    const { from, to, into } = await pair();
    const plan = await planIn(from, { lookup_key: 'pro' });
    const ended = await priceOf(from, plan, {});
    await from.api('DELETE', `/prices/${ended.id}`);
    await priceOf(from, plan, { amount: '31' });
    const feature = await created<Wire>(from.api, '/features', { name: 'SSO', type: 'boolean' });
    const entitlement = await created<Wire>(from.api, '/entitlements', {
      plan_id: plan.id,
      feature_id: feature.id,
      feature_type: 'boolean',
      is_enabled: true,
    });
    await from.api('DELETE', `/entitlements/${entitlement.id}`);
    const grant = await created<Wire>(from.api, '/creditgrants', {
      name: 'Gone',
      scope: 'PLAN',
      plan_id: plan.id,
      cadence: 'ONETIME',
      credits: '1',
    });
    await from.api('DELETE', `/creditgrants/${grant.id}`);
    await from.api('DELETE', `/features/${feature.id}`);
    await from.api('DELETE', `/plans/${(await planIn(from, { name: 'Old' })).id}`);
    expect(await clone(from, into)).toMatchObject({ features: counts(0, 0, 0), plans: counts(1, 0, 0), errors: [] });
    const [copy] = await to.all('/plans?expand=prices,entitlements,credit_grant');
    expect(copy).toMatchObject({ prices: [{ amount: '31' }], entitlements: [], credit_grants: [] });
  });
});

describe('prices', () => {
  test('keep their dates, and those that supersede each other their chain', async () => {
    const { from, to, into } = await pair();
    const plan = await planIn(from);
    const first = await priceOf(from, plan, { lookup_key: 'fee' });
    const soon = new Date(Date.now() + 86_400_000).toISOString();
    const later = new Date(Date.now() + 2 * 86_400_000).toISOString();
    const now = await from.api<Wire>('PUT', `/prices/${first.id}`, { amount: '40' });
    const next = await from.api<Wire>('PUT', `/prices/${now.body.id}`, { amount: '50', effective_from: soon });
    await from.api('PUT', `/prices/${next.body.id}`, { amount: '60', effective_from: later });
    await clone(from, into);
    const copies = await pricesIn(to);
    expect(copies.map(({ amount }) => amount)).toEqual(['40', '50', '60']);
    expect(copies).toMatchObject([
      { parent_price_id: null, end_date: soon },
      { parent_price_id: copies[0].id, start_date: soon, end_date: later },
      { parent_price_id: copies[0].id, start_date: later, end_date: null, lookup_key: 'fee' },
    ]);
  });

  test('in a custom currency of the target are worth what it is worth there', async () => {
    const { from, to, into } = await pair();
    const unit = { name: 'Token', code: 't0k', symbol: 'T', base_currency: 'usd' };
    await created(from.api, '/prices/units', { ...unit, conversion_rate: '0.02' });
    const theirs = await created<Wire>(to.api, '/prices/units', { ...unit, conversion_rate: '0.05' });
    const inTokens = { price_unit_type: 'CUSTOM', price_unit_config: { price_unit: 't0k', amount: '100' } };
    await priceOf(from, await planIn(from), { amount: undefined, ...inTokens });
    await clone(from, into);
    expect(await pricesIn(to)).toMatchObject([
      { amount: '5', price_unit_amount: '100', price_unit_id: theirs.id, conversion_rate: '0.05' },
    ]);
  });

  test('of a meter without a feature bring it along, once', async () => {
    const { from, to, into } = await pair();
    const meter = await created<Wire>(from.api, '/meters', countOf('bare'));
    for (const name of ['One', 'Two'])
      await priceOf(from, await planIn(from, { name }), { ...usage, meter_id: meter.id });
    await clone(from, into);
    const [copy, ...others] = await to.all('/meters');
    expect([copy.event_name, others]).toEqual(['bare', []]);
    expect((await pricesIn(to)).map(({ meter_id }) => meter_id)).toEqual([copy.id, copy.id]);
  });

  test('and features of one meter share its copy', async () => {
    const { from, to, into } = await pair();
    const { meter_id } = await metered(from, { meter: countOf('call') });
    await metered(from, { name: 'Calls too', lookup_key: 'too', meter_id });
    await clone(from, into);
    const [one, other] = await to.all('/features');
    expect(one.meter_id).toBe(other.meter_id);
    expect(await to.all('/meters')).toHaveLength(1);
  });
});
