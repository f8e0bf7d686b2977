import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { updatePrice } from '../../../services/catalogue/price/price-change.ts';
import { testApi } from '../../support/api.ts';
import { locksAreAwaited } from '../../support/locks/awaited-locks.ts';
import { catalogue } from './catalogue.fixture.ts';

const api = await testApi();
const { call, database, scope } = api;
const { createPlan, createPrice, audited } = catalogue(api);

describe('PUT /prices/{id}', () => {
  it('writes presentation in place and answers numbers', async () => {
    const price = await createPrice(await createPlan(), { amount: '3.25', min_quantity: '2' });
    const change = { description: 'd', lookup_key: `key ${price.id}`, metadata: { a: '1' }, display_name: 'n' };
    const { status, body } = await call('PUT', `/v1/prices/${price.id}`, { body: change });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: price.id, ...change, amount: 3.25, min_quantity: 2, sequence: price.sequence });
  });

  it('supersedes: the old price keeps its values and ends, the new one follows it', async () => {
    const price = await createPrice(await createPlan(), { amount: '3', lookup_key: 'base', description: 'kept' });
    const at = new Date(Date.parse(price.start_date) + 3_600_000).toISOString();
    const { body: next } = await call('PUT', `/v1/prices/${price.id}`, { body: { amount: '4', effective_from: at } });
    expect(next).toMatchObject({
      amount: 4,
      start_date: at,
      end_date: null,
      parent_price_id: price.id,
      lookup_key: 'base',
      description: 'kept',
    });
    expect(next.id).not.toBe(price.id);
    const old = (await call('GET', `/v1/prices/${price.id}`)).body;
    expect({ ...old, end_date: null, sequence: 0, updated_at: '' }).toEqual({ ...price, sequence: 0, updated_at: '' });
    expect(old.end_date).toBe(at);
    expect(old.sequence).toBeGreaterThan(price.sequence);
    expect(next.sequence).toBeGreaterThan(old.sequence);

    const { body: third } = await call('PUT', `/v1/prices/${next.id}`, { body: { amount: '5', effective_from: at } });
    expect(third.parent_price_id).toBe(price.id);
    expect(await audited(price.id)).toEqual(['created', 'superseded']);
  });

  it('drops the members of a model that is left', async () => {
    const price = await createPrice(await createPlan(), { amount: '3' });
    const { body } = await call('PUT', `/v1/prices/${price.id}`, {
      body: { billing_model: 'TIERED', tiers: [{ up_to: null, unit_amount: '1' }] },
    });
    expect(body).toMatchObject({
      billing_model: 'TIERED',
      amount: null,
      tier_mode: 'VOLUME',
      tiers: [{ unit_amount: 1, flat_amount: 0 }],
    });
  });

  it.each([
    ['effective_from alone', { effective_from: '2100-01-01T00:00:00Z' }, 'effective_from'],
    ['effective_from before the start', { amount: '2', effective_from: '2000-01-01T00:00:00Z' }, 'effective_from'],
    ['a model without its members', { billing_model: 'PACKAGE', amount: '2' }, 'transform_quantity'],
    ['a custom-unit member', { price_unit_amount: '2' }, 'price_unit_amount'],
    ['a group that does not exist', { group_id: 'grp_none' }, 'group_id'],
  ])('refuses %s', async (_name, body, field) => {
    const price = await createPrice(await createPlan());
    const answer = await call('PUT', `/v1/prices/${price.id}`, { body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain(field);
    expect((await call('GET', `/v1/prices/${price.id}`)).body).toEqual(price);
  });

  it('refuses to supersede an ended price', async () => {
    const price = await createPrice(await createPlan());
    await call('DELETE', `/v1/prices/${price.id}`);
    expect(await call('PUT', `/v1/prices/${price.id}`, { body: { amount: '2' } })).toMatchObject({
      status: 400,
      body: { code: 'validation_error' },
    });
  });

  it('lets one of two concurrent supersessions win', async () => {
    const price = await createPrice(await createPlan());
    let slower: ReturnType<typeof call> | undefined;
    await inTransaction(database, scope, async (tx) => {
      await updatePrice(tx, price.id, { terms: { amount: '2' } });
      slower = call('PUT', `/v1/prices/${price.id}`, { body: { amount: '3' } });
      expect(await locksAreAwaited(api)).toBe(true);
    });
    expect(await slower).toMatchObject({ status: 409, body: { code: 'version_conflict' } });
    const chain = await call('POST', '/v1/prices/search', { body: { parent_price_id: price.id } });
    expect(chain.body.items).toMatchObject([{ amount: '2' }]);
  });
});

describe('DELETE /prices/{id}', () => {
  it('ends the price now or at a date, once', async () => {
    const plan = await createPlan();
    const price = await createPrice(plan, { start_date: '2026-01-01T00:00:00+01:00' });
    expect(price.start_date).toBe('2025-12-31T23:00:00.000Z');
    const early = await call('DELETE', `/v1/prices/${price.id}`, { body: { end_date: '2025-01-01T00:00:00Z' } });
    expect(early).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    const ended = await call('DELETE', `/v1/prices/${price.id}`, { body: { end_date: '2026-02-01T00:00:00Z' } });
    expect(ended).toMatchObject({ status: 200, body: { message: expect.stringContaining(price.id) } });
    expect((await call('GET', `/v1/prices/${price.id}`)).body).toMatchObject({
      status: 'published',
      end_date: '2026-02-01T00:00:00.000Z',
    });
    expect(await call('DELETE', `/v1/prices/${price.id}`)).toMatchObject({
      status: 400,
      body: { code: 'validation_error' },
    });
    expect(await audited(price.id)).toEqual(['created', 'ended']);
  });
});
