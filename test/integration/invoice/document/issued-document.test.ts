import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { recordPapersOfIssued } from '../../../../db/migrations/20261125_30_document_papers.ts';
import { documentDigestText } from '../../../../db/rows/document-digest.ts';
import { chainedHash } from '../../../../services/invoice/document/invoice-seal.ts';
import { advanceTo, created, testPlatform } from '../../../support/billing.ts';
import { type BilledCustomer, billedCustomer, countCalls, invoicesOf, type Wire } from '../invoice.fixture.ts';
import { eInvoices } from './e-invoice.fixture.ts';

const platform = await testPlatform();
const { api, base } = platform;
const { sellerIsKnown, setting, seller, customerOf, rate, coupon, invoice, read } = eInvoices(platform);

const buyer = {
  email: 'a@b.example',
  address_line1: 'Ring 1',
  address_city: 'Wien',
  address_postal_code: '1010',
  address_country: 'AT',
  metadata: { vat_id: 'ATU12345678', buyer_reference: 'REF 1', note: 'of nobody else' },
};
let issued: Wire;
let note: Wire;
let billed: BilledCustomer;
let ofPlan: Wire;
let customerId: string;
let terms: { rate: Wire; coupon: string };

beforeAll(async () => {
  await sellerIsKnown();
  await setting({ contact_name: 'Billing' });
  customerId = await customerOf({ name: 'Beispiel AG', ...buyer });
  terms = { rate: await rate('20'), coupon: await coupon({ type: 'percentage', percentage_off: '10' }) };
  issued = await invoice(['100', '20'], {
    customer_id: customerId,
    tax_rate_overrides: [terms.rate],
    coupons: [terms.coupon],
    description: 'As agreed',
    metadata: { purchase_order: 'PO 7' },
  });
  const line_items = [{ invoice_line_item_id: issued.line_items[0].id, amount: '12' }];
  note = await created<Wire>(api, '/creditnotes', { invoice_id: issued.id, reason: 'SERVICE_ISSUE', line_items });
  billed = await billedCustomer(platform);
  await api('PUT', `/customers/${billed.customerId}`, { name: 'Calls AG', ...buyer });
  await countCalls(api, billed, 30, '2026-02-01T00:00:00Z');
  await advanceTo(api, billed.clockId, '2026-02-16T00:00:00Z');
  ofPlan = (await invoicesOf(api, billed.customerId)).filter((one) => one.invoice_status === 'FINALIZED').at(-1);
});

const electronic = ['ubl', 'cii', 'facturx', 'ubl&profile=xrechnung', 'cii&profile=xrechnung'];

/** Every format of every document, by its address. */
async function everything(): Promise<Map<string, Buffer>> {
  const paths = [issued.id, ofPlan.id].flatMap((id) => [
    `/invoices/${id}/pdf`,
    `/invoices/${id}/explain?format=html`,
    ...electronic.map((format) => `/invoices/${id}/e-invoice?format=${format}`),
  ]);
  paths.push(...electronic.map((format) => `/creditnotes/${note.id}/e-invoice?format=${format}`));
  paths.push(`/creditnotes/${note.id}/pdf`);
  const files = new Map<string, Buffer>();
  for (const path of paths) {
    const answer = await read(path);
    expect([path, answer.statusCode, answer.statusCode === 200 ? '' : answer.body]).toEqual([path, 200, '']);
    files.set(path, answer.rawPayload);
  }
  return files;
}

async function expectDone(answer: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await answer;
  expect([status, status < 300 ? null : body]).toEqual([expect.any(Number), null]);
}

async function renameEverything(): Promise<void> {
  await seller({ email: 'x@y.example', phone: '+1', address: { address_line1: 'X', address_country: 'FR' } });
  await expectDone(api('PUT', '/tenants/update', { name: 'Renamed SA' }));
  const numbers = { vat_id: 'FR12345678901', registration_id: 'X', contact_name: 'X', bic: 'BBBBDEFFXXX' };
  await expectDone(setting({ ...numbers, iban: 'FR1420041010050500013M02606', untaxed_category: 'E' }));
  const value = { footer: 'Renamed', accent_color: '#aa3311', paper: 'us-letter' };
  await expectDone(api('PUT', '/settings/invoice_pdf_config', { value }));
  const other = { name: 'Renamed AG', email: 'z@z.example', address_line1: 'Z', address_country: 'CH' };
  const metadata = { vat_id: 'CHE123', buyer_reference: 'X', language: 'de' };
  for (const id of [customerId, billed.customerId]) {
    await expectDone(api('PUT', `/customers/${id}`, { ...other, timezone: 'Pacific/Auckland', metadata }));
  }
  for (const id of [issued.id, ofPlan.id]) {
    await expectDone(
      api('PUT', `/invoices/${id}`, { metadata: { purchase_order: 'X' }, due_date: '2031-01-01T00:00:00Z' }),
    );
  }
  const { body: subscription } = await api<Wire>('GET', `/subscriptions/${billed.subscriptionId}`);
  await expectDone(api('PUT', `/plans/${subscription.plan_id}`, { name: 'Renamed plan' }));
  for (const { price_id } of subscription.line_items) {
    await expectDone(api('PUT', `/prices/${price_id}`, { display_name: 'Renamed price' }));
  }
  await expectDone(api('PUT', `/coupons/${terms.coupon}`, { name: 'Renamed coupon' }));
  // A rate that was charged keeps its name through the API; even so nothing of it may show.
  const client = new pg.Client({ connectionString: base.ownerUrl });
  await client.connect();
  for (const table of ['tax_rate', 'meter', 'feature']) await client.query(`update ${table} set name = 'Renamed'`);
  await client.end();
}

const verified = async (id: string) => (await api<Wire>('GET', `/invoices/${id}/verify`)).body;

describe('an issued document', () => {
  test('is the same file, byte by byte, after everything that it shows was renamed', async () => {
    const before = await everything();
    await renameEverything();
    const after = await everything();
    const changed = [...before].filter(([path, file]) => !after.get(path)?.equals(file)).map(([path]) => path);
    expect(changed).toEqual([]);
    for (const { id } of [issued, ofPlan]) {
      expect(await verified(id)).toMatchObject({ verified: true, texts_sealed: true });
    }
  });

  test('is followed by documents that show what is so now', async () => {
    const next = await invoice(['5'], { customer_id: customerId, idempotency_key: 'next' });
    const file = (await read(`/invoices/${next.id}/e-invoice?format=ubl`)).body;
    expect(file).toContain('Renamed SA');
  });

  test('cannot have what it shows changed by the owner of the tables, and who does so behind the triggers is found out', async () => {
    const client = new pg.Client({ connectionString: base.ownerUrl });
    await client.connect();
    const rename = `update document_content d set content = content || '{"name": "Else"}' from document_paper p
      where p.document_id = $1 and d.environment_id = p.environment_id and d.digest = p.customer`;
    try {
      for (const text of [rename, 'delete from document_paper where document_id = $1']) {
        await expect(client.query(text, [issued.id])).rejects.toThrow('stays as it was written');
      }
      await client.query('set session_replication_role = replica');
      await client.query(rename, [issued.id]);
      expect(await verified(issued.id)).toMatchObject({
        verified: false,
        checks: [{ ok: false }, { ok: true }, { ok: true }],
      });
      await client.query(rename.replace('Else', 'Beispiel AG'), [issued.id]);
      expect(await verified(issued.id)).toMatchObject({ verified: true });
    } finally {
      await client.end();
    }
  });
});

test('what was issued before papers were kept gets one from the upgrade, its seal holds in its older form, and it stays as it is then', async () => {
  const client = new pg.Client({ connectionString: base.ownerUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('set local session_replication_role = replica');
    // As it was left by the release before: without papers, the seal over the rest.
    const alone = await invoice(['7'], { customer_id: customerId, invoice_number: 'OLD-1', idempotency_key: 'old' });
    await client.query('delete from document_paper where document_id = any($1)', [[alone.id, note.id]]);
    await client.query(`update audit_entry set detail = detail - 'paper' where object_id = $1`, [note.id]);
    const { rows } = await client.query(documentDigestText('i.id = $1'), [alone.id]);
    const [{ digest }] = rows;
    await client.query('update invoice_document set digest = $2, hash = $3 where invoice_id = $1', [
      alone.id,
      digest,
      chainedHash(null, digest),
    ]);
    await client.query(
      `update audit_entry set detail = detail || jsonb_build_object('document', $2::text) where object_id = $1 and action = 'finalized'`,
      [alone.id, digest],
    );
    await client.query('set local session_replication_role = origin');
    for (const text of recordPapersOfIssued) await client.query(text);
    await client.query('commit');
    const found = await verified(alone.id);
    expect(found).toMatchObject({ verified: true, texts_sealed: false, texts_recorded_at: expect.any(String) });
    expect(found.checks[0].message).toContain('recorded at');
    const audit = await client.query(
      `select detail ->> 'reason' as reason from audit_entry where object_id = any($1) and action = 'paper recorded'`,
      [[alone.id, note.id]],
    );
    expect(audit.rows).toHaveLength(2);
    for (const { reason } of audit.rows) expect(reason).toContain('issued before');
    const paths = [`/invoices/${alone.id}/pdf`, `/creditnotes/${note.id}/e-invoice?format=ubl`];
    const before = await Promise.all(paths.map(async (path) => (await read(path)).rawPayload));
    await api('PUT', `/customers/${customerId}`, { name: 'Once more AG' });
    const after = await Promise.all(paths.map(async (path) => (await read(path)).rawPayload));
    for (const [index, file] of before.entries()) expect(file.equals(after[index] as Buffer)).toBe(true);
  } finally {
    await client.end();
  }
});
