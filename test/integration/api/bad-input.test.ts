import { beforeEach, describe, expect, test } from 'vitest';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { accountWithRoles } from '../../support/account.ts';
import type { Api } from '../../support/app.ts';
import { created, testPlatform } from '../../support/billing.ts';
import { type Belongings, belongings, rowCounts } from './bad-input.fixture.ts';

/*
 * Everything a caller can get wrong around the main job, each with its code, a message that names field and remedy, and
 * nothing written. The catalogue's own errors are in catalogue-errors, those of payments in payment, bodies in
 * platform-protocol.
 */

const { api, base, temporal } = await testPlatform();
const as =
  (apiKey: string): Api =>
  (method, path, body, headers) =>
    api(method, path, body, { ...headers, 'x-api-key': apiKey });

const mine = await belongings(api);
const otherTenant = await createSandbox(base.database, { tenantName: 'Other' });
const environment = await created(api, '/environments', { name: 'Second', type: 'development' });
const otherAccount = await accountWithRoles(base.database, { ...base.scope, environmentId: environment.id }, [
  'super_admin',
]);
const ofTenant = await belongings(as(otherTenant.apiKey));
const ofEnvironment = await belongings(as(otherAccount.apiKey));
const unknown = Object.fromEntries(Object.keys(mine).map((noun) => [noun, `${noun}_unknown`])) as unknown as Belongings;

const archivedPlan = (await created(api, '/plans', { name: 'Old' })).id;
await api('DELETE', `/plans/${archivedPlan}`);
const archivedCustomer = (await created(api, '/customers', { external_id: 'gone', name: 'Gone' })).id;
await api('DELETE', `/customers/${archivedCustomer}`);
await created(api, '/customers', { external_id: 'kept', name: 'Kept' });
await api('POST', '/customers', { external_id: 'idem', name: 'Idem' }, { 'idempotency-key': 'key-1' });

let before = '';
beforeEach(async () => {
  before = await rowCounts(base);
});

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
interface Request {
  method?: Method;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

async function refused(request: Request, status: number, code: string, ...words: string[]): Promise<void> {
  const { method = 'POST', path, body, headers } = request;
  const answer = await api<{ message: string }>(method, path, body, headers);
  expect(answer.body, `${method} ${path}`).toMatchObject({ code, http_status_code: status, success: false });
  expect(answer.status).toBe(status);
  for (const word of words) expect(answer.body.message).toContain(word);
  expect(await rowCounts(base)).toBe(before);
}

const subscription = () => ({
  customer_id: mine.customer,
  plan_id: mine.plan,
  currency: 'usd',
  billing_period: 'MONTHLY',
  collection_method: 'send_invoice',
});
const event = { event_name: 'call', external_customer_id: 'kept', timestamp: '2026-01-01T00:00:00Z' };
const payment = () => ({
  destination_type: 'INVOICE',
  destination_id: mine.invoice,
  payment_method_type: 'OFFLINE',
  amount: '1',
  currency: 'usd',
});

/** Requests that name an object by its id; `body` is one that would be accepted. */
const byId: [noun: keyof Belongings, method: Method, path: (id: string) => string, body?: object][] = [
  ['customer', 'GET', (id) => `/customers/${id}`],
  ['customer', 'PUT', (id) => `/customers/${id}`, { name: 'Other' }],
  ['customer', 'DELETE', (id) => `/customers/${id}`],
  ['customer', 'GET', (id) => `/customers/${id}/payment-methods`],
  [
    'customer',
    'POST',
    (id) => `/customers/${id}/payment-methods`,
    { gateway: 'sandbox', card_number: '4242424242424242' },
  ],
  ['customer', 'GET', (id) => `/customers/${id}/invoices/summary`],
  ['plan', 'GET', (id) => `/plans/${id}`],
  ['plan', 'PUT', (id) => `/plans/${id}`, { description: 'x' }],
  ['plan', 'DELETE', (id) => `/plans/${id}`],
  ['plan', 'POST', (id) => `/plans/${id}/clone`, { name: 'Copy', lookup_key: 'copy' }],
  ['plan', 'GET', (id) => `/plans/${id}/entitlements`],
  ['price', 'GET', (id) => `/prices/${id}`],
  ['price', 'PUT', (id) => `/prices/${id}`, { description: 'x' }],
  ['price', 'DELETE', (id) => `/prices/${id}`, {}],
  ['feature', 'GET', (id) => `/features/${id}`],
  ['feature', 'PUT', (id) => `/features/${id}`, { description: 'x' }],
  ['feature', 'DELETE', (id) => `/features/${id}`],
  ['meter', 'GET', (id) => `/meters/${id}`],
  ['meter', 'PUT', (id) => `/meters/${id}`, { filters: [{ key: 'region', values: ['eu'] }] }],
  ['meter', 'DELETE', (id) => `/meters/${id}`],
  ['entitlement', 'GET', (id) => `/entitlements/${id}`],
  ['entitlement', 'PUT', (id) => `/entitlements/${id}`, { is_enabled: false }],
  ['entitlement', 'DELETE', (id) => `/entitlements/${id}`],
  ['subscription', 'GET', (id) => `/subscriptions/${id}`],
  ['subscription', 'GET', (id) => `/subscriptions/${id}/v2`],
  ['subscription', 'PUT', (id) => `/subscriptions/${id}`, { metadata: { a: 'b' } }],
  ['subscription', 'POST', (id) => `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' }],
  ['invoice', 'GET', (id) => `/invoices/${id}`],
  ['invoice', 'GET', (id) => `/invoices/${id}/explain`],
  ['invoice', 'PUT', (id) => `/invoices/${id}`, { metadata: { a: 'b' } }],
  ['invoice', 'POST', (id) => `/invoices/${id}/finalize`],
  ['invoice', 'POST', (id) => `/invoices/${id}/void`],
  ['invoice', 'POST', (id) => `/invoices/${id}/payment/attempt`],
  ['payment', 'GET', (id) => `/payments/${id}`],
  ['payment', 'PUT', (id) => `/payments/${id}`, { metadata: { a: 'b' } }],
  ['payment', 'DELETE', (id) => `/payments/${id}`],
  ['payment', 'POST', (id) => `/payments/${id}/process`],
  ['paymentMethod', 'DELETE', (id) => `/customers/${mine.customer}/payment-methods/${id}`],
  ['paymentMethod', 'POST', (id) => `/customers/${mine.customer}/payment-methods/${id}/default`],
  ['testClock', 'GET', (id) => `/test-clocks/${id}`],
  ['testClock', 'DELETE', (id) => `/test-clocks/${id}`],
  ['testClock', 'POST', (id) => `/test-clocks/${id}/advance`, { to: '2026-02-01T00:00:00Z' }],
];

/** Requests that name an object inside their body: the answer names the field. */
const byReference: [noun: keyof Belongings, field: string, path: string, body: (id: string) => object][] = [
  ['customer', 'customer_id', '/subscriptions', (id) => ({ ...subscription(), customer_id: id })],
  ['plan', 'plan_id', '/subscriptions', (id) => ({ ...subscription(), plan_id: id })],
  [
    'paymentMethod',
    'gateway_payment_method_id',
    '/subscriptions',
    (id) => ({ ...subscription(), gateway_payment_method_id: id }),
  ],
  [
    'customer',
    'parent_customer_id',
    '/customers',
    (id) => ({ external_id: 'child', name: 'C', parent_customer_id: id }),
  ],
  ['testClock', 'test_clock_id', '/customers', (id) => ({ external_id: 'clocked', name: 'C', test_clock_id: id })],
  ['plan', 'plan', '/entitlements', (id) => ({ plan_id: id, feature_id: mine.feature, feature_type: 'boolean' })],
  ['feature', 'feature_id', '/entitlements', (id) => ({ plan_id: mine.plan, feature_id: id, feature_type: 'boolean' })],
  ['meter', 'meter_id', '/features', (id) => ({ name: 'F', type: 'metered', meter_id: id })],
  ['meter', 'meter', '/events/usage/meter', (id) => ({ meter_id: id, external_customer_id: 'kept' })],
  ['subscription', 'subscription', '/invoices/preview', (id) => ({ subscription_id: id })],
  ['invoice', 'invoice', '/payments', (id) => ({ ...payment(), destination_id: id })],
  [
    'paymentMethod',
    'payment method',
    '/payments',
    (id) => ({ ...payment(), payment_method_type: 'CARD', payment_method_id: id }),
  ],
];

describe.each([
  ['an unknown id', unknown],
  ['an id of another tenant', ofTenant],
  ['an id of another environment of the same tenant', ofEnvironment],
])('%s', (_name, theirs) => {
  test.each(byId)('%s: %s is 404 and says which', async (noun, method, path, body) => {
    await refused({ method, path: path(theirs[noun]), body }, 404, 'not_found', theirs[noun]);
  });

  test.each(byReference)('%s as %s in %s is refused and named', async (noun, field, path, body) => {
    const answer = await api<{ code: string; message: string }>('POST', path, body(theirs[noun]));
    expect([answer.status, answer.body.code], answer.body.message).toBeOneOf([
      [404, 'not_found'],
      [400, 'validation_error'],
    ]);
    expect(JSON.stringify(answer.body)).toContain(field);
    expect(answer.body.message).toMatch(new RegExp(`${theirs[noun]}|^${field} must name`));
    expect(await rowCounts(base)).toBe(before);
  });
});

type BadRequest = [name: string, request: () => Request, words: string[], status?: number, code?: string];

// biome-ignore format: a table, a case a line
const subscriptions: BadRequest[] = [
  ['a plan that is archived', () => ({ path: '/subscriptions', body: { ...subscription(), plan_id: archivedPlan } }), ['plan_id', 'archived', 'choose']],
  ['a customer that is archived', () => ({ path: '/subscriptions', body: { ...subscription(), customer_id: archivedCustomer } }), ['customer_id', 'archived', 'choose']],
  ['no customer', () => ({ path: '/subscriptions', body: { ...subscription(), customer_id: undefined } }), ['customer_id']],
  ['a currency the plan has no price in', () => ({ path: '/subscriptions', body: { ...subscription(), currency: 'eur' } }), ['plan_id', 'eur', 'choose another']],
  ['a currency that is none', () => ({ path: '/subscriptions', body: { ...subscription(), currency: 'dollars' } }), ['currency']],
  ['a period the plan has no price for', () => ({ path: '/subscriptions', body: { ...subscription(), billing_period: 'WEEKLY' } }), ['WEEKLY', 'choose another']],
  ['a period that does not exist', () => ({ path: '/subscriptions', body: { ...subscription(), billing_period: 'FORTNIGHTLY' } }), ['billing_period']],
  ['an end before its start', () => ({ path: '/subscriptions', body: { ...subscription(), start_date: '2026-02-01T00:00:00Z', end_date: '2026-01-31T00:00:00Z' } }), ['end_date', 'start_date']],
  ['a start without a time zone', () => ({ path: '/subscriptions', body: { ...subscription(), start_date: '2026-02-01T00:00:00' } }), ['start_date', 'RFC 3339', 'Z']],
  ['a time zone that does not exist', () => ({ path: '/subscriptions', body: { ...subscription(), customer_timezone: 'Mars/Olympus' } }), ['timezone', 'IANA']],
  ['a number of periods that is none', () => ({ path: '/subscriptions', body: { ...subscription(), billing_period_count: 'two' } }), ['billing_period_count']],
  ['a trial of less than no days', () => ({ path: '/subscriptions', body: { ...subscription(), trial_period_days: -1 } }), ['trial_period_days']],
  ['metadata that is no text', () => ({ path: '/subscriptions', body: { ...subscription(), metadata: { a: 1 } } }), ['metadata.a']],
  ['a way to cancel that does not exist', () => ({ path: `/subscriptions/${mine.subscription}/cancel`, body: { cancellation_type: 'someday' } }), ['cancellation_type']],
  ['a cancellation in the past', () => ({ path: `/subscriptions/${mine.subscription}/cancel`, body: { cancellation_type: 'scheduled_date', cancel_at: '2025-01-01T00:00:00Z' } }), ['cancel_at', 'future']],
  ['a preview of a period that ends before it starts', () => ({ path: '/invoices/preview', body: { subscription_id: mine.subscription, period_start: '2026-01-20T00:00:00Z', period_end: '2026-01-10T00:00:00Z' } }), ['period_end']],
];

// biome-ignore format: a table, a case a line
const others: BadRequest[] = [
  ['a customer in a time zone that does not exist', () => ({ path: '/customers', body: { external_id: 'z', name: 'Z', timezone: 'Mars/Olympus' } }), ['timezone', 'IANA']],
  ['a customer whose name is a number', () => ({ path: '/customers', body: { external_id: 'z', name: 5 } }), ['name']],
  ['a customer whose external id is taken', () => ({ path: '/customers', body: { external_id: 'kept', name: 'K' } }), ['external_id', 'kept'], 409, 'already_exists'],
  ['a payment of no decimal', () => ({ path: '/payments', body: { ...payment(), amount: '1,50' } }), ['amount', 'decimal']],
  ['a payment with an exponent', () => ({ path: '/payments', body: { ...payment(), amount: '1e400' } }), ['amount']],
  ['a payment of a negative amount', () => ({ path: '/payments', body: { ...payment(), amount: '-1' } }), ['amount']],
  ['a payment in another currency than its invoice', () => ({ path: '/payments', body: { ...payment(), currency: 'eur' } }), ['currency', 'usd']],
  ['a price of no decimal', () => ({ path: '/prices', body: { entity_type: 'PLAN', entity_id: mine.plan, type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd', amount: 'NaN' } }), ['amount', 'decimal']],
  ['a due date in the past', () => ({ method: 'PUT', path: `/invoices/${mine.invoice}`, body: { due_date: '2020-01-01T00:00:00Z' } }), ['due_date', 'after']],
  ['finalizing what is final', () => ({ path: `/invoices/${mine.invoice}/finalize` }), ['FINALIZED']],
  ['an event without a time zone', () => ({ path: '/events', body: { ...event, timestamp: '2026-01-01T00:00:00' } }), ['timestamp', 'zone']],
  ['an event without a name', () => ({ path: '/events', body: { ...event, event_name: '' } }), ['event_name']],
  ['a batch of 1 001 events', () => ({ path: '/events/bulk', body: { events: Array.from({ length: 1_001 }, () => event) } }), ['events', '1000']],
  ['a batch with one bad event', () => ({ path: '/events/bulk', body: { events: [event, { ...event, external_customer_id: 7 }] } }), ['events[1].external_customer_id']],
  ['a body that is too large', () => ({ path: '/customers', body: { external_id: 'large', name: 'x'.repeat(5 * 1024 * 1024) } }), ['body']],
  ['usage that ends before it starts', () => ({ path: '/events/usage', body: { event_name: 'call', aggregation_type: 'COUNT', start_time: '2026-02-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' } }), ['end_time']],
  ['usage of an aggregation that does not exist', () => ({ path: '/events/usage', body: { event_name: 'call', aggregation_type: 'MEDIAN' } }), ['aggregation_type']],
  ['a reused idempotency key with another body', () => ({ path: '/customers', body: { external_id: 'idem-2', name: 'Idem' }, headers: { 'idempotency-key': 'key-1' } }), ['Idempotency-Key', 'another request'], 409, 'already_exists'],
  ['a reused idempotency key on a subscription', () => ({ path: '/subscriptions', body: subscription(), headers: { 'idempotency-key': 'key-1' } }), ['Idempotency-Key'], 409, 'already_exists'],
  ['a test clock that goes back', () => ({ path: `/test-clocks/${mine.testClock}/advance`, body: { to: '2025-01-01T00:00:00Z' } }), ['to']],
  ['a test clock without a time', () => ({ path: '/test-clocks', body: {} }), ['frozen_time']],
  ['a list of more than 1 000', () => ({ path: '/subscriptions/search', body: { limit: 1_001 } }), ['limit', '1000']],
  ['a filter on a column nobody has', () => ({ path: '/invoices/search', body: { filters: [{ field: 'secret', operator: 'eq', data_type: 'string', value: { string: 'x' } }] } }), ['filters[0].field', 'must be one of']],
  ['a feed position that is none', () => ({ method: 'GET', path: '/outbound-events?after=yesterday' }), ['after']],
];

test.each([...subscriptions, ...others])(
  '%s is refused',
  async (_name, request, words, status = 400, code = 'validation_error') => {
    await refused(request(), status, code, ...words);
  },
);

test('a refused subscription leaves no workflow behind', async () => {
  const count = async () =>
    (await temporal.client.workflow.count(`WorkflowType = 'subscription' and ExecutionStatus = 'Running'`)).count;
  await expect.poll(count, { timeout: 20_000 }).toBe(3);
});
