import { describe, expect, it } from 'vitest';
import { testApi } from '../support/api.ts';

const { call } = await testApi();

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
