import pg from 'pg';
import { expect, test } from 'vitest';
import { poll } from '../../../dev/processes.ts';
import { retry } from '../../../workflows/lifecycle.messages.ts';
import { progress } from '../../../workflows/platform/environment-clone.messages.ts';
import { created, testPlatform } from '../../support/billing.ts';
import { cloning, countOf, flat, type Place, usage, type Wire } from './environment-clone.fixture.ts';

const { api, base, temporal } = await testPlatform();
const { environment, begin, clone, latest, rows, allow } = cloning(api, base, temporal);
await allow();

const counts = (cloned: number, skipped: number, failed: number) => ({ cloned, skipped, failed });
const planIn = (place: Place, fields: object = {}) =>
  created<Wire>(place.api, '/plans', { name: 'Pro', lookup_key: 'pro', ...fields });
const priceIn = (place: Place, plan: { id: string }, fields: object = {}) =>
  created<Wire>(place.api, '/prices', { ...flat, entity_type: 'PLAN', entity_id: plan.id, ...fields });
const calls = { name: 'Calls', type: 'metered', lookup_key: 'calls', meter: countOf('call') };
const token = { name: 'Token', code: 't0k', symbol: 'T', base_currency: 'usd', conversion_rate: '0.02' };
const inTokens = {
  amount: undefined,
  price_unit_type: 'CUSTOM',
  price_unit_config: { price_unit: 't0k', amount: '100' },
};

interface Failure {
  what: string;
  /** What stands in the way; answers the id of the item that cannot be copied. */
  given(from: Place, to: Place): Promise<string>;
  entity: 'feature' | 'plan';
  message: RegExp;
}

const failures: Failure[] = [
  {
    what: 'a price whose lookup key another price of the target holds',
    entity: 'plan',
    message: /^price price_\w+: lookup_key fee is taken by another published price without an end/,
    async given(from, to) {
      await priceIn(to, await planIn(to, { lookup_key: 'theirs' }), { lookup_key: 'fee' });
      const plan = await planIn(from);
      await priceIn(from, plan);
      await priceIn(from, plan, { lookup_key: 'fee' });
      return plan.id;
    },
  },
  {
    what: 'a feature whose group is one of prices in the target',
    entity: 'feature',
    message: /^group_id names group group_\w+ of type price; a feature needs one of type feature/,
    async given(from, to) {
      await created(to.api, '/groups', { name: 'Use', lookup_key: 'use', entity_type: 'price' });
      const group = await created(from.api, '/groups', { name: 'Use', lookup_key: 'use', entity_type: 'feature' });
      return (await created(from.api, '/features', { ...calls, group_id: group.id })).id;
    },
  },
  {
    what: 'a feature whose meter was archived alone',
    entity: 'feature',
    message: /^meter meter_\w+ is archived and not copied; archive the feature of it and end the prices on it/,
    async given(from) {
      const feature = await created<Wire>(from.api, '/features', calls);
      await from.api('DELETE', `/meters/${feature.meter_id}`);
      return feature.id;
    },
  },
  {
    what: 'an entitlement of a feature that is of another type in the target',
    entity: 'plan',
    message: /^feature feat_\w+ is boolean, but feat_\w+ of the target with the same lookup_key sso is static$/,
    async given(from, to) {
      await created(to.api, '/features', { name: 'SSO', type: 'static', lookup_key: 'sso' });
      const feature = await created(from.api, '/features', { name: 'SSO', type: 'boolean', lookup_key: 'sso' });
      const plan = await planIn(from);
      const entitled = { plan_id: plan.id, feature_id: feature.id, feature_type: 'boolean', is_enabled: true };
      await created(from.api, '/entitlements', entitled);
      return plan.id;
    },
  },
  {
    what: 'a price in buckets on a meter of the target that has none',
    entity: 'plan',
    message: /^price price_\w+: bucket_size DAY needs a meter of type SUM or MAX; meter_\w+ of the target is COUNT$/,
    async given(from, to) {
      await created(to.api, '/features', calls);
      const aggregation = { type: 'MAX', field: 'seats' };
      const feature = await created<Wire>(from.api, '/features', {
        ...calls,
        meter: { ...countOf('call'), aggregation },
      });
      const plan = await planIn(from);
      await priceIn(from, plan, { ...usage, meter_id: feature.meter_id, bucket_size: 'DAY' });
      return plan.id;
    },
  },
  {
    what: 'a price in a custom currency of another base currency in the target',
    entity: 'plan',
    message: /^price price_\w+: currency must be eur, the base currency of price unit t0k$/,
    async given(from, to) {
      await created(to.api, '/prices/units', { ...token, base_currency: 'eur' });
      await created(from.api, '/prices/units', token);
      const plan = await planIn(from);
      await priceIn(from, plan, inTokens);
      return plan.id;
    },
  },
  {
    what: 'a price in a custom currency that is archived',
    entity: 'plan',
    message:
      /^price unit t0k is archived and not copied; create one of this code in the target, or end the prices in it$/,
    async given(from) {
      const unit = await created(from.api, '/prices/units', token);
      const plan = await planIn(from);
      await priceIn(from, plan, inTokens);
      await from.api('DELETE', `/prices/units/${unit.id}`);
      return plan.id;
    },
  },
];

test.each(failures)('$what fails by itself: nothing of it is there, and the rest is copied', async (failure) => {
  const [from, to] = [await environment('From'), await environment('To')];
  const id = await failure.given(from, to);
  await created(from.api, '/features', { name: 'Other', type: 'boolean', lookup_key: 'other' });
  await planIn(from, { name: 'Other', lookup_key: 'other' });
  const before = await rows('select count(*)::int as n from price where environment_id = $1', [to.id]);
  const run = await clone(from, { target_environment_id: to.id });
  expect(run.errors).toEqual([
    { entity_type: failure.entity, entity_id: id, message: expect.stringMatching(failure.message) },
  ]);
  const failed = { feature: run.features.failed, plan: run.plans.failed };
  expect(failed).toEqual({ feature: 0, plan: 0, [failure.entity]: 1 });
  for (const list of ['/features', '/plans']) {
    const keys = (await to.all(list)).map(({ lookup_key }) => lookup_key);
    expect(keys).toContain('other');
    if (list === `/${failure.entity}s`) expect(keys).not.toContain(failure.entity === 'plan' ? 'pro' : 'calls');
  }
  expect(await rows('select count(*)::int as n from price where environment_id = $1', [to.id])).toEqual(before);
});

test('what failed is copied by the next clone, when the cause is gone', async () => {
  const [from, to] = [await environment('From'), await environment('To')];
  const into = { target_environment_id: to.id };
  const theirs = await priceIn(to, await planIn(to, { lookup_key: 'theirs' }), { lookup_key: 'fee' });
  await priceIn(from, await planIn(from), { lookup_key: 'fee' });
  expect(await clone(from, into)).toMatchObject({ plans: counts(0, 0, 1) });
  await to.api('DELETE', `/prices/${theirs.id}`);
  expect(await clone(from, into)).toMatchObject({ plans: counts(1, 0, 0), errors: [] });
});

test('a plan whose feature could not be copied says so, and a reason that nobody foresaw is not told outside', async () => {
  const [from, to] = [await environment('From'), await environment('To')];
  const feature = await created<Wire>(from.api, '/features', calls);
  const plan = await planIn(from);
  await priceIn(from, plan, { ...usage, meter_id: feature.meter_id });
  const guard = `environment_id <> '${to.id}' or lookup_key <> 'calls'`;
  await asOwner(`alter table feature add constraint secret_reason check (${guard}) not valid`);
  const run = await clone(from, { target_environment_id: to.id });
  expect(run.errors).toEqual([
    {
      entity_type: 'feature',
      entity_id: feature.id,
      message: expect.stringMatching(/^could not be copied for a reason/),
    },
    {
      entity_type: 'plan',
      entity_id: plan.id,
      message: `meter ${feature.meter_id} belongs to feature ${feature.id}, which the target does not have; see why it was not copied, and clone again`,
    },
  ]);
  await asOwner('alter table feature drop constraint secret_reason');
});

test('a run that cannot go on at all waits for a person and tells why, and blocks no other pair', async () => {
  const [from, to] = [await environment('From'), await environment('To')];
  await planIn(from);
  await asOwner('alter table environment_clone rename to environment_clone_away');
  const { body } = await begin(from, { target_environment_id: to.id });
  const run = temporal.client.workflow.getHandle(body.workflow_id);
  const parked = await poll(async () => (await run.query(progress)).blockedOn ?? undefined, 30_000);
  expect(parked).toMatch(/environment_clone/);
  const { searchAttributes } = await run.describe();
  expect(searchAttributes).toMatchObject({
    BlockedOn: ['cloneItems'],
    EnvironmentId: [to.id],
    ObjectStatus: ['running'],
  });
  await asOwner('alter table environment_clone_away rename to environment_clone');
  expect(await run.executeUpdate(retry)).toEqual({ performing: 'cloneItems' });
  expect(await run.result()).toMatchObject({ target_environment_id: to.id, plans: counts(1, 0, 0) });
  expect(await latest(from, to.id)).toMatchObject({ clone_status: 'completed', plans: counts(1, 0, 0) });
});

async function asOwner(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: base.ownerUrl });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
