import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { catalogue, flatPrice } from './catalogue.fixture.ts';

const api = await testApi();
const { call, scope } = api;
const { createPlan, createPrice, createFeature, audited, emitted } = catalogue(api);

let count = 0;
async function createGroup(entityType: 'price' | 'feature', fields: object = {}) {
  const key = `group-${++count}`;
  const body = { name: key, lookup_key: key, entity_type: entityType, ...fields };
  const answer = await call('POST', '/v1/groups', { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}
const membersOf = async (id: string) => (await call('GET', `/v1/groups/${id}`)).body.entity_ids;

describe('groups', () => {
  it('are created with every documented key and no member, and are audited but not announced', async () => {
    const group = await createGroup('price', { name: 'Compute', lookup_key: 'compute' });
    expect(group).toEqual({
      id: expect.stringMatching(/^group_/),
      tenant_id: scope.tenantId,
      environment_id: scope.environmentId,
      status: 'published',
      created_at: expect.any(String),
      created_by: scope.actor,
      updated_at: group.created_at,
      updated_by: scope.actor,
      name: 'Compute',
      entity_type: 'price',
      lookup_key: 'compute',
      entity_ids: [],
      metadata: {},
    });
    expect((await call('GET', `/v1/groups/${group.id}`)).body).toEqual(group);
    expect(await audited(group.id)).toEqual(['created']);
    expect(await emitted(group.id)).toEqual([]);
  });

  it('refuse another type, a missing member and a taken lookup key', async () => {
    const good = { name: 'x', entity_type: 'price', lookup_key: 'refused' };
    for (const [body, word] of [
      [{ ...good, entity_type: 'plan' }, 'entity_type'],
      [{ ...good, name: undefined }, 'name'],
      [{ ...good, name: ' ' }, 'name'],
      [{ ...good, lookup_key: '' }, 'lookup_key'],
      [{ ...good, entity_type: undefined }, 'entity_type'],
    ] as const) {
      const answer = await call('POST', '/v1/groups', { body });
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
      expect(answer.body.message).toContain(word);
    }
    const first = await createGroup('price', { lookup_key: 'twice' });
    const taken = { name: 'x', entity_type: 'feature', lookup_key: 'twice' };
    expect(await call('POST', '/v1/groups', { body: taken })).toMatchObject({
      status: 409,
      body: { code: 'already_exists', message: expect.stringContaining('twice') },
    });
    await call('DELETE', `/v1/groups/${first.id}`);
    expect((await call('POST', '/v1/groups', { body: taken })).status).toBe(201);
  });

  it('are found by id, name, key and type', async () => {
    const compute = await createGroup('price', { name: 'Search compute' });
    const limits = await createGroup('feature', { name: 'Search limits' });
    const found = async (body: object) => {
      const answer = await call('POST', '/v1/groups/search', { body: { order: 'asc', ...body } });
      return answer.body.items.map((group: { id: string }) => group.id);
    };
    expect(await found({ group_ids: [compute.id, limits.id] })).toEqual([compute.id, limits.id]);
    expect(await found({ group_ids: [compute.id, limits.id], entity_type: 'feature' })).toEqual([limits.id]);
    expect(await found({ name: 'Search compute' })).toEqual([compute.id]);
    expect(await found({ lookup_key: limits.lookup_key })).toEqual([limits.id]);
    const page = await call('POST', '/v1/groups/search', { body: { group_ids: [compute.id], limit: 1 } });
    expect(page.body.pagination).toEqual({ limit: 1, offset: 1, total: 1 });
  });
});

describe('membership of prices', () => {
  it('is set at creation, changed and cleared in place, and shown expanded', async () => {
    const plan = await createPlan();
    const one = await createGroup('price');
    const two = await createGroup('price');
    const price = await createPrice(plan, { group_id: one.id });
    expect(price).toMatchObject({ group_id: one.id, group: { id: one.id, name: one.name, entity_ids: null } });
    const other = await createPrice(plan, { group_id: one.id });
    expect(await membersOf(one.id)).toEqual([price.id, other.id]);

    const moved = await call('PUT', `/v1/prices/${price.id}`, { body: { group_id: two.id } });
    expect(moved.body).toMatchObject({ id: price.id, group_id: two.id, group: { id: two.id } });
    expect(await membersOf(one.id)).toEqual([other.id]);
    const listed = await call('POST', '/v1/prices/search', { body: { price_ids: [price.id], expand: 'groups' } });
    expect(listed.body.items[0].group.id).toBe(two.id);
    expect((await call('GET', `/v1/prices?price_ids=${price.id}`)).body.items[0]).toMatchObject({ group: null });

    const cleared = await call('PUT', `/v1/prices/${price.id}`, { body: { group_id: '' } });
    expect(cleared.body).toMatchObject({ id: price.id, group_id: null, group: null });
    expect(await membersOf(two.id)).toEqual([]);
  });

  it('goes with a supersession, unless that names another, and with a clone of the plan', async () => {
    const plan = await createPlan();
    const group = await createGroup('price');
    const price = await createPrice(plan, { group_id: group.id });
    const successor = await call('PUT', `/v1/prices/${price.id}`, { body: { amount: '2' } });
    expect(successor.body.group_id).toBe(group.id);
    const alone = await call('PUT', `/v1/prices/${successor.body.id}`, { body: { amount: '3', group_id: '' } });
    expect(alone.body).toMatchObject({ group_id: null, amount: 3 });
    await createPrice(plan, { group_id: group.id });
    const clone = await call('POST', `/v1/plans/${plan.id}/clone`, { body: { name: 'Copy', lookup_key: 'grouped' } });
    expect(clone.body.prices.map((copy: { group_id: string }) => copy.group_id)).toEqual([null, group.id]);
  });

  it('refuses a missing group, an archived one and one of features, and writes nothing', async () => {
    const plan = await createPlan();
    const price = await createPrice(plan);
    const archived = await createGroup('price');
    await call('DELETE', `/v1/groups/${archived.id}`);
    const ofFeatures = await createGroup('feature');
    for (const [group_id, word] of [
      ['group_none', 'does not exist'],
      [archived.id, 'archived'],
      [ofFeatures.id, 'type feature'],
    ]) {
      const create = await call('POST', '/v1/prices', { body: { ...flatPrice, plan_id: plan.id, group_id } });
      const update = await call('PUT', `/v1/prices/${price.id}`, { body: { group_id, description: 'x' } });
      for (const { status, body } of [create, update]) {
        expect({ status, code: body.code }).toEqual({ status: 400, code: 'validation_error' });
        expect(body.message).toMatch(new RegExp(`^group_id .*${word}`));
      }
    }
    expect((await call('GET', `/v1/plans/${plan.id}`)).body.prices).toMatchObject([
      { id: price.id, description: null },
    ]);
  });
});

describe('membership of features', () => {
  it('is set at creation, changed, cleared, copied and shown expanded', async () => {
    const group = await createGroup('feature');
    const feature = await createFeature({ group_id: group.id });
    expect(feature).toMatchObject({ group_id: group.id, group: { id: group.id } });
    const copy = await call('POST', `/v1/features/${feature.id}/clone`, {
      body: { name: 'Copy', lookup_key: 'copied' },
    });
    expect(copy.body.group_id).toBe(group.id);
    expect(await membersOf(group.id)).toEqual([feature.id, copy.body.id]);
    const kept = await call('PUT', `/v1/features/${feature.id}`, { body: { description: 'x' } });
    expect(kept.body.group_id).toBe(group.id);
    const cleared = await call('PUT', `/v1/features/${feature.id}`, { body: { group_id: '' } });
    expect(cleared.body).toMatchObject({ group_id: null, group: null });
    expect((await emitted(feature.id)).at(-1)).toMatchObject({ feature: { group_id: null } });
  });

  it('refuses a missing group, an archived one and one of prices', async () => {
    const feature = await createFeature();
    const archived = await createGroup('feature');
    await call('DELETE', `/v1/groups/${archived.id}`);
    const ofPrices = await createGroup('price');
    for (const group_id of ['group_none', archived.id, ofPrices.id]) {
      const create = await call('POST', '/v1/features', { body: { name: 'x', type: 'boolean', group_id } });
      const update = await call('PUT', `/v1/features/${feature.id}`, { body: { group_id } });
      for (const { status, body } of [create, update]) {
        expect({ status, code: body.code }).toEqual({ status: 400, code: 'validation_error' });
        expect(body.message).toContain('group_id');
      }
    }
  });
});

describe('DELETE /groups/{id}', () => {
  it('archives the group, lets its members go, stays readable and may be repeated', async () => {
    const plan = await createPlan();
    const group = await createGroup('price');
    const price = await createPrice(plan, { group_id: group.id });
    const deleted = await call('DELETE', `/v1/groups/${group.id}`);
    expect(deleted).toMatchObject({ status: 204 });
    expect(deleted.body ?? '').toBe('');
    expect((await call('GET', `/v1/groups/${group.id}`)).body).toMatchObject({ status: 'archived', entity_ids: [] });
    expect((await call('GET', `/v1/prices/${price.id}`)).body).toMatchObject({ group_id: null, group: null });
    expect(await audited(price.id)).toEqual(['created', 'updated']);
    expect((await call('DELETE', `/v1/groups/${group.id}`)).status).toBe(204);
    expect(await audited(group.id)).toEqual(['created', 'archived']);
    const listed = await call('POST', '/v1/groups/search', { body: { group_ids: [group.id] } });
    expect(listed.body.items).toEqual([]);
  });

  it('answers 404 for an unknown group', async () => {
    expect(await call('DELETE', '/v1/groups/group_none')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await call('GET', '/v1/groups/group_none')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('leaves no member behind while others join or supersede', async () => {
    const plan = await createPlan();
    const group = await createGroup('price');
    const price = await createPrice(plan, { group_id: group.id });
    const joining = () => call('POST', '/v1/prices', { body: { ...flatPrice, plan_id: plan.id, group_id: group.id } });
    const superseding = call('PUT', `/v1/prices/${price.id}`, { body: { amount: '5' } });
    const [removed, , ...joined] = await Promise.all([
      call('DELETE', `/v1/groups/${group.id}`),
      superseding,
      joining(),
      joining(),
    ]);
    expect(removed.status).toBe(204);
    for (const answer of joined) expect([201, 400]).toContain(answer.status);
    expect(await membersOf(group.id)).toEqual([]);
  });
});
