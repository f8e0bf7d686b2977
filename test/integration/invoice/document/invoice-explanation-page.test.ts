import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createSandbox } from '../../../../services/platform/tenant.ts';
import { created, testPlatform } from '../../../support/billing.ts';
import { explainedInvoice } from '../../usage/explained.fixture.ts';
import type { Wire } from '../invoice.fixture.ts';

const platform = await testPlatform();
const { api, app, base } = platform;
await api('PUT', '/tenants/update', {
  name: 'Acme Software GmbH',
  billing_details: { email: 'finance@acme.example', address: { address_city: 'Berlin', address_country: 'DE' } },
});
const invoice = await explainedInvoice(platform);
const { body: explained } = await api<Wire>('GET', `/invoices/${invoice.id}/explain`);

const get = (query = '', headers: Record<string, string> = {}, id = invoice.id) =>
  app.inject({
    method: 'GET',
    url: `/v1/invoices/${id}/explain${query}`,
    headers: { 'x-api-key': base.apiKey, ...headers },
  });
const page = await get('?format=html');
if (process.env.KEEP_PAGE) writeFileSync(process.env.KEEP_PAGE, page.body);

const lineOf = (name: string) => explained.lines.find((line: Wire) => line.display_name.startsWith(name));
const stepsOf = (name: string) => lineOf(name).steps.map((step: Wire) => [step.kind, step.amount]);

test('each line has its derivation, step by step with the amount of each', () => {
  expect(stepsOf('Platform')).toEqual([
    ['quantity', null],
    ['price', '93'],
    ['proration', expect.stringMatching(/^50\.81830417/)],
    ['rounding', lineOf('Platform').amount],
    ['discount', `-${lineOf('Platform').line_item_discount}`],
    ['discount', `-${lineOf('Platform').invoice_level_discount}`],
  ]);
  expect(stepsOf('Support').slice(0, 3)).toEqual([
    ['quantity', null],
    ['price', '62'],
    ['proration', expect.stringMatching(/^18\.85868102/)],
  ]);
  expect(stepsOf('API')).toEqual([
    ['usage', null],
    ['price', '10'],
    ['price', '40.95'],
    ['price', '9.68'],
    ['price', '60.63'],
    ['rounding', '60.63'],
    ['discount', `-${lineOf('API').invoice_level_discount}`],
    ['credit', '-20'],
    ['late_usage', null],
  ]);
  expect(stepsOf('Exports').slice(2, 4)).toEqual([
    ['commitment', '13.75'],
    ['rounding', '13.75'],
  ]);
  expect(lineOf('API').late_usage).toEqual({ event_count: 3, voided_count: 0, quantity: '3' });
});

test('coupons, taxes and credits are data too, with what each was computed on', () => {
  const { amount, line_item_id } = lineOf('Platform');
  expect(explained.discounts).toMatchObject([
    { coupon_name: 'Seats half price', line_item_id, discount_percentage: '50', original_price: amount },
    { coupon_name: 'Spring 10', line_item_id: null, discount_percentage: '10' },
  ]);
  const taken = explained.discounts.map((row: Wire) => row.discounted_amount);
  expect(taken).toEqual(invoice.coupon_applications.map((row: Wire) => row.discounted_amount));
  expect(explained.taxes.map((row: Wire) => [row.name, row.tax_behavior, row.tax_amount])).toEqual(
    invoice.taxes.map((row: Wire) => [row.tax_rate.name, row.tax_behavior, row.tax_amount]),
  );
  expect(explained.credits).toMatchObject([
    { wallet_name: 'Welcome credits', amount: '20', credit_amount: '20', lots: [{ credits: '20' }] },
  ]);
  expect(explained.credits[0].sentence).toBe('Wallet "Welcome credits" pays 20.00 usd with 20 prepaid credits.');
});

test('a browser gets the page, a program JSON, and format decides over both', async () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const typeOf = async (...asked: Parameters<typeof get>) => (await get(...asked)).headers['content-type'];
  expect(await typeOf('', { accept: browser })).toBe('text/html; charset=utf-8');
  expect(await typeOf('?format=html')).toBe('text/html; charset=utf-8');
  for (const accept of ['application/json', '*/*', 'image/png']) {
    expect(await typeOf('', { accept }), accept).toMatch(/^application\/json/);
  }
  expect(await typeOf('?format=json', { accept: browser })).toMatch(/^application\/json/);
  expect((await get('', { accept: browser })).headers.vary).toContain('accept');
  expect(await api('GET', `/invoices/${invoice.id}/explain?format=pdf`)).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('format') },
  });
});

test('the page shows every line and amount, escaped, in the words and the time zone of its customer', () => {
  expect(page.statusCode).toBe(200);
  for (const text of [
    'INV-202604-00001',
    'Acme Software GmbH',
    'API calls',
    '1,234',
    'Spring 10',
    'VAT',
    '226 / 743',
    '$18.85868102…',
  ]) {
    expect(page.body, text).toContain(text);
  }
  // The words of the invoice itself.
  for (const label of ['Subtotal', 'Prepaid credits', 'Total', 'Amount due'])
    expect(page.body, label).toContain(`<bdi>${label}</bdi>`);
  expect(page.body).toContain('Platform &#60;b&#62;fee&#60;/b&#62; &#38; &#34;seats&#34;');
  expect(page.body).not.toContain('<b>fee');
  expect(page.body).toContain('<p class="name" dir="auto">שירותי ענן בע&#34;מ</p>');
  expect(page.body).toContain('until 1 Apr 2026');
  expect(page.body).toContain('Times are those of Europe/Berlin');
  expect(page.body).toContain('3 events arrived after this invoice was final');
});

test('the page loads nothing from anywhere, runs nothing and is kept by no cache', () => {
  const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(page.body) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  expect(page.headers['content-security-policy']).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  expect(page.headers['cache-control']).toBe('no-store');
  expect(page.body).not.toMatch(/<script|<link|<iframe|\son\w+=|https?:\/\/|url\(|@import|\sstyle=/);
});

test('drafts and one-off invoices have a page too, and who may not read the invoice gets none', async () => {
  const oneOff = await created<Wire>(api, '/invoices', {
    customer_id: invoice.customer_id,
    ...{ currency: 'jpy', subtotal: '-500', total: '0', amount_due: '0', invoice_status: 'DRAFT' },
    line_items: [{ display_name: '<script>alert(1)</script>', quantity: '1', amount: '-500' }],
  });
  const draft = await get('?format=html', {}, oneOff.id);
  expect(draft.statusCode, draft.body).toBe(200);
  expect(draft.body).toContain('&#60;script&#62;alert(1)&#60;/script&#62;');
  expect(draft.body).toContain('−¥500');
  const other = await createSandbox(base.database, { tenantName: 'Other' });
  expect((await get('?format=html', { 'x-api-key': other.apiKey })).statusCode).toBe(404);
  expect((await get('?format=html', { 'x-api-key': 'sk_wrong' })).statusCode).toBe(401);
});

/** Opens an address as whoever was sent it: without any credential. */
const opened = (address: string) => {
  const { pathname, search } = new URL(address);
  return app.inject({ method: 'GET', url: `${pathname}${search}` });
};

test('an address opens the page for whoever has it, as a file to keep, and opens nothing else', async () => {
  const { body } = await api<Wire>('GET', `/invoices/${invoice.id}/explain?url=true`);
  const answer = await opened(body.presigned_url);
  expect([answer.statusCode, answer.body]).toEqual([200, page.body]);
  expect(answer.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-disposition': `attachment; filename="${invoice.invoice_number}.html"`,
    'content-security-policy': page.headers['content-security-policy'],
    'cache-control': 'private, no-store',
  });
  const { body: ofPdf } = await api<Wire>('GET', `/invoices/${invoice.id}/pdf?url=true`);
  for (const [address, path] of [
    [body.presigned_url, 'invoice.pdf'],
    [ofPdf.presigned_url, 'invoice.html'],
  ]) {
    expect((await opened(address.replace(/invoice\.\w+/, path))).statusCode).toBe(403);
  }
  expect((await api('GET', '/invoices/inv_none/explain?url=true')).status).toBe(404);
});

test("a customer's portal tells the address of its own invoices and of no others", async () => {
  const { body: customer } = await api<Wire>('GET', `/customers/${invoice.customer_id}`);
  const ofPortal = async (externalId: string) => {
    const { body: session } = await api<Wire>('GET', `/customers/portal/${externalId}`);
    const headers = { 'x-api-key': '', 'x-session-token': session.token };
    return api<Wire>('GET', `/customer/portal/invoices/${invoice.id}/explain`, undefined, headers);
  };
  const own = await ofPortal(customer.external_id);
  expect((await opened(own.body.presigned_url)).body).toBe(page.body);
  const stranger = await created<Wire>(api, '/customers', { external_id: 'stranger', name: 'Stranger' });
  expect((await ofPortal(stranger.external_id)).status).toBe(404);
});

test('the page of a paid invoice says when it was paid', async () => {
  expect(page.body).not.toContain('Paid on');
  expect(page.body).toContain('<dt>Due date</dt>');
  await api('PUT', `/invoices/${invoice.id}/payment`, { payment_status: 'SUCCEEDED' });
  const paid = await get('?format=html');
  expect(paid.body).toContain('Paid in full');
  expect(paid.body).toMatch(/<dt>Paid on<\/dt><dd>\d{1,2} \w+ \d{4}/);
  expect(paid.body).not.toContain('<dt>Due date</dt>');
});
