import { writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { documentPaths } from '../../../../api/invoice/document/document-address.ts';
import { issueDocumentToken } from '../../../../api/invoice/document/document-token.ts';
import { inTransaction } from '../../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { writeSetting } from '../../../../services/platform/setting.ts';
import { advanceTo, testPlatform } from '../../../support/billing.ts';
import { testPortal } from '../../../support/portal.ts';
import { type BilledCustomer, billedCustomer, countCalls, invoicesOf, type Wire } from '../invoice.fixture.ts';

const platform = await testPlatform();
const { api, app, base } = platform;
let customer: BilledCustomer;
let invoice: Wire;

beforeAll(async () => {
  await api('PUT', '/tenants/update', {
    name: 'Acme Software GmbH',
    billing_details: {
      email: 'finance@acme.example',
      address: {
        address_line1: 'Hauptstraße 1',
        address_postal_code: '10115',
        address_city: 'Berlin',
        address_country: 'DE',
      },
    },
  });
  customer = await billedCustomer(platform, { card: sandboxCardNumber('succeeds') });
  await countCalls(api, customer, 900, '2026-02-01T00:00:00Z');
  await advanceTo(api, customer.clockId, '2026-02-16T00:00:00Z');
  invoice = (await invoicesOf(api, customer.customerId)).at(-1);
});

const pdfOf = (id: string, query = '') =>
  app.inject({ method: 'GET', url: `/v1/invoices/${id}/pdf${query}`, headers: { 'x-api-key': base.apiKey } });

test('an invoice is a PDF/A file of its number', async () => {
  const answer = await pdfOf(invoice.id);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('application/pdf');
  expect(answer.headers['content-disposition']).toBe(`inline; filename="${invoice.invoice_number}.pdf"`);
  const text = answer.rawPayload.toString('latin1');
  expect(text.slice(0, 5)).toBe('%PDF-');
  expect(text).toContain('pdfaid');
  if (process.env.KEEP_PDF) writeFileSync(process.env.KEEP_PDF, answer.rawPayload);
});

test('names of any script and a logo are shown, and a logo that is no image is left out', async () => {
  for (const name of ['شركة النور للتجارة', 'חברה בע"מ', '株式会社日本', '한국 주식회사', '#strong[x] $1$ \\ "']) {
    await api('PUT', `/customers/${customer.customerId}`, { name, address_line1: name });
    expect((await pdfOf(invoice.id)).statusCode, name).toBe(200);
  }
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  for (const data of [dot, 'AAAA']) {
    const value = {
      logo: `data:image/png;base64,${data}`,
      footer: 'IBAN DE00',
      accent_color: '#aa3311',
      paper: 'us-letter',
    };
    await inTransaction(base.database, base.scope, (tx) =>
      writeSetting(tx, 'invoice_pdf_config', value, (whole) => whole),
    );
    expect((await pdfOf(invoice.id)).statusCode, data).toBe(200);
  }
});

test('drafts have a document too; an unknown invoice has none', async () => {
  const other = await billedCustomer(platform);
  await advanceTo(api, other.clockId, '2026-02-15T00:00:00Z');
  const draft = (await invoicesOf(api, other.customerId)).find((one) => one.invoice_status === 'DRAFT');
  expect((await pdfOf(draft.id)).statusCode).toBe(200);
  expect((await pdfOf('inv_none')).statusCode).toBe(404);
});

const told = async (query = '') => api<Wire>('GET', `/invoices/${invoice.id}/pdf?url=true${query}`);
/** Opens an address as whoever was sent it: without any credential. */
const opened = (address: string) => {
  const { pathname, search } = new URL(address);
  return app.inject({ method: 'GET', url: `${pathname}${search}` });
};

test('an address opens the document for whoever has it, as a file to keep, and no cache keeps it', async () => {
  const { status, body } = await told();
  expect(status).toBe(200);
  const answer = await opened(body.presigned_url);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/pdf',
    'content-disposition': `attachment; filename="${invoice.invoice_number}.pdf"`,
    'cache-control': 'private, no-store',
  });
  expect(answer.rawPayload.toString('latin1').slice(0, 5)).toBe('%PDF-');
});

test('an address opens nothing once it has expired, was changed, or is a token for something else', async () => {
  const { tenantId, environmentId } = base.scope;
  const claims = { kind: 'pdf' as const, invoiceId: invoice.id, tenantId, environmentId };
  const address = (token: string) => `http://localhost/v1${documentPaths.pdf}?token=${token}`;
  const before = new Date(Date.now() - 31 * 60_000).toISOString();
  const expired = await opened(address(await issueDocumentToken(testPortal, claims, before)));
  expect([expired.statusCode, expired.json().details.context.expired]).toEqual([403, true]);
  const good = await issueDocumentToken(testPortal, claims, new Date().toISOString());
  const stranger = { portalSigningKeys: ['a-key-that-this-installation-never-had-at-all'] };
  const { body: session } = await api<Wire>('GET', `/customers/portal/${customer.externalId}`);
  const foreign = await issueDocumentToken(stranger, claims, new Date().toISOString());
  const [head, payload, signature] = good.split('.');
  const other = Buffer.from(payload ?? '', 'base64url')
    .toString()
    .replace(invoice.id, 'inv_other');
  const changed = [head, Buffer.from(other).toString('base64url'), signature].join('.');
  const page = await issueDocumentToken(testPortal, { ...claims, kind: 'explanation' }, new Date().toISOString());
  for (const token of [changed, foreign, session.token, page, '', 'x']) {
    const answer = await opened(address(token));
    expect([answer.statusCode, answer.json().code], token).toEqual([403, 'permission_denied']);
  }
  // A key before the present one still opens what it signed.
  const [, former] = testPortal.portalSigningKeys;
  const older = await issueDocumentToken({ portalSigningKeys: [former] }, claims, new Date().toISOString());
  expect((await opened(address(older))).statusCode).toBe(200);
});

test('an address that somebody gave the invoice is told, unless a new one is asked for', async () => {
  const invoice_pdf_url = 'https://files.example/1.pdf';
  await api('PUT', `/invoices/${invoice.id}`, { invoice_pdf_url });
  expect((await told()).body).toEqual({ presigned_url: invoice_pdf_url });
  const { presigned_url } = (await told('&force_generate=true')).body;
  expect((await opened(presigned_url)).statusCode).toBe(200);
  await api('PUT', `/invoices/${invoice.id}`, { invoice_pdf_url: '' });
});

test('where nothing can be signed an address is refused by name', async () => {
  const { tenantId, environmentId } = base.scope;
  const claims = { kind: 'pdf' as const, invoiceId: invoice.id, tenantId, environmentId };
  await expect(issueDocumentToken({}, claims, new Date().toISOString())).rejects.toThrow('PORTAL_SIGNING_KEYS');
});

test("a customer's portal tells addresses of its own invoices and of no others", async () => {
  const { body: session } = await api<Wire>('GET', `/customers/portal/${customer.externalId}`);
  const headers = { 'x-api-key': '', 'x-session-token': session.token };
  const own = await api<Wire>('GET', `/customer/portal/invoices/${invoice.id}/pdf`, undefined, headers);
  expect((await opened(own.body.presigned_url)).statusCode).toBe(200);
  const other = await billedCustomer(platform);
  const [theirs] = await invoicesOf(api, other.customerId);
  const refused = await api<Wire>('GET', `/customer/portal/invoices/${theirs.id}/pdf`, undefined, headers);
  expect(refused.status).toBe(404);
});
