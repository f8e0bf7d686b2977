import { expect, it } from 'vitest';
import { type CallOptions, testApi } from '../../support/api.ts';

const { app, call, scope, otherTenant } = await testApi();

interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
}

/** Every operation of the API, from its own document. */
const documented = Object.entries(app.swagger().paths ?? {}).flatMap(([path, methods]) =>
  Object.entries(methods ?? {}).map(([method, operation]) => ({
    path,
    method: method.toUpperCase() as Operation['method'],
    isOpen: (operation as { security?: unknown[] }).security?.length === 0,
  })),
);
const operations: Operation[] = documented.filter(({ isOpen }) => !isOpen);

const byPath = (path: string, values: Record<string, string>) =>
  path.replace(/\{(\w+)\}/g, (_match, name: string) => values[name] ?? 'unknown');

it('there are operations to look at', () => expect(operations.length).toBeGreaterThan(50));

it('no operation is open but the notifications of providers, which are signed', () =>
  expect(
    documented
      .filter(({ isOpen }) => isOpen)
      .map(({ path }) => path)
      .sort(),
  ).toEqual([
    '/v1/webhooks/chargebee/{tenant_id}/{environment_id}',
    '/v1/webhooks/hubspot/{tenant_id}/{environment_id}',
    '/v1/webhooks/moyasar/{tenant_id}/{environment_id}',
    '/v1/webhooks/nomod/{tenant_id}/{environment_id}',
    '/v1/webhooks/paddle/{tenant_id}/{environment_id}',
    '/v1/webhooks/quickbooks/{tenant_id}/{environment_id}',
    '/v1/webhooks/razorpay/{tenant_id}/{environment_id}',
    '/v1/webhooks/stripe/{tenant_id}/{environment_id}',
    '/v1/webhooks/whop/{tenant_id}/{environment_id}',
    '/v1/webhooks/zoho_books/{tenant_id}/{environment_id}',
  ]));

it.each(operations)('$method $path wants a credential', async ({ method, path }) => {
  const answer = await call(method, byPath(path, {}), { apiKey: null });
  expect([answer.status, answer.body.code]).toEqual([401, 'permission_denied']);
});

it.each(operations.filter(({ path }) => path.includes('{id}')))(
  '$method $path knows nothing of another tenant, and says so as of an id that does not exist',
  async ({ method, path }) => {
    const mine = await call('POST', '/v1/customers', {
      body: { external_id: `${method} ${path}`.replace(/\W/g, '-'), name: 'M' },
    });
    const other = await otherTenant();
    const id = path.startsWith('/v1/environments') ? scope.environmentId : mine.body.id;
    const options: CallOptions = {
      apiKey: other.apiKey,
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }),
    };
    const foreign = await call(method, byPath(path, { id, payment_method_id: id }), options);
    const unknown = await call(method, byPath(path, { id: 'unknown_1', payment_method_id: 'unknown_1' }), options);
    expect(foreign.status).toBe(unknown.status);
    expect(foreign.status).toBeGreaterThanOrEqual(400);
    expect(foreign.status).toBeLessThan(500);
    expect(String(foreign.body.message).replaceAll(id, 'unknown_1')).toBe(unknown.body.message);
    expect((await call('GET', `/v1/customers/${mine.body.id}`)).body).toEqual(mine.body);
  },
);
