import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { invoiceToPay, paymentPlatform } from './payment.fixture.ts';

const { api, base } = await paymentPlatform();

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

test('saved cards: the first is the default, another can become it, and none shows its token', async () => {
  const { customerId } = await invoiceToPay(base, { amountDue: '100' });
  const path = `/customers/${customerId}/payment-methods`;
  const save = (body: object) => api<Wire>('POST', path, body);
  const first = await save({ gateway: 'sandbox', card_number: '4000 0000 0000 0002' });
  expect([first.status, first.body]).toMatchObject([
    201,
    { is_default: true, brand: 'visa', last_four: '0002', gateway: 'sandbox' },
  ]);
  expect(JSON.stringify(first.body)).not.toContain('sandbox_card_');
  const second = await save({ card_number: '4000000000010001' });
  expect(second.body.is_default).toBe(false);
  const third = await save({ card_number: '4000000000030009', set_default: true });
  expect(third.body.is_default).toBe(true);
  const defaults = async () =>
    (await api<Wire>('GET', path)).body.items.map((item: Wire) => [item.last_four, item.is_default]);
  expect(await defaults()).toEqual([
    ['0009', true],
    ['0001', false],
    ['0002', false],
  ]);
  expect((await api<Wire>('POST', `${path}/${first.body.id}/default`)).body.is_default).toBe(true);
  expect((await api('DELETE', `${path}/${first.body.id}`)).status).toBe(204);
  expect(await defaults()).toEqual([
    ['0009', true],
    ['0001', false],
  ]);
  expect((await api('DELETE', `${path}/${first.body.id}`)).status).toBe(404);
  expect((await save({ card_number: '4111111111111111' })).body).toMatchObject({ code: 'validation_error' });
  expect((await save({ gateway: 'other', card_number: '4000000000000002' })).body.message).toContain('sandbox');
  expect((await api('GET', '/customers/cust_unknown/payment-methods')).status).toBe(404);
  const kept = await inSqlTransaction(base.database, base.scope, (sql) =>
    sql.rows<{ text: string }>('select row_to_json(m)::text as text from payment_method m'),
  );
  expect(kept.some((row) => row.text.includes('4000000000'))).toBe(false);
});
