import { describe, expect, it } from 'vitest';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';

const { call, database, scope } = await testApi();

describe('environments', () => {
  it('are limited by type until the setting allows more', async () => {
    const { body: list } = await call('GET', '/v1/environments?expand=anything');
    expect(Object.keys(list).sort()).toEqual(['environments', 'limit', 'offset', 'total']);
    expect([list.total, list.limit, list.offset]).toEqual([1, 50, 0]);
    const create = (name: string, type: string) => call('POST', '/v1/environments', { body: { name, type } });
    const second = await create('Staging', 'development');
    expect(second.status).toBe(201);
    expect(Object.keys(second.body).sort()).toEqual(['created_at', 'id', 'name', 'type', 'updated_at']);
    expect((await create('Third', 'development')).status).toBe(400);
    expect((await create('Live', 'production')).status).toBe(400);
    const allowed = await call('PUT', '/v1/settings/tenant_config', { body: { value: { production: 1 } } });
    expect(allowed.body).toMatchObject({
      environment_id: null,
      value: { production: 1, development: 2, max_users: 10 },
    });
    expect((await create('Live', 'production')).status).toBe(201);
    expect((await create('Live', 'test')).status).toBe(400);
  });

  it('are renamed but never change their type', async () => {
    const path = `/v1/environments/${scope.environmentId}`;
    expect((await call('PUT', path, { body: { name: 'Play', type: 'development' } })).body.name).toBe('Play');
    expect((await call('PUT', path, { body: { type: 'production' } })).status).toBe(400);
    expect((await call('PUT', path, { body: { name: '' } })).status).toBe(400);
    expect((await call('PUT', '/v1/environments/env_unknown', { body: { name: 'X' } })).status).toBe(404);
  });
});

describe('settings', () => {
  const path = '/v1/settings/invoice_config';

  it('are their defaults under what is stored', async () => {
    const { body } = await call('GET', path);
    expect(body).toMatchObject({ id: null, value: { prefix: 'INV', suffix_length: 5, due_date_days: 1 } });
    const changed = await call('PUT', path, { body: { value: { prefix: 'ACME' } } });
    expect(changed.body).toMatchObject({
      value: { prefix: 'ACME', suffix_length: 5 },
      environment_id: scope.environmentId,
    });
    await call('PUT', path, { body: { value: { due_date_days: 14 } } });
    const reset = await call('PUT', path, { body: { value: { prefix: null } } });
    expect(reset.body.value).toMatchObject({ prefix: 'INV', due_date_days: 14 });
    expect((await call('DELETE', path)).status).toBe(200);
    expect((await call('GET', path)).body).toEqual(body);
    expect((await call('DELETE', path)).status).toBe(404);
  });

  it('refuse unknown keys, unknown members and bad values, and store nothing then', async () => {
    expect((await call('GET', '/v1/settings/nonsense')).status).toBe(400);
    const put = (value: object) => call('PUT', path, { body: { value } });
    expect((await put({ suffix_length: 11 })).body.message).toMatch(/^value\.suffix_length/);
    expect((await put({ colour: 'red' })).body.message).toBe('value.colour is not a known member');
    expect((await put({ timezone: 'Mars' })).status).toBe(400);
    expect((await call('GET', path)).body.id).toBeNull();
  });

  it('decision 38: limits of mandates are written in either form and answered as a list', async () => {
    const path = '/v1/settings/payment_mandate_limits';
    const limit = (max_limit: string) => ({ payment_method: 'UPI', currency: 'inr', max_limit });
    const value = async (mandate_limits: unknown) => call('PUT', path, { body: { value: { mandate_limits } } });
    expect((await call('GET', path)).body.value).toEqual({ mandate_limits: [limit('100000')] });
    const byMethod = await value({ UPI: { max_amount: '15000', currency: 'INR' } });
    expect(byMethod).toMatchObject({ status: 200, body: { value: { mandate_limits: [limit('15000')] } } });
    expect((await value([limit('20000')])).body.value).toEqual({ mandate_limits: [limit('20000')] });
    for (const bad of [[limit('0')], [limit('1'), limit('2')], { CHEQUE: {} }, { UPI: null }, 'UPI', [{}]]) {
      expect((await value(bad)).status, JSON.stringify(bad)).toBe(400);
    }
    expect((await call('GET', path)).body.value).toEqual({ mandate_limits: [limit('20000')] });
  });

  it('are changed by a super admin user only', async () => {
    const service = await accountWithRoles(database, scope, ['super_admin'], 'service_account');
    const body = { value: { prefix: 'X' } };
    expect((await call('PUT', path, { apiKey: service.apiKey, body })).status).toBe(403);
    const writer = await accountWithRoles(database, scope, ['all_writer']);
    expect((await call('PUT', path, { apiKey: writer.apiKey, body })).status).toBe(403);
    expect((await call('GET', path, { apiKey: writer.apiKey })).status).toBe(200);
  });
});
