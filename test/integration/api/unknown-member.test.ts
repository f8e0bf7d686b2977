import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';

/*
 * Members and parameters that an operation does not know, of every operation of the document and at every depth of its body.
 * spec: decision 46
 */

interface Schema {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}
interface Operation {
  operationId: string;
  tags: string[];
  security?: unknown[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
const api = await testApi();
const customer = await api.call('POST', '/v1/customers', { body: { external_id: 'acme', name: 'Acme' } });
const session = await api.call('GET', '/v1/customers/portal/acme');

/** All operations but the notifications of providers, whose members are the provider's own and of which only some are read. */
const operations = Object.entries(document.paths)
  .filter(([path]) => path.startsWith('/v1/') && path !== '/v1/health' && path !== '/v1/ready')
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase() as Method,
      path: path
        .replace('{key}', 'invoice_config')
        .replace('{object_type}', 'subscription')
        .replaceAll(/\{[^}]+\}/g, 'any'),
    })),
  )
  .filter(({ security }) => security?.length !== 0);

async function refusal({ method, path, tags }: (typeof operations)[number], query: string, body?: object) {
  const portal = tags.includes('Customer portal') && path.startsWith('/v1/customer/portal');
  const credential = portal ? { apiKey: null, headers: { 'x-session-token': session.body.token as string } } : {};
  const { status, body: answer } = await api.call(method, `${path}${query}`, {
    ...credential,
    ...(body ? { body } : {}),
  });
  return { status, code: answer?.code, message: String(answer?.message), fields: answer?.details?.fields ?? {} };
}

/** A body with one member that nobody knows in each of the places where the schema has an object of known members. */
function surpluses(schema: Schema | undefined, depth = 0): { path: string; value: unknown }[] {
  if (!schema || depth > 8) return [];
  if (schema.$ref) return surpluses(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''], depth + 1);
  const branches = schema.anyOf ?? schema.oneOf;
  // The caller means one of the alternatives; the first that has members stands for them.
  if (branches) return branches.map((branch) => surpluses(branch, depth + 1)).find((found) => found.length > 0) ?? [];
  const within = (name: string, found: { path: string; value: unknown }[], put: (value: unknown) => unknown) =>
    found.map(({ path, value }) => ({
      path: `${name}${path.startsWith('[') || name === '' ? '' : '.'}${path}`,
      value: put(value),
    }));
  if (schema.items) return within('[0]', surpluses(schema.items, depth + 1), (value) => [value]);
  if (schema.properties) {
    if (schema.additionalProperties) return [];
    const own = { path: 'surplus_member', value: { surplus_member: 'x' } };
    return [
      own,
      ...Object.entries(schema.properties).flatMap(([name, member]) =>
        within(name, surpluses(member, depth + 1), (value) => ({ [name]: value })),
      ),
    ];
  }
  if (typeof schema.additionalProperties === 'object')
    return within('some', surpluses(schema.additionalProperties, depth + 1), (value) => ({ some: value }));
  return [];
}

describe('every operation', () => {
  it.each(operations)('$method $path refuses a query parameter it does not know', async (operation) => {
    const answer = await refusal(operation, '?surplus_parameter=x');
    expect(answer).toMatchObject({ status: 400, code: 'validation_error' });
    expect(answer.message).toContain('surplus_parameter is not a known parameter');
    expect(answer.fields.surplus_parameter).toContain('is not a known parameter');
  });

  const changing = operations.filter(({ method }) => method !== 'GET');
  it.each(changing)('$method $path refuses members it does not know, at every depth', async (operation) => {
    const schema = operation.requestBody?.content['application/json'].schema;
    const cases = operation.requestBody
      ? surpluses(schema)
      : [{ path: 'surplus_member', value: { surplus_member: 'x' } }];
    for (const { path, value } of cases) {
      const answer = await refusal(operation, '', value as object);
      expect(answer, path).toMatchObject({ status: 400, code: 'validation_error' });
      expect(answer.message, path).toContain(`${path} is not a known member`);
    }
  });
});

describe('a name that is misspelled', () => {
  it.each([
    ['/v1/subscriptions', { trial_perod_days: 14 }, 'trial_perod_days', 'trial_period_days'],
    ['/v1/invoices/search', { customer_idd: 'cust_1' }, 'customer_idd', 'customer_id'],
    ['/v1/subscriptions/search', { customer: 'cust_1' }, 'customer', 'customer_id'],
    ['/v1/plans/search', { filter: [{}] }, 'filter', 'filters'],
    ['/v1/prices', { tiers: [{ upto: 10 }] }, 'tiers[0].upto', 'up_to'],
  ])('in POST %s is told with the nearest that is known', async (path, body, member, nearest) => {
    const { status, body: answer } = await api.call('POST', path, { body });
    expect([status, answer.code]).toEqual([400, 'validation_error']);
    const reason = `is not a known member; the nearest that is known is ${nearest}`;
    expect(answer.message).toContain(`${member} ${reason}`);
    expect(answer.details.fields[member]).toBe(reason);
  });

  it('is told beside what is wrong with the others, and all of them are', async () => {
    const { body } = await api.call('POST', '/v1/customers', { body: { externalid: 'a', nam: 'b' } });
    expect(body.message).toBe(
      'externalid is not a known member; the nearest that is known is external_id; ' +
        'nam is not a known member; the nearest that is known is name; external_id is required',
    );
    expect(Object.keys(body.details.fields)).toEqual(['externalid', 'nam', 'external_id', 'name']);
  });

  it('in a query string too', async () => {
    const { status, body } = await api.call('GET', '/v1/invoices?customer_idd=cust_1');
    expect(status).toBe(400);
    expect(body.message).toBe('customer_idd is not a known parameter; the nearest that is known is customer_id');
  });

  it('in one element of a bulk request is told with the others of it', async () => {
    const items = [{ amount: '1' }, { amont: '1' }];
    const { status, body } = await api.call('POST', '/v1/prices/bulk', { body: { items } });
    expect(status).toBe(400);
    expect(body.message).toContain('items[1].amont is not a known member');
  });
});

describe('what is unknown and empty, or free', () => {
  it('is passed over', async () => {
    const empty = { surplus: null, more: '', list: [], map: {} };
    const path = `/v1/customers/${customer.body.id}`;
    const changed = await api.call('PUT', path, { body: { name: 'Acme Inc', ...empty } });
    expect([changed.status, changed.body.name]).toEqual([200, 'Acme Inc']);
    expect((await api.call('GET', `${path}?surplus=`)).status).toBe(200);
  });

  it('is kept in maps', async () => {
    const body = { external_id: 'maps', name: 'M', metadata: { trial_perod_days: '14' } };
    expect((await api.call('POST', '/v1/customers', { body })).body.metadata).toEqual(body.metadata);
    const event = { event_name: 'call', external_customer_id: 'maps', properties: { anything: { at: ['all'] } } };
    expect((await api.call('POST', '/v1/events', { body: event })).status).toBe(202);
  });
});

describe('names of the interface that cannot change the outcome', () => {
  it('are passed over', async () => {
    const foreign = { email: 'a@b.example', customer_id: 'cust_other', external_id: 'other' };
    const changed = await api.call('PUT', '/v1/customer/portal/info', {
      body: foreign,
      apiKey: null,
      headers: { 'x-session-token': session.body.token },
    });
    expect([changed.status, changed.body.external_id]).toEqual([200, 'acme']);
  });
});
