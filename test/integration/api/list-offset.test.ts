import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { created, testPlatform } from '../../support/billing.ts';

/** `pagination.offset` of every list of the document. spec: platform §1.5; docs/api.md Lists */

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
}
interface Operation {
  operationId: string;
  tags: string[];
  parameters?: { name: string; in: string }[];
  requestBody?: unknown;
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
const resolved = (schema: Schema | undefined): Schema | undefined =>
  schema?.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)!] : schema;

const lists = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { responses }]) => {
      const answer = resolved(responses['200']?.content?.['application/json']?.schema)?.properties;
      return answer?.items !== undefined && answer.pagination !== undefined;
    })
    .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path }))
    // Grants to come of a subscription, which is not there and is not paged.
    .filter(({ operationId }) => operationId !== 'getSubscriptionUpcomingGrants'),
);
/** Lists whose answer repeats the offset of the request, by what their path begins with. */
const echoing = /^\/v1\/(?:tasks|invoices|coupons|prices\/units|costs|customer\/portal\/invoices)(?:\/|$)/;

const { api } = await testPlatform();
const customer = await created(api, '/customers', { external_id: 'visitor', name: 'Visitor' });
const plan = await created(api, '/plans', { name: 'Listed' });
const addon = await created(api, '/addons', { name: 'Listed', lookup_key: 'listed', type: 'onetime' });
const wallet = await created(api, '/wallets', { customer_id: customer.id, currency: 'usd' });
const [event] = (await api<{ items: { id: string }[] }>('GET', '/webhooks/events?limit=1')).body.items;
const session = (await api<{ token: string }>('GET', '/customers/portal/visitor')).body.token;

/** The path with ids of objects that are there. */
function pathOf(path: string): string {
  return path
    .replace('/v1', '')
    .replace('/plans/{id}', `/plans/${plan.id}`)
    .replace('/addons/{id}', `/addons/${addon.id}`)
    .replace('/wallets/{id}', `/wallets/${wallet.id}`)
    .replace('/webhooks/events/{id}', `/webhooks/events/${event?.id}`)
    .replace('{external_id}', 'visitor')
    .replace('/integrations/mappings', `/integrations/mappings?entity_type=customer&entity_id=${customer.id}`)
    .replace(/\/customers\/\{[^}]+\}/, `/customers/${customer.id}`);
}

test('are many', () => {
  expect(lists.length).toBeGreaterThan(45);
});

test.each(lists.map((each): [string, (typeof lists)[number]] => [each.operationId, each]))(
  'the offset of %s is the next page, or the own one where the specification says so',
  async (_, { method, path, parameters, requestBody }) => {
    const inQuery = parameters?.some(({ name }) => name === 'offset');
    const inPortal = path.includes('/customer/portal/');
    const paging = inPortal ? { limit: 3, page: 3 } : { limit: 3, offset: 6 };
    const own = pathOf(path);
    const url = inQuery ? `${own}${own.includes('?') ? '&' : '?'}limit=3&offset=6` : own;
    const { status, body } = await api<{ pagination?: { limit: number; offset: number } }>(
      method as 'GET',
      url,
      requestBody ? paging : undefined,
      { 'x-session-token': session },
    );
    expect(status, JSON.stringify(body)).toBe(200);
    const expected = echoing.test(path) ? { limit: 3, offset: 6 } : { limit: 3, offset: 9 };
    expect(body.pagination).toMatchObject(inQuery || requestBody ? expected : { offset: 0 });
  },
);
