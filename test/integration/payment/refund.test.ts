import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, testPlatform } from '../../support/billing.ts';
import { billedCustomer, invoicesOf, type Wire } from '../invoice/invoice.fixture.ts';

const platform = await testPlatform();
const { api, gateway } = platform;

type Behaviour = Parameters<typeof sandboxCardNumber>[0];

/** A customer on a clock at 2026-01-15 whose first invoice of 30 usd was paid by a card, and that credits 10 of it to its source. */
async function refunded(card: Behaviour, count = 0) {
  const customer = await billedCustomer(platform, { card: sandboxCardNumber(card, count) });
  const first = async () => (await invoicesOf(api, customer.customerId))[0];
  await expect.poll(first, { timeout: 20_000 }).toMatchObject({ payment_status: 'SUCCEEDED' });
  const invoice = await first();
  const note = await credit(invoice, '10', 'BACK_TO_SOURCE');
  return { ...customer, invoice, note, ...(await refundsOf(note.id)) };
}

async function credit(invoice: Wire, amount: string, refund_target?: string): Promise<Wire> {
  const line_items = [{ invoice_line_item_id: invoice.line_items[0].id, amount }];
  const body = { invoice_id: invoice.id, reason: 'UNSATISFACTORY', line_items, refund_target };
  const answer = await api<Wire>('POST', '/creditnotes', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

async function refundsOf(noteId: string): Promise<{ refund: Wire; refunds: Wire[] }> {
  const { body } = await api<Wire>('GET', `/refunds?credit_note_id=${noteId}&order=asc`);
  return { refund: body.items[0], refunds: body.items };
}
const refundOf = async (id: string) => (await api<Wire>('GET', `/refunds/${id}`)).body;
const become = (id: string, status: string) =>
  expect.poll(() => refundOf(id), { timeout: 20_000 }).toMatchObject({ refund_status: status });
const retry = (id: string, refund_target?: string) =>
  api<Wire>('POST', `/refunds/${id}/retry`, refund_target ? { refund_target } : undefined);
const creditsOf = async (customerId: string) => {
  const { body } = await api<Wire>('GET', `/customers/${customerId}/wallets`);
  return Array.isArray(body) ? body.map((wallet: Wire) => wallet.balance) : body;
};

test('a gateway that refuses is asked three times by itself, then the wallet pays', async () => {
  const { refund, clockId, note, invoice } = await refunded('refund_fails');
  await become(refund.id, 'FAILED');
  expect(await refundOf(refund.id)).toMatchObject({ attempt: 1, failure_reason: 'card_closed' });
  expect((await api<Wire>('GET', `/creditnotes/${note.id}`)).body.refund_status).toBe('FAILED');
  await advanceTo(api, clockId, '2026-01-15T00:40:00Z');
  expect(await refundOf(refund.id)).toMatchObject({ attempt: 3, refund_status: 'FAILED' });
  const tokens = [refund.id, `${refund.id}:1`, `${refund.id}:2`];
  for (const token of tokens) {
    const kinds = (await gateway.operator.callsOf(token)).map(({ kind }) => kind);
    expect(kinds).toEqual(['look_up_refund', 'refund']);
  }
  await advanceTo(api, clockId, '2026-01-15T01:00:00Z');
  const { refunds } = await refundsOf(note.id);
  expect(refunds).toHaveLength(2);
  const [failed, paid] = [...refunds].sort((a, b) => b.attempt - a.attempt);
  expect(failed).toMatchObject({ id: refund.id, refund_status: 'FAILED', metadata: { replaced_by: paid.id } });
  expect(paid).toMatchObject({
    refund_status: 'SUCCEEDED',
    refund_destination: 'WALLET',
    refund_target: 'PREPAID_WALLET',
    payment_id: refund.payment_id,
    settled_amount: '10',
  });
  expect((await api<Wire>('GET', `/creditnotes/${note.id}`)).body.refund_status).toBe('SUCCEEDED');
  expect((await api<Wire>('GET', `/invoices/${invoice.id}`)).body).toMatchObject({
    refunded_amount: '10',
    payment_status: 'PARTIALLY_REFUNDED',
  });
  expect(await retry(refund.id)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  // Everything of the three is one promise: nothing more than the rest can be credited.
  await advanceTo(api, clockId, '2026-01-16T00:00:00Z');
  expect((await refundsOf(note.id)).refunds).toHaveLength(2);
});

test('refund-fails-then-retry: a failed refund is retried into the wallet by a person, once', async () => {
  const { refund, customerId } = await refunded('refund_fails');
  await become(refund.id, 'FAILED');
  const [first, second] = await Promise.all([retry(refund.id), retry(refund.id)]);
  expect([first.status, second.status].sort()).toEqual([200, 400]);
  expect(await refundOf(refund.id)).toMatchObject({
    refund_status: 'SUCCEEDED',
    refund_destination: 'WALLET',
    refund_target: 'PREPAID_WALLET',
    failure_reason: null,
  });
  expect(await creditsOf(customerId)).toEqual(expect.anything());
});

test('a failed refund is retried through its gateway with a new token', async () => {
  const { refund } = await refunded('refund_fails_times', 1);
  await become(refund.id, 'FAILED');
  expect(await retry(refund.id, 'BACK_TO_SOURCE')).toMatchObject({
    status: 200,
    body: { refund_status: 'SUCCEEDED', refund_destination: 'GATEWAY', attempt: 1, settled_amount: '10' },
  });
  const given = (await gateway.operator.refunds()).filter(({ token }) => token.startsWith(refund.id));
  expect(given).toEqual([expect.objectContaining({ token: `${refund.id}:1`, amount: '10' })]);
});

test.each(['PROCESSING', 'SUCCEEDED'])('a refund that is %s is not retried', async (status) => {
  const { refund } = await refunded(status === 'SUCCEEDED' ? 'succeeds' : 'refund_never_answers');
  await become(refund.id, status);
  expect(await retry(refund.id)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  if (status === 'PROCESSING') await gateway.operator.settleRefund(refund.id, 'succeeded');
});

test('refund-notified-twice: an answer that is late, lost or given twice settles a refund once', async () => {
  for (const [card, count] of [
    ['refund_answers_late', 2],
    ['refund_loses_answer', 0],
    ['refund_answers_twice', 0],
  ] as const) {
    const { refund, clockId } = await refunded(card, count);
    await advanceTo(api, clockId, '2026-01-15T01:00:00Z');
    expect(await refundOf(refund.id), card).toMatchObject({ refund_status: 'SUCCEEDED', attempt: 0 });
    const given = (await gateway.operator.refunds()).filter(({ token }) => token.startsWith(refund.id));
    expect(given, card).toHaveLength(1);
    const payment = (await api<Wire>('GET', `/payments/${refund.payment_id}`)).body;
    expect(payment.payment_status, card).toBe('PARTIALLY_REFUNDED');
  }
});

test('a gateway that says nothing for a day is shown to a person, and the refund waits', async () => {
  const { refund, clockId } = await refunded('refund_never_answers');
  await advanceTo(api, clockId, '2026-01-16T12:00:00Z');
  expect((await refundOf(refund.id)).refund_status).toBe('PROCESSING');
  const { body } = await api<Wire>('GET', '/billing-run');
  expect(JSON.stringify(body.parked)).toContain(refund.id);
});

test('refund-race: of two refunds for more than the rest one is made and the other refused', async () => {
  const customer = await billedCustomer(platform, { card: sandboxCardNumber('succeeds') });
  const first = async () => (await invoicesOf(api, customer.customerId))[0];
  await expect.poll(first, { timeout: 20_000 }).toMatchObject({ payment_status: 'SUCCEEDED' });
  const invoice = await first();
  const ask = (amount: string) => {
    const line_items = [{ invoice_line_item_id: invoice.line_items[0].id, amount }];
    const body = { invoice_id: invoice.id, reason: 'UNSATISFACTORY', line_items, refund_target: 'BACK_TO_SOURCE' };
    return api<Wire>('POST', '/creditnotes', body);
  };
  const amounts = ['20', '21'];
  const statuses = (await Promise.all(amounts.map(ask))).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([201, 400]);
  const amount = amounts[statuses.indexOf(201)];
  const refunds = async () => (await api<Wire>('GET', `/refunds?invoice_id=${invoice.id}`)).body.items;
  await expect.poll(refunds, { timeout: 20_000 }).toMatchObject([{ amount, refund_status: 'SUCCEEDED' }]);
  expect(await first()).toMatchObject({ refunded_amount: amount });
});

test('the wallet takes a refund by default, and what no gateway can return', async () => {
  const customer = await billedCustomer(platform);
  const [invoice] = await invoicesOf(api, customer.customerId);
  const paid = await api<Wire>('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'OFFLINE',
    amount: '30',
    currency: 'usd',
  });
  const byDefault = await refundsOf((await credit(invoice, '10')).id);
  expect(byDefault.refunds).toMatchObject([
    {
      refund_status: 'SUCCEEDED',
      refund_destination: 'WALLET',
      payment_id: null,
      refund_reason: 'OTHER',
      amount: '10',
    },
  ]);
  const toSource = await refundsOf((await credit(invoice, '20', 'BACK_TO_SOURCE')).id);
  expect(toSource.refunds).toMatchObject([
    { refund_status: 'SUCCEEDED', refund_destination: 'WALLET', payment_id: paid.body.id, amount: '20' },
  ]);
  expect((await api<Wire>('GET', `/invoices/${invoice.id}`)).body.payment_status).toBe('REFUNDED');
  expect((await api<Wire>('GET', `/payments/${paid.body.id}`)).body.payment_status).toBe('PARTIALLY_REFUNDED');
});

test('refunds are found by what they are of, and a foreign id is nobody’s', async () => {
  const { refund, invoice, customerId } = await refunded('succeeds');
  await become(refund.id, 'SUCCEEDED');
  const found = async (query: string) => {
    const { body } = await api<Wire>('GET', `/refunds?${query}`);
    return body.items.map((item: Wire) => item.id);
  };
  for (const query of [
    `invoice_id=${invoice.id}`,
    `payment_ids=${refund.payment_id}`,
    `customer_id=${customerId}&refund_status=SUCCEEDED`,
    `refund_ids=${refund.id}&payment_gateway=sandbox&refund_reason=OTHER`,
  ]) {
    expect(await found(query), query).toEqual([refund.id]);
  }
  expect(await found(`invoice_id=${invoice.id}&refund_status=FAILED`)).toEqual([]);
  expect((await api('GET', '/refunds/ref_none')).status).toBe(404);
  expect((await retry('ref_none')).status).toBe(404);
});
