import { describe, expect, it, test } from 'vitest';
import { instantText } from '../../../db/rows/columns.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { testApi } from '../../support/api.ts';

// A test clock is put into its table without an audit row.
const { call, database, scope } = await testApi({}, { breaks: ['I15'] });

describe('POST /customers', () => {
  it('creates a customer and gives it back by id', async () => {
    const created = await call('POST', '/v1/customers', { body: { external_id: 'acme', name: ' Acme ' } });
    expect(created.body).toMatchObject({ external_id: 'acme', name: 'Acme', timezone: 'UTC', status: 'published' });
    expect(created.status).toBe(201);
    const read = await call('GET', `/v1/customers/${created.body.id}`);
    expect(read.status).toBe(200);
    expect(read.body).toEqual(created.body);
  });

  it('refuses a taken external_id', async () => {
    const body = { external_id: 'taken', name: 'First' };
    await call('POST', '/v1/customers', { body });
    const second = await call('POST', '/v1/customers', { body });
    expect(second.status).toBe(409);
    expect(second.body.code).toBe('already_exists');
  });

  it('lets one of two racing creations through', async () => {
    const body = { external_id: 'racing', name: 'R' };
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', '/v1/customers', { body })));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409]);
  });

  it('puts a customer on a test clock of this environment only', async () => {
    const body = { external_id: 'clock', name: 'C', test_clock_id: 'clock_unknown' };
    const refused = await call('POST', '/v1/customers', { body });
    expect([refused.status, refused.body.code]).toEqual([404, 'not_found']);
    const now = '2026-01-01T00:00:00.000Z';
    await inTransaction(database, scope, (tx) =>
      tx.rows(
        `insert into test_clock (id, tenant_id, environment_id, frozen_time, created_at, updated_at)
         values ('clock_of_test', $1, $2, $3, $3, $3)`,
        [scope.tenantId, scope.environmentId, now],
      ),
    );
    const { body: created } = await call('POST', '/v1/customers', {
      body: { ...body, test_clock_id: 'clock_of_test' },
    });
    expect(created.test_clock_id).toBe('clock_of_test');
    const [event] = await inTransaction(database, scope, (tx) =>
      tx.rows('select occurred_at from outbox_event where entity_id = $1', [created.id]),
    );
    expect(instantText(event?.occurred_at)).toBe(now);
  });

  it('names the missing field', async () => {
    const answer = await call('POST', '/v1/customers', { body: { external_id: 'x' } });
    expect(answer.body).toEqual({
      code: 'validation_error',
      http_status_code: 400,
      message: 'name is required',
      details: { fields: { name: 'is required' } },
      success: false,
      error: { message: 'name is required', internal_error: '' },
    });
  });
});

test('eight identical creations at once make one customer, and tell the others its id', async () => {
  const body = { external_id: 'eight-1', name: 'Eight' };
  const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', '/v1/customers', { body })));
  const [made, ...others] = answers.toSorted((a, b) => a.status - b.status);
  expect(made).toMatchObject({ status: 201, body: { external_id: 'eight-1' } });
  for (const { status, body: refused } of others) {
    expect([status, refused.code]).toEqual([409, 'already_exists']);
    expect(refused.details).toEqual({
      fields: { external_id: 'taken' },
      context: { customer_id: made?.body.id },
    });
    expect(refused.message).toContain(made?.body.id);
  }
});

describe('PUT /customers', () => {
  it('changes what is named and keeps the rest', async () => {
    const { body } = await call('POST', '/v1/customers', { body: { external_id: 'put-1', name: 'A', contact: '1' } });
    const changed = await call('PUT', `/v1/customers/${body.id}`, { body: { name: 'B', contact: '', email: null } });
    expect(changed.body).toMatchObject({ name: 'B', contact: null, external_id: 'put-1' });
    const again = await call('PUT', `/v1/customers/${body.id}`, { body: {} });
    expect(again.body).toEqual(changed.body);
  });

  it('keeps old external ids, also when the same request replaces metadata', async () => {
    const { body } = await call('POST', '/v1/customers', { body: { external_id: 'old-1', name: 'A' } });
    await call('PUT', `/v1/customers/${body.id}`, { body: { external_id: 'old-2' } });
    const changed = await call('PUT', '/v1/customers?external_customer_id=old-2', {
      body: { external_id: 'old-3', metadata: { team: 'x' } },
    });
    expect(changed.body.metadata).toEqual({ team: 'x', old_external_ids: 'old-1,old-2' });
  });

  it('refuses a taken external_id, an empty name and names that disagree', async () => {
    const { body: one } = await call('POST', '/v1/customers', { body: { external_id: 'p-1', name: 'A' } });
    await call('POST', '/v1/customers', { body: { external_id: 'p-2', name: 'A' } });
    expect((await call('PUT', `/v1/customers/${one.id}`, { body: { external_id: 'p-2' } })).status).toBe(409);
    expect((await call('PUT', `/v1/customers/${one.id}`, { body: { name: '' } })).status).toBe(400);
    expect((await call('PUT', `/v1/customers?id=${one.id}&external_customer_id=p-2`, { body: {} })).status).toBe(400);
    expect((await call('PUT', '/v1/customers', { body: {} })).status).toBe(400);
  });
});

describe('parents', () => {
  it('are one level deep', async () => {
    const parent = await call('POST', '/v1/customers', { body: { external_id: 'parent', name: 'P' } });
    const child = await call('POST', '/v1/customers', {
      body: { external_id: 'child', name: 'C', parent_customer_external_id: 'parent' },
    });
    expect(child.body.parent_customer).toMatchObject({ id: parent.body.id, parent_customer: null });
    const grandchild = { external_id: 'grandchild', name: 'G', parent_customer_id: child.body.id };
    expect((await call('POST', '/v1/customers', { body: grandchild })).status).toBe(400);
    const cycle = { parent_customer_id: child.body.id };
    expect((await call('PUT', `/v1/customers/${parent.body.id}`, { body: cycle })).status).toBe(400);
    const cleared = await call('PUT', `/v1/customers/${child.body.id}`, { body: { parent_customer_id: null } });
    expect(cleared.body.parent_customer_id).toBeNull();
  });
});

describe('DELETE /customers/{id}', () => {
  it('archives, hides from lists and frees the external id', async () => {
    const { body } = await call('POST', '/v1/customers', { body: { external_id: 'gone', name: 'G' } });
    const deleted = await call('DELETE', `/v1/customers/${body.id}`);
    expect([deleted.status, deleted.body]).toEqual([204, null]);
    expect((await call('DELETE', `/v1/customers/${body.id}`)).status).toBe(404);
    expect((await call('GET', `/v1/customers/${body.id}`)).body.status).toBe('archived');
    expect((await call('GET', '/v1/customers/external/gone')).status).toBe(404);
    expect((await call('GET', '/v1/customers?external_id=gone')).body.items).toEqual([]);
    expect((await call('GET', '/v1/customers?external_id=gone&status=archived')).body.items).toHaveLength(1);
    expect((await call('POST', '/v1/customers', { body: { external_id: 'gone', name: 'New' } })).status).toBe(201);
  });
});

describe('validation', () => {
  it.each([
    [{ address_country: 'USA' }, 'address_country'],
    [{ timezone: 'Mars/Base' }, 'timezone'],
    [{ contact: 'x'.repeat(21) }, 'contact'],
    [{ external_id: 'a b' }, 'external_id'],
    [{ external_id: 'a%b' }, 'external_id'],
    [{ email: 'nobody' }, 'email'],
    [{ metadata: { a: 1 } }, 'metadata.a'],
    [{ metadata: { '': 'x' } }, 'metadata'],
    [{ metadata: { hsn_sac: '123' } }, 'metadata.hsn_sac'],
    [{ name: 7 }, 'name'],
  ])('refuses %j and names the field', async (fields, field) => {
    const answer = await call('POST', '/v1/customers', { body: { external_id: 'valid', name: 'V', ...fields } });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('validation_error');
    expect(answer.body.message.startsWith(field)).toBe(true);
    expect(Object.keys(answer.body.details.fields)).toContain(field);
  });
});

describe('what is reported', () => {
  it('is one event a change, numbered without a gap, and an audit row each', async () => {
    const { body } = await call('POST', '/v1/customers', { body: { external_id: 'told', name: 'T' } });
    await call('PUT', `/v1/customers/${body.id}`, { body: { name: 'U' } });
    await call('PUT', `/v1/customers/${body.id}`, { body: { name: 'U' } });
    await call('DELETE', `/v1/customers/${body.id}`);
    const { events, audit } = await inTransaction(database, scope, async (tx) => ({
      events: await tx.rows(
        'select event_name, sequence, payload from outbox_event where entity_id = $1 order by sequence',
        [body.id],
      ),
      audit: await tx.rows('select action, actor from audit_entry where object_id = $1 order by id', [body.id]),
    }));
    expect(events.map((event) => [event.event_name, event.sequence])).toEqual([
      ['customer.created', 1],
      ['customer.updated', 2],
      ['customer.deleted', 3],
    ]);
    expect(events[1]?.payload).toMatchObject({ event_type: 'customer.updated', customer: { id: body.id, name: 'U' } });
    expect(audit).toEqual(['created', 'updated', 'deleted'].map((action) => ({ action, actor: scope.actor })));
  });
});
