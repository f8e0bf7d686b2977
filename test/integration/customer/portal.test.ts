import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { issuePortalSession } from '../../../api/customer/portal-token.ts';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { accountWithRoles } from '../../support/account.ts';
import { advanceTo, created, testPlatform } from '../../support/billing.ts';
import { testPortal } from '../../support/portal.ts';
import { type BilledCustomer, billedCustomer, countCalls, invoicesOf, type Wire } from '../invoice/invoice.fixture.ts';

const platform = await testPlatform();
const { api, base } = platform;

const mine = await billedCustomer(platform);
const theirs = await billedCustomer(platform);
await countCalls(api, mine, 4, '2026-01-20T00:00:00Z');
for (const customer of [mine, theirs]) await advanceTo(api, customer.clockId, '2026-02-15T00:00:00Z');

async function session(customer: Pick<BilledCustomer, 'externalId'>): Promise<Wire> {
  const { status, body } = await api<Wire>('GET', `/customers/portal/${customer.externalId}`);
  expect(status).toBe(200);
  return body;
}

const { token } = await session(mine);

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
function portal(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const credentials = { 'x-api-key': '', 'x-session-token': token };
  return api<Wire>(method, `/customer/portal${path}`, body, { ...credentials, ...headers });
}

const claims = {
  customer_id: mine.customerId,
  external_customer_id: mine.externalId,
  tenant_id: base.scope.tenantId,
  environment_id: base.scope.environmentId,
};

describe('a portal session', () => {
  it('has the address of the portal with the token, for an hour, and no cache keeps it', async () => {
    const before = Date.now();
    const { body, headers } = await api<Wire>('GET', `/customers/portal/${mine.externalId}`);
    expect(Object.keys(body)).toEqual(['url', 'token', 'expires_at']);
    expect(body.url).toBe(`${testPortal.portalUrl}#token=${body.token}`);
    expect(headers['cache-control']).toBe('no-store');
    const lifetime = Date.parse(body.expires_at) - before;
    expect(Math.abs(lifetime - 3_600_000)).toBeLessThan(600_000);
    const [, payload] = String(body.token).split('.');
    expect(JSON.parse(Buffer.from(payload ?? '', 'base64url').toString())).toMatchObject(claims);
  });

  it('is for published customers of this environment, and needs the permission to read them', async () => {
    expect(await api('GET', '/customers/portal/nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const other = await createSandbox(base.database, { tenantName: 'Other' });
    const foreign = await api('GET', `/customers/portal/${mine.externalId}`, undefined, { 'x-api-key': other.apiKey });
    expect(foreign.status).toBe(404);
    const { apiKey } = await accountWithRoles(base.database, base.scope, ['event_ingestor'], 'service_account');
    const refused = await api('GET', `/customers/portal/${mine.externalId}`, undefined, { 'x-api-key': apiKey });
    expect(refused).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  });
});

describe('the token', () => {
  const sign = (changes: { key?: string; kid?: string; audience?: string; expiresAt?: number; claims?: object }) => {
    const now = Math.floor(Date.now() / 1000);
    const [kid] = token.split('.');
    const header = JSON.parse(Buffer.from(kid ?? '', 'base64url').toString());
    return new SignJWT({ ...claims, ...changes.claims })
      .setProtectedHeader({ ...header, ...(changes.kid ? { kid: changes.kid } : {}) })
      .setAudience(changes.audience ?? 'perennial:customer-portal')
      .setIssuedAt(now - 7_200)
      .setExpirationTime(changes.expiresAt ?? now + 600)
      .sign(new TextEncoder().encode(changes.key ?? testPortal.portalSigningKeys[0]));
  };
  const tried = (text: string) => portal('GET', '/info', undefined, { 'x-session-token': text });

  it('of our own making is accepted, also as a bearer', async () => {
    expect((await tried(await sign({}))).status).toBe(200);
    const bearer = { 'x-session-token': '', authorization: `Bearer ${token}` };
    expect((await portal('GET', '/info', undefined, bearer)).status).toBe(200);
  });

  it('signed with the key before is accepted until it expires', async () => {
    const [, former] = testPortal.portalSigningKeys;
    const now = new Date().toISOString();
    const before = await issuePortalSession(
      { portalSigningKeys: [former] },
      { customerId: mine.customerId, externalCustomerId: mine.externalId, ...scopeIds },
      now,
    );
    expect((await tried(before.token)).status).toBe(200);
  });

  const scopeIds = { tenantId: base.scope.tenantId, environmentId: base.scope.environmentId };
  const hourAgo = Math.floor(Date.now() / 1000) - 3_600;
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`;
  it.each<[string, () => string | Promise<string>]>([
    ['is missing', () => ''],
    ['is malformed', () => 'not-a-token'],
    ['is too long', () => 'x'.repeat(5_000)],
    ['has expired', () => sign({ expiresAt: hourAgo })],
    ['is for another audience', () => sign({ audience: 'perennial:checkout' })],
    ['is signed with another key', () => sign({ key: 'a-key-that-nobody-ever-configured-here' })],
    ['names another key', () => sign({ kid: '0000000000000000' })],
    ['is not signed', () => unsigned],
    ['lacks its customer', () => sign({ claims: { customer_id: '' } })],
    ['names a customer who is not there', () => sign({ claims: { customer_id: 'cust_nobody' } })],
    ['names another tenant', () => sign({ claims: { tenant_id: 'tenant_other' } })],
    ['names another environment', () => sign({ claims: { environment_id: 'env_other' } })],
    [
      'was changed',
      () =>
        token.replace(
          /\.(.)([^.]*)$/,
          (_all: string, first: string, rest: string) => `.${first === 'A' ? 'B' : 'A'}${rest}`,
        ),
    ],
  ])('that %s gets one and the same 401', async (_what, make) => {
    const answer = await tried(await make());
    expect(answer).toMatchObject({
      status: 401,
      body: {
        code: 'permission_denied',
        http_status_code: 401,
        message: 'A valid portal session is required in the X-Session-Token header.',
      },
    });
  });

  it('opens nothing but the portal, and an API key does not open the portal', async () => {
    const elsewhere = { 'x-api-key': '', 'x-session-token': token, authorization: `Bearer ${token}` };
    expect((await api('GET', '/customers', undefined, elsewhere)).status).toBe(401);
    expect((await api('GET', '/customers', undefined, { 'x-api-key': token })).status).toBe(401);
    expect((await api('GET', '/customer/portal/info')).status).toBe(401);
  });

  it('stops working when its customer is deleted', async () => {
    const { external_id } = await created<Wire>(api, '/customers', { external_id: 'leaving', name: 'Leaving' });
    const leaving = await session({ externalId: external_id });
    expect((await tried(leaving.token)).body.external_id).toBe('leaving');
    await api('DELETE', `/customers/${(await tried(leaving.token)).body.id}`);
    expect((await tried(leaving.token)).status).toBe(401);
  });
});

describe('the portal', () => {
  it('shows the customer, and changes only what customers may change of themselves', async () => {
    expect((await portal('GET', '/info')).body).toMatchObject({ id: mine.customerId, external_id: mine.externalId });
    const sent = {
      email: 'me@acme.example',
      address_country: 'de',
      customer_id: theirs.customerId,
      id: theirs.customerId,
      external_id: 'mine-now',
      tax_treatment: 'exempt',
      metadata: { plan: 'free' },
      tax_rate_overrides: [],
    };
    const { status, body } = await portal('PUT', '/info', sent);
    expect([status, body]).toMatchObject([
      200,
      {
        id: mine.customerId,
        email: 'me@acme.example',
        address_country: 'DE',
        external_id: mine.externalId,
        tax_treatment: 'taxable',
        metadata: {},
      },
    ]);
    expect((await api<Wire>('GET', `/customers/${theirs.customerId}`)).body.email).toBeNull();
    expect(await portal('PUT', '/info', { email: 'nobody' })).toMatchObject({ status: 400 });
    expect(await portal('PUT', '/info', { name: '' })).toMatchObject({ status: 400 });
  });

  it('shows usage and the setting of the portal', async () => {
    expect((await portal('GET', '/usage')).body).toMatchObject({ customer_id: mine.customerId, features: [] });
    const config = await portal('GET', '/config');
    expect(config).toMatchObject({ status: 200, body: { key: 'customer_portal_config' } });
  });

  it('shows own subscriptions and invoices only, whatever ids are sent', async () => {
    const sent = { customer_id: theirs.customerId, external_customer_id: theirs.externalId };
    const subscriptions = await portal('POST', '/subscriptions', sent, { 'x-environment-id': 'env_other' });
    expect(subscriptions.body.items.map((one: Wire) => one.id)).toEqual([mine.subscriptionId]);
    expect(subscriptions.body.pagination).toEqual({ limit: 20, offset: 20, total: 1 });
    const [opening, draft] = await invoicesOf(api, mine.customerId);
    expect(draft.invoice_status).toBe('DRAFT');
    const invoices = await portal('POST', '/invoices', sent);
    expect(invoices.body.items.map((one: Wire) => one.id)).toEqual([opening.id]);
    expect((await portal('GET', `/subscriptions/${mine.subscriptionId}`)).body.id).toBe(mine.subscriptionId);
    expect((await portal('GET', `/invoices/${opening.id}`)).body).toMatchObject({ id: opening.id, total: '30' });
    const [foreign] = await invoicesOf(api, theirs.customerId);
    const unseen = [
      `/subscriptions/${theirs.subscriptionId}`,
      `/invoices/${foreign.id}`,
      `/invoices/${draft.id}`,
      '/subscriptions/subs_unknown',
      '/invoices/inv_unknown',
    ];
    for (const path of unseen) {
      expect(await portal('GET', path), path).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });

  it('pages by number', async () => {
    const page = await portal('POST', '/invoices', { page: 3, limit: 25 });
    expect(page.body).toMatchObject({ items: [], pagination: { limit: 25, offset: 50, total: 1 } });
    for (const body of [{ page: 0 }, { limit: 101 }, { limit: 0 }, { page: 1.5 }]) {
      expect(await portal('POST', '/invoices', body)).toMatchObject({ status: 400 });
    }
  });

  it('keeps no answer under an Idempotency-Key, which other customers would find', async () => {
    const headers = { 'idempotency-key': 'one-key' };
    const first = await portal('PUT', '/info', { contact: '1' }, headers);
    const other = { ...headers, 'x-session-token': (await session(theirs)).token };
    const second = await portal('PUT', '/info', { contact: '1' }, other);
    expect([first.body.id, second.body.id]).toEqual([mine.customerId, theirs.customerId]);
  });

  it('obeys the suspension of the tenant', async () => {
    const state = (text: string) =>
      inSqlTransaction(base.database, systemScope, (tx) =>
        tx.rows('update tenant set state = $2 where id = $1', [base.scope.tenantId, text]),
      );
    await state('suspended');
    expect((await portal('GET', '/info')).status).toBe(200);
    expect((await portal('POST', '/invoices')).status).toBe(200);
    expect(await portal('PUT', '/info', { contact: '2' })).toMatchObject({
      status: 403,
      body: { code: 'permission_denied' },
    });
    await state('active');
  });
});

describe('analytics', () => {
  const month = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };

  it('are those of the customer of the session, whoever is named', async () => {
    const asked = { ...month, window_size: 'MONTH', external_customer_id: theirs.externalId };
    const shown = await portal('POST', '/analytics/revenue', asked);
    expect(shown.status, JSON.stringify(shown.body)).toBe(200);
    const own = { ...month, window_size: 'MONTH', external_customer_id: mine.externalId };
    expect(shown.body).toEqual((await api<Wire>('POST', '/events/analytics', own)).body);
    expect(shown.body.items).toMatchObject([{ total_usage: '4', points: [{ usage: '4' }] }]);
    expect((await portal('POST', '/analytics/revenue')).status).toBe(200);
  });

  it('are refused for what is refused elsewhere, and without a session', async () => {
    const wrong = await portal('POST', '/analytics/revenue', { group_by: ['properties.a-b'] });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect((await portal('POST', '/analytics/revenue', {}, { 'x-session-token': '' })).status).toBe(401);
  });
});
