import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { testApi } from '../../support/api.ts';

const { call, database, scope, otherTenant } = await testApi();

let count = 0;
async function customer(fields: Record<string, unknown> = {}) {
  count += 1;
  const body = { external_id: `mapped-${count}`, name: 'Mapped', ...fields };
  const answer = await call('POST', '/v1/customers', { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const mappingsOf = async (id: string) =>
  (await call('GET', `/v1/customers/${id}?expand=integrations`)).body.integrations as Record<string, unknown>[];

const stripe = (id: string) => ({ provider_type: 'stripe', provider_entity_id: id });

describe('the mappings of a customer', () => {
  it('are made with it, in either published form, and shown where they are asked for', async () => {
    const { id, external_id, integrations } = await customer({
      integration_entity_mapping: [
        { ...stripe('cus_1'), metadata: { account: 'eu' } },
        { provider: 'hubspot', id: '77' },
      ],
    });
    expect(integrations).toEqual([]);
    const record = { environment_id: scope.environmentId, tenant_id: scope.tenantId, status: 'published' };
    const mapping = { ...record, entity_type: 'customer', entity_id: id };
    const expected = [
      { ...mapping, ...stripe('cus_1'), id: expect.stringMatching(/^eim_/), metadata: { account: 'eu' } },
      { ...mapping, provider_type: 'hubspot', provider_entity_id: '77', metadata: {} },
    ];
    expect(await mappingsOf(id)).toMatchObject(expected);
    const lists = await Promise.all([
      call('GET', `/v1/customers/external/${external_id}?expand=integrations`),
      call('GET', `/v1/customers/lookup/${external_id}?expand=integrations`),
    ]);
    for (const answer of lists) expect(answer.body.integrations).toMatchObject(expected);
    const listed = await call('GET', `/v1/customers?customer_ids=${id}&expand=integrations`);
    expect(listed.body.items[0].integrations).toMatchObject(expected);
    const search = { customer_ids: [id], expand: 'integrations' };
    const searched = await call('POST', '/v1/customers/search', { body: search });
    expect(searched.body.items[0].integrations).toMatchObject(expected);
    expect((await call('GET', `/v1/customers/${id}`)).body.integrations).toEqual([]);
  });

  it('get a new id where an update names a provider again; the others stay', async () => {
    const { id } = await customer({
      integration_entity_mapping: [stripe('cus_old'), { provider: 'hubspot', id: '78' }],
    });
    const before = await mappingsOf(id);
    await call('PUT', `/v1/customers/${id}`, { body: { integration_entity_mapping: [stripe('cus_new')] } });
    const after = await mappingsOf(id);
    expect(after.map((one) => one.provider_entity_id)).toEqual(['cus_new', '78']);
    expect(after.map((one) => one.id)).toEqual(before.map((one) => one.id));
    const audit = await inTransaction(database, scope, (tx) =>
      tx.rows('select action from audit_entry where object_id = $1 order by id', [after[0]?.id]),
    );
    expect(audit).toEqual([{ action: 'created' }, { action: 'updated' }]);
  });

  it('are refused whole when an id belongs to another customer, or a provider is named twice', async () => {
    await customer({ integration_entity_mapping: [stripe('cus_taken')] });
    const refused = (mappings: object[]) =>
      call('POST', '/v1/customers', {
        body: { external_id: 'refused', name: 'R', integration_entity_mapping: mappings },
      });
    const taken = await refused([{ provider: 'hubspot', id: '1' }, stripe('cus_taken')]);
    expect([taken.status, taken.body.code]).toEqual([400, 'validation_error']);
    expect(taken.body.message).toContain('integration_entity_mapping[1].provider_entity_id cus_taken');
    const twice = await refused([stripe('cus_a'), stripe('cus_b')]);
    expect([twice.status, twice.body.message]).toEqual([
      400,
      'integration_entity_mapping[1] repeats stripe; name it once',
    ]);
    for (const [mappings, field] of [
      [[{ provider_entity_id: 'x' }], 'integration_entity_mapping[0].provider_type'],
      [[{ provider_type: 'stripe' }], 'integration_entity_mapping[0].provider_entity_id'],
      [[{ ...stripe('x'), provider_type: 'p'.repeat(51) }], 'integration_entity_mapping[0].provider_type'],
      [[{ ...stripe('x'), metadata: { a: 1 } }], 'integration_entity_mapping[0].metadata.a'],
    ] as const) {
      const answer = await refused([...mappings]);
      expect([answer.status, answer.body.message.split(' ')[0].replace(/:$/, '')]).toEqual([400, field]);
    }
    expect((await call('GET', '/v1/customers/external/refused')).status).toBe(404);
  });

  it('end with the customer, so that another may be mapped to the same id', async () => {
    const { id } = await customer({ integration_entity_mapping: [stripe('cus_moved')] });
    expect((await call('DELETE', `/v1/customers/${id}`)).status).toBe(204);
    expect(await mappingsOf(id)).toEqual([]);
    const next = await customer({ integration_entity_mapping: [stripe('cus_moved')] });
    expect(await mappingsOf(next.id)).toHaveLength(1);
  });
});

describe('mappings of any object', () => {
  it('are made, listed and deleted, by id or by object and provider', async () => {
    const { id } = await customer();
    const object = { entity_type: 'customer', entity_id: id };
    const first = await call('POST', '/v1/entity-integration-mappings', { body: { ...object, ...stripe('cus_5') } });
    expect([first.status, first.body]).toMatchObject([201, { ...object, ...stripe('cus_5'), metadata: {} }]);
    const paddle = { ...object, provider_type: 'paddle', provider_entity_id: 'ctm_5' };
    await call('POST', '/v1/entity-integration-mappings', { body: paddle });
    const path = `/v1/integrations/mappings?entity_type=customer&entity_id=${id}`;
    expect((await call('GET', path)).body).toMatchObject({
      items: [{ provider_type: 'paddle' }, { id: first.body.id }],
      pagination: { total: 2, offset: 50 },
    });
    expect((await call('DELETE', `/v1/entity-integration-mappings/${first.body.id}`)).status).toBe(204);
    expect((await call('DELETE', `/v1/entity-integration-mappings/${first.body.id}`)).status).toBe(404);
    const link = { body: { ...object, provider_type: 'paddle' } };
    const unlinked = await call('DELETE', '/v1/integrations/link', link);
    expect([unlinked.status, unlinked.body.message]).toEqual([200, expect.stringContaining('paddle')]);
    expect((await call('DELETE', '/v1/integrations/link', link)).status).toBe(404);
    expect((await call('GET', path)).body.items).toEqual([]);
  });

  it('exist for objects that exist, once a provider, and only inside the environment', async () => {
    const { id } = await customer();
    const plan = await call('POST', '/v1/plans', { body: { name: 'Mapped' } });
    const create = (body: object, apiKey?: string) =>
      call('POST', '/v1/entity-integration-mappings', { body, ...(apiKey ? { apiKey } : {}) });
    const item = {
      entity_type: 'item',
      entity_id: plan.body.id,
      provider_type: 'chargebee',
      provider_entity_id: 'pro',
    };
    expect((await create(item)).status).toBe(201);
    const object = { entity_type: 'customer', entity_id: id, ...stripe('cus_6') };
    const made = await create(object);
    expect(made.status).toBe(201);
    const again = await create({ ...object, provider_entity_id: 'cus_7' });
    expect([again.status, again.body.code]).toEqual([409, 'already_exists']);
    const other = await customer();
    const taken = await create({ ...object, entity_id: other.id });
    expect([taken.status, taken.body.code]).toEqual([400, 'validation_error']);
    expect((await create({ ...object, entity_id: 'cust_nobody' })).status).toBe(404);
    expect((await create({ ...object, entity_type: 'credit_note', entity_id: 'cn_1' })).status).toBe(404);
    expect((await create({ ...object, entity_type: 'wallet' })).body.message).toMatch(/^entity_type/);
    expect((await call('GET', '/v1/integrations/mappings?entity_type=customer')).status).toBe(400);
    const { apiKey } = await otherTenant();
    expect((await create(object, apiKey)).status).toBe(404);
    expect((await call('DELETE', `/v1/entity-integration-mappings/${made.body.id}`, { apiKey })).status).toBe(404);
    const path = `/v1/integrations/mappings?entity_type=customer&entity_id=${id}`;
    expect((await call('GET', path, { apiKey })).body.items).toEqual([]);
  });
});

describe('a link to a connected provider', () => {
  const link = (body: object, apiKey?: string) =>
    call('POST', '/v1/integrations/link', { body, ...(apiKey ? { apiKey } : {}) });
  const nomod = (id: string) => ({ provider_type: 'nomod', provider_entity_id: id });

  it('takes the place of the id before, says when it was made, and is made once', async () => {
    const { id } = await customer();
    const object = { entity_type: 'customer', entity_id: id };
    const unconnected = await link({ ...object, ...nomod('c_1') });
    expect([unconnected.status, unconnected.body.code]).toEqual([400, 'validation_error']);
    expect(unconnected.body.message).toContain('POST /connections');
    const connection = {
      name: 'Nomod',
      provider_type: 'nomod',
      encrypted_secret_data: { nomod: { api_key: 'key_1' } },
    };
    const connected = await call('POST', '/v1/connections', { body: connection });
    expect(connected.status, JSON.stringify(connected.body)).toBe(201);
    await call('POST', '/v1/entity-integration-mappings', { body: { ...object, ...nomod('c_1') } });
    const linked = await link({ ...object, ...nomod('c_2'), metadata: { account: 'eu' } });
    expect([linked.status, linked.body.mapping]).toMatchObject([
      200,
      { ...object, ...nomod('c_2'), metadata: { account: 'eu', linked_via: 'api', linked_at: expect.any(String) } },
    ]);
    const again = await link({ ...object, ...nomod('c_2'), metadata: { account: 'eu' } });
    expect(again.body).toEqual(linked.body);
    const listed = await call('GET', `/v1/integrations/mappings?entity_type=customer&entity_id=${id}`);
    expect(listed.body.items).toEqual([linked.body.mapping]);
    const other = await customer();
    const taken = await link({ ...object, entity_id: other.id, ...nomod('c_2') });
    expect([taken.status, taken.body.message]).toEqual([400, expect.stringContaining('mapped to another customer')]);
    expect((await link({ ...object, entity_id: 'cust_nobody', ...nomod('c_9') })).status).toBe(404);
    expect((await link({ ...object, ...nomod('c_2') }, (await otherTenant()).apiKey)).status).toBe(404);
    expect((await link({ ...object, provider_type: 'nomod' })).status).toBe(400);
  });
});
