import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, testPlatform } from '../../../support/billing.ts';
import { type BilledCustomer, billedCustomer, countCalls, invoicesOf, type Wire } from '../invoice.fixture.ts';

const platform = await testPlatform();
const { api, base } = platform;
let customer: BilledCustomer;
let invoices: Wire[];

beforeAll(async () => {
  const card = sandboxCardNumber('succeeds');
  customer = await billedCustomer(platform, { card });
  // Others on the same clock are finalized in the same transactions.
  for (let other = 0; other < 3; other += 1) await billedCustomer(platform, { card });
  await countCalls(api, customer, 12, '2026-02-01T00:00:00Z');
  await advanceTo(api, customer.clockId, '2026-04-20T00:00:00Z');
  invoices = await invoicesOf(api, customer.customerId);
});

const verify = async (id: string) => (await api<Wire>('GET', `/invoices/${id}/verify`)).body;

/** What the owner of the tables does in one transaction, which is taken back. */
async function asOwner<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: base.ownerUrl });
  await client.connect();
  try {
    await client.query('begin');
    return await work(client);
  } finally {
    await client.query('rollback');
    await client.end();
  }
}

describe('a finalized invoice', () => {
  test('is sealed, chained to the one before in its sequence, and follows from its derivations', async () => {
    const finals = invoices.filter((invoice) => invoice.invoice_status === 'FINALIZED');
    expect(finals.length).toBeGreaterThan(3);
    for (const invoice of finals) {
      expect(await verify(invoice.id)).toMatchObject({
        invoice_id: invoice.id,
        invoice_number: invoice.invoice_number,
        verified: true,
        checks: ['document', 'chain', 'amounts'].map((check) => ({ check, ok: true })),
        chain: invoice.invoice_number.split('-')[1],
        position: Number(invoice.invoice_number.split('-')[2]),
        mismatches: [],
      });
    }
    const seals = await asOwner(async (client) => {
      const text = 'select * from invoice_document order by chain, position';
      return (await client.query<Wire>(text)).rows;
    });
    for (const [index, seal] of seals.entries()) {
      const before = seals[index - 1]?.chain === seal.chain ? seals[index - 1].hash : null;
      expect(seal.previous_hash).toBe(before);
    }
  });

  test.each([
    ['its total', `update invoice set total = total + 1 where id = $1`],
    ['its number', `update invoice set invoice_number = 'X' where id = $1`],
    ['its customer', `update invoice set customer_id = 'cust_x' where id = $1`],
    ['its finalization', `update invoice set finalized_at = null where id = $1`],
    ['its status back to draft', `update invoice set invoice_status = 'DRAFT' where id = $1`],
    ['a line', `update invoice_line_item set amount = 0 where invoice_id = $1`],
    ['the name of a line', `update invoice_line_item set display_name = 'X' where invoice_id = $1`],
    ['the derivation of a line', `update invoice_line_item set derivation = '{}' where invoice_id = $1`],
    ['a line less', `delete from invoice_line_item where invoice_id = $1`],
    [
      'a line more',
      `insert into invoice_line_item (id, tenant_id, environment_id, created_at, updated_at, invoice_id, customer_id, position, currency, quantity, amount)
       select 'inv_line_x', tenant_id, environment_id, now(), now(), id, customer_id, 9, currency, 1, 1 from invoice where id = $1`,
    ],
    ['itself', `delete from invoice where id = $1`],
    ['its seal', `update invoice_document set digest = 'x' where invoice_id = $1`],
    ['no seal', `delete from invoice_document where invoice_id = $1`],
  ])('refuses a change of %s, even by the owner of the table', async (_, text) => {
    const change = asOwner((client) => client.query(text, [invoices[1].id]));
    await expect(change).rejects.toThrow(/finalized|seal/);
  });

  test('may change what payments and people write', async () => {
    const count = await asOwner(async (client) => {
      const text = `update invoice set payment_status = 'PENDING', amount_paid = 0, due_date = now(), metadata = '{"a": "b"}', attended = true,
        adjustment_amount = 1, amount_due = 2, refunded_amount = 3, invoice_status = 'VOIDED', version = version + 1 where id = $1`;
      return (await client.query(text, [invoices[1].id])).rowCount;
    });
    expect(count).toBe(1);
  });

  test('that was changed behind the triggers is found out, and told which amount', async () => {
    const { id } = invoices[2];
    const client = new pg.Client({ connectionString: base.ownerUrl });
    await client.connect();
    try {
      await client.query('set session_replication_role = replica');
      const change = async (text: string) => client.query(text, [id]);
      await change('update invoice_line_item set amount = amount + 1 where invoice_id = $1');
      const found = await verify(id);
      expect(found).toMatchObject({ verified: false, checks: [{ ok: false }, { ok: true }, { ok: false }] });
      expect(found.mismatches.map((one: Wire) => one.field)).toEqual(expect.arrayContaining(['amount', 'subtotal']));
      await change('update invoice_line_item set amount = amount - 1 where invoice_id = $1');
      expect((await verify(id)).verified).toBe(true);
      await change(`update invoice_document set previous_hash = repeat('0', 64) where invoice_id = $1`);
      expect(await verify(id)).toMatchObject({ verified: false, checks: [{ ok: true }, { ok: false }, { ok: true }] });
      await change(`update invoice_document as d set previous_hash = (select b.hash from invoice_document b
        where b.environment_id = d.environment_id and b.chain = d.chain and b.position = d.position - 1) where d.invoice_id = $1`);
    } finally {
      await client.end();
    }
    expect((await verify(id)).verified).toBe(true);
  });
});

test('a draft has no document to verify', async () => {
  const late = await billedCustomer(platform);
  await advanceTo(api, late.clockId, '2026-02-15T00:00:00Z');
  const draft = (await invoicesOf(api, late.customerId)).find((invoice) => invoice.invoice_status === 'DRAFT');
  expect(await api('GET', `/invoices/${draft.id}/verify`)).toMatchObject({
    status: 400,
    body: { code: 'validation_error' },
  });
  expect((await api('GET', '/invoices/inv_none/verify')).status).toBe(404);
});
