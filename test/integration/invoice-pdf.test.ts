import { writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { writeSetting } from '../../db/stores/setting.ts';
import { inTransaction } from '../../db/transaction.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { advanceTo, testPlatform } from '../support/billing.ts';
import { type BilledCustomer, billedCustomer, countCalls, invoicesOf, type Wire } from './invoice.fixture.ts';

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

test('an address is told where somebody gave one, and refused by name where there is none', async () => {
  expect(await api<Wire>('GET', `/invoices/${invoice.id}/pdf?url=true`)).toMatchObject({
    status: 501,
    body: { code: 'not_implemented', details: { fields: { url: expect.any(String) } } },
  });
  const invoice_pdf_url = 'https://files.example/1.pdf';
  await api('PUT', `/invoices/${invoice.id}`, { invoice_pdf_url });
  const told = await api<Wire>('GET', `/invoices/${invoice.id}/pdf?url=true`);
  expect(told).toMatchObject({ status: 200, body: { presigned_url: invoice_pdf_url } });
  expect((await api('GET', `/invoices/${invoice.id}/pdf?url=true&force_generate=true`)).status).toBe(501);
});
