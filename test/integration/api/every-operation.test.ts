import { readFileSync } from 'node:fs';
import type { InjectOptions } from 'fastify';
import { describe, expect, test } from 'vitest';
import { created, testPlatform } from '../../support/billing.ts';

/*
 * The document's claims about every operation, held against the server: bodies that may be left out, offsets, and texts that no column
 * takes. An operation that is made later is asked the same.
 */

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: { type?: string };
}
interface Schema {
  $ref?: string;
  properties?: Record<string, { description?: string }>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
}

const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
);
type Found = (typeof operations)[number];

const { app, api, base } = await testPlatform();
await created(api, '/customers', { external_id: 'visitor', name: 'Visitor' });
const session = (await api<{ token: string }>('GET', '/customers/portal/visitor')).body.token;

async function ask(
  { method, path }: Found,
  request: { url?: (path: string) => string; query?: string; payload?: string } = {},
) {
  const url = request.url?.(path) ?? path.replace(/\{[^}]+\}/g, 'unknown');
  const options: InjectOptions = {
    method: method as 'GET',
    url: request.query === undefined ? url : `${url}?${request.query}`,
    headers: {
      'x-api-key': base.apiKey,
      'x-session-token': session,
      ...(request.payload === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(request.payload === undefined ? {} : { payload: request.payload }),
  };
  const { statusCode: status, body } = await app.inject(options);
  return { status, body };
}

/** The members of a body, of every alternative. */
function membersOf(schema: Schema | undefined): Record<string, { description?: string }> {
  if (!schema) return {};
  if (schema.$ref) return membersOf(document.components.schemas[schema.$ref.split('/').at(-1) ?? '']);
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map(membersOf);
  return Object.assign({}, ...alternatives, schema.properties);
}
const bodyOf = (operation: Operation) => membersOf(operation.requestBody?.content['application/json']?.schema);
const isServed = (operation: Operation, status: number) => status < 500 || String(status) in operation.responses;

const withBody = operations.filter(({ requestBody }) => requestBody);
const named = (list: readonly Found[]) => list.map((each): [string, Found] => [each.operationId, each]);

describe('a body', () => {
  test('is required by some operations and optional for others', () => {
    expect(new Set(withBody.map(({ requestBody }) => requestBody?.required))).toEqual(new Set([true, false]));
  });

  test.each(named(withBody.filter(({ requestBody }) => requestBody?.required)))(
    'that %s requires cannot be left out',
    async (_, operation) => {
      for (const payload of [undefined, 'null', '[]', '"text"', '7']) {
        const { status, body } = await ask(operation, payload === undefined ? {} : { payload });
        expect([payload, status, body]).toEqual([payload, 400, expect.stringContaining('validation_error')]);
      }
    },
  );

  test.each(named(withBody.filter(({ requestBody }) => !requestBody?.required)))(
    'that %s takes can be left out',
    async (_, operation) => {
      const bare = await ask(operation);
      expect(isServed(operation, bare.status), bare.body).toBe(true);
      expect(bare.body).not.toContain('A JSON object is required as body.');
      for (const payload of ['null', '[]', '"text"', '7', '{"items":null}', '{"items":7}']) {
        const { status, body } = await ask(operation, { payload });
        expect(isServed(operation, status), body).toBe(true);
      }
    },
  );

  test.each(named(withBody))('of %s with a NUL character is 400', async (_, operation) => {
    const { status, body } = await ask(operation, { payload: '{"name":"a\\u0000b"}' });
    expect([status, body]).toEqual([400, expect.stringContaining('NUL')]);
  });
});

describe('a URL with a NUL character is 400', () => {
  test.each(named(operations))('%s', async (_, operation) => {
    const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
    for (const { name } of [...query, { name: 'unknown' }]) {
      const { status, body } = await ask(operation, { query: `${name}=a%00b` });
      expect([name, status, body]).toEqual([name, 400, expect.stringContaining('NUL')]);
    }
    if (!operation.path.includes('{')) return;
    const { status, body } = await ask(operation, { url: (path) => path.replace(/\{[^}]+\}/g, 'a%00b') });
    expect([status, body]).toEqual([400, expect.stringContaining('The path contains a NUL character')]);
  });
});

describe('metadata as a filter', () => {
  const searches = withBody.filter(
    (operation) => operation.path.endsWith('/search') && 'metadata' in bodyOf(operation),
  );

  test.each(named(searches))('of %s finds by it, or says that there is none to find by', async (_, operation) => {
    const { status, body } = await ask(operation, { payload: '{"metadata":{"key":"value"}}' });
    expect(isServed(operation, status), body).toBe(true);
    if (status === 400) expect(body).toContain('metadata is not kept');
    expect((await ask(operation, { payload: '{"metadata":{}}' })).status).not.toBe(500);
  });
});

describe('an offset', () => {
  const tooFar = ['1000000001', '999999999999999', '9007199254740991', '9007199254740992', '1e300', '-1'];
  const inBody = withBody.filter((operation) => 'offset' in bodyOf(operation));
  const inQuery = operations.filter(({ parameters }) => parameters?.some(({ name }) => name === 'offset'));

  test('is taken by many lists', () => {
    expect(inBody.length).toBeGreaterThan(10);
    expect(inQuery.length).toBeGreaterThan(10);
  });

  test.each(named(inBody))('beyond every list is 400 in the body of %s', async (_, operation) => {
    for (const offset of tooFar) {
      const { status, body } = await ask(operation, { payload: `{"offset":${offset}}` });
      expect([offset, status, body]).toEqual([
        offset,
        400,
        expect.stringContaining('offset must be an integer from 0'),
      ]);
    }
    const { status, body } = await ask(operation, { payload: '{"offset":1000000000}' });
    expect(isServed(operation, status), body).toBe(true);
    expect(body).not.toContain('offset must be');
  });

  test.each(named(inQuery))('beyond every list is 400 in the query of %s', async (_, operation) => {
    for (const offset of [...tooFar, 'x', '1.5']) {
      const { status, body } = await ask(operation, { query: `offset=${offset}` });
      expect([offset, status, body]).toEqual([
        offset,
        400,
        expect.stringContaining('offset must be an integer from 0'),
      ]);
    }
    const { status, body } = await ask(operation, { query: 'offset=1000000000' });
    expect(isServed(operation, status), body).toBe(true);
  });
});

test.each([
  ['/creditgrants', { priority: 2 ** 53 - 1 }],
  ['/creditgrants', { period_count: 2 ** 31 }],
  ['/wallets/transactions/search', { priority: 2 ** 31 }],
  [
    '/plans/search',
    { filters: [{ field: 'display_order', operator: 'gt', data_type: 'number', value: { number: 1e300 } }] },
  ],
  [
    '/plans/search',
    { filters: [{ field: 'name', operator: 'contains', data_type: 'string', value: { string: '\ud800' } }] },
  ],
])('a number or text that no column takes is no error of ours: %s %j', async (path, members) => {
  const grant = { name: 'G', scope: 'PLAN', credits: '1', cadence: 'RECURRING', period: 'MONTHLY', period_count: 1 };
  const { status, body } = await api('POST', path, { ...(path === '/creditgrants' ? grant : {}), ...members });
  expect(status, JSON.stringify(body)).toBeLessThan(500);
});

test('an operation that refuses a member with 501 documents it', () => {
  const silent = operations.filter(
    (operation) =>
      Object.values(bodyOf(operation)).some(({ description }) => description?.includes('refused with 501')) &&
      !('501' in operation.responses),
  );
  expect(silent.map(({ operationId }) => operationId)).toEqual([]);
});

test('what is not built or not configured is 501, and documented', async () => {
  const answers = [await api('POST', '/users', { type: 'user', email: 'a@example.com' })];
  for (const { status } of answers) expect(status).toBe(501);
});
