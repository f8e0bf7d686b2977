import { expect, test } from 'vitest';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { testPlatform } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;

let count = 0;

/** A customer with an empty wallet, which buys 100 credits with a bonus of 10, and has a card where a behaviour is given. */
async function purchase(fields: Wire = {}, card?: SandboxBehaviour) {
  count += 1;
  const customer = await api<Wire>('POST', '/customers', { external_id: `buyer-${count}`, name: 'Buyer' });
  const customerId = customer.body.id;
  if (card) {
    const saved = await api<Wire>('POST', `/customers/${customerId}/payment-methods`, {
      card_number: sandboxCardNumber(card, card === 'answers_late' ? 2 : 0),
    });
    expect(saved.status, JSON.stringify(saved.body)).toBeLessThan(300);
  }
  const wallet = await api<Wire>('POST', '/wallets', { customer_id: customerId, currency: 'usd' });
  const walletId = wallet.body.id;
  const answer = await api<Wire>('POST', `/wallets/${walletId}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credits_to_add: '100',
    bonus_credits_to_add: '10',
    ...fields,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return { customerId, walletId, invoiceId: answer.body.invoice_id, answer: answer.body };
}
const read = async (path: string) => (await api<Wire>('GET', path)).body;
const balanceOf = async (walletId: string) => (await read(`/wallets/${walletId}`)).credit_balance;
const ledgerOf = async (walletId: string) =>
  (await read(`/wallets/${walletId}/transactions?sort=created_at&order=asc`)).items;
const payByHand = (invoiceId: string, amount?: string) =>
  api<Wire>('PUT', `/invoices/${invoiceId}/payment`, { payment_status: amount ? 'PENDING' : 'SUCCEEDED', amount });
const pay = (invoiceId: string, amount: string) =>
  api<Wire>('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoiceId,
    payment_method_type: 'OFFLINE',
    amount,
    currency: 'usd',
  });
const note = async (invoiceId: string, amount: string, fields: Wire = {}) => {
  const invoice = await read(`/invoices/${invoiceId}`);
  const line_items = [{ invoice_line_item_id: invoice.line_items[0].id, amount }];
  return api<Wire>('POST', '/creditnotes', { invoice_id: invoiceId, reason: 'UNSATISFACTORY', line_items, ...fields });
};
const voided = (invoiceId: string) => api<Wire>('POST', `/invoices/${invoiceId}/void`, {});

test('a purchase waits for its invoice, and moves nothing until it is paid', async () => {
  const { walletId, invoiceId, answer } = await purchase();
  expect(answer.wallet_transaction).toMatchObject({
    transaction_status: 'pending',
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credit_amount: '100',
    credits_available: '0',
    credit_balance_before: '0',
    credit_balance_after: '0',
  });
  expect(await balanceOf(walletId)).toBe('0');
  const invoice = await read(`/invoices/${invoiceId}`);
  expect(invoice).toMatchObject({
    invoice_status: 'FINALIZED',
    payment_status: 'PENDING',
    total: '100',
    total_tax: '0',
    metadata: { wallet_id: walletId, wallet_transaction_id: answer.wallet_transaction.id, credits_amount: '100' },
    line_items: [{ display_name: 'Purchase 100 Credits', price_type: 'FIXED', amount: '100' }],
  });
  expect((await payByHand(invoiceId)).status).toBe(200);
  expect(await balanceOf(walletId)).toBe('110');
  expect(await ledgerOf(walletId)).toMatchObject([
    {
      transaction_status: 'completed',
      credits_available: '100',
      credit_balance_before: '0',
      credit_balance_after: '100',
    },
    { transaction_reason: 'PURCHASED_CREDIT_BONUS', credits_available: '10', credit_balance_after: '110' },
  ]);
  const [settled] = (await read(`/webhooks/events?entity_id=${answer.wallet_transaction.id}`)).items;
  const { payload } = await read(`/webhooks/events/${settled.id}`);
  expect(payload).toMatchObject({
    event_type: 'wallet.transaction.updated',
    updated_transaction: { transaction_status: 'completed', credit_balance_after: '100' },
  });
  expect(payload.transaction).toEqual(payload.updated_transaction);
});

test('a payment settles the purchase in its own transaction, whatever happened to the wallet meanwhile', async () => {
  const { walletId, invoiceId } = await purchase();
  await api('POST', `/wallets/${walletId}/debit`, {
    credits: '30',
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: `overdraft-${walletId}`,
  });
  expect((await pay(invoiceId, '60')).status).toBe(201);
  expect(await balanceOf(walletId)).toBe('-30');
  expect((await pay(invoiceId, '40')).status).toBe(201);
  await expect.poll(() => balanceOf(walletId)).toBe('80');
  // The debt is paid by the credits that were bought.
  expect((await ledgerOf(walletId))[0]).toMatchObject({ credits_available: '70', credit_balance_before: '-30' });
});

test('a saved card pays a purchase as any other invoice', async () => {
  const { walletId, invoiceId } = await purchase({}, 'succeeds');
  await api('POST', `/invoices/${invoiceId}/payment/attempt`);
  await expect.poll(() => balanceOf(walletId), { timeout: 20_000 }).toBe('110');
});

test('voiding the invoice fails the purchase and its bonus', async () => {
  const { walletId, invoiceId } = await purchase();
  expect((await voided(invoiceId)).status).toBe(200);
  const rows = await ledgerOf(walletId);
  expect(rows.map((row: Wire) => row.transaction_status)).toEqual(['failed', 'failed']);
  expect(rows[0].metadata.failure_reason).toContain('voided');
  expect(await balanceOf(walletId)).toBe('0');
});

test('finding 5a: an adjustment cannot turn an unpaid purchase into free credits', async () => {
  const { walletId, invoiceId } = await purchase();
  const refused = await note(invoiceId, '100');
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(refused.body.message).toContain('void it');
  expect(await balanceOf(walletId)).toBe('0');
  expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ payment_status: 'PENDING', amount_remaining: '100' });
});

test('finding 5b: a refund takes its credits, and no more than are left of the lot', async () => {
  const { walletId, invoiceId } = await purchase();
  await payByHand(invoiceId);
  await api('POST', `/wallets/${walletId}/debit`, {
    credits: '60',
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: `use-${walletId}`,
  });
  const refused = await note(invoiceId, '70');
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  const before = (await ledgerOf(walletId)).length;
  const taken = await note(invoiceId, '20');
  expect(taken.status, JSON.stringify(taken.body)).toBe(201);
  const debits = (await ledgerOf(walletId)).slice(before).filter((row: Wire) => row.type === 'debit');
  expect(debits).toMatchObject([
    { transaction_reason: 'CREDIT_ADJUSTMENT', credit_amount: '22', idempotency_key: taken.body.id },
  ]);
});

test('finding 5d: voiding a paid purchase takes its lot, and is refused once some of it is used', async () => {
  const whole = await purchase();
  await pay(whole.invoiceId, '100');
  expect((await voided(whole.invoiceId)).status).toBe(200);
  const rows = await ledgerOf(whole.walletId);
  expect(rows[0]).toMatchObject({ credits_available: '0' });
  expect(
    rows.some((row: Wire) => row.idempotency_key === `${whole.invoiceId}_void` && row.credit_amount === '110'),
  ).toBe(true);
  const used = await purchase();
  await pay(used.invoiceId, '100');
  await api('POST', `/wallets/${used.walletId}/debit`, {
    credits: '1',
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: `one-${used.walletId}`,
  });
  const balance = await balanceOf(used.walletId);
  const refused = await voided(used.invoiceId);
  expect([balance, refused.status, refused.body.code]).toEqual(['109', 400, 'invalid_operation']);
  expect(await balanceOf(used.walletId)).toBe('109');
});

test('edits of the invoice of a purchase are refused', async () => {
  const { invoiceId } = await purchase();
  const invoice = await read(`/invoices/${invoiceId}`);
  const answer = await api<Wire>('PUT', `/invoices/${invoiceId}/line-items`, {
    line_items: [{ id: invoice.line_items[0].id, amount: '1' }],
  });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect((await read(`/invoices/${invoiceId}`)).total).toBe('100');
});

test('terminating a wallet fails its purchase and voids the invoice', async () => {
  const { walletId, invoiceId } = await purchase();
  expect((await api('POST', `/wallets/${walletId}/terminate`)).status).toBe(200);
  expect((await read(`/invoices/${invoiceId}`)).invoice_status).toBe('VOIDED');
  expect((await ledgerOf(walletId))[0].transaction_status).toBe('failed');
});

test('finding 4, paid-after-terminate: a charge under way outlives its wallet, and its money goes back to the card', async () => {
  const { walletId, invoiceId } = await purchase({}, 'answers_late');
  await api('POST', `/invoices/${invoiceId}/payment/attempt`);
  const payments = async () => (await read(`/payments?destination_id=${invoiceId}`)).items;
  await expect.poll(payments, { timeout: 20_000 }).toMatchObject([{ payment_status: 'PROCESSING' }]);
  expect(await voided(invoiceId)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect((await api('POST', `/wallets/${walletId}/terminate`)).status).toBe(200);
  expect((await read(`/invoices/${invoiceId}`)).invoice_status).toBe('FINALIZED');
  const [payment] = await payments();
  const asked = async () => (await read(`/payments/${payment.id}`)).payment_status;
  await expect.poll(asked, { timeout: 20_000 }).not.toBe('PROCESSING');
  expect(await read(`/invoices/${invoiceId}`)).toMatchObject({
    invoice_status: 'VOIDED',
    payment_status: 'REFUNDED',
    refunded_amount: '100',
    metadata: { orphan_payment: 'true' },
  });
  expect((await ledgerOf(walletId))[0].transaction_status).toBe('failed');
  expect(await balanceOf(walletId)).toBe('0');
  const refunds = async () => (await read(`/refunds?payment_ids=${payment.id}`)).items;
  await expect.poll(refunds, { timeout: 20_000 }).toMatchObject([{ amount: '100', refund_status: 'SUCCEEDED' }]);
});

test('the setting for trusted customers gives the credits at once and settles the invoice', async () => {
  await api('PUT', '/settings/invoice_config', { value: { auto_complete_purchased_credit_transaction: true } });
  const { walletId, invoiceId } = await purchase();
  await api('PUT', '/settings/invoice_config', { value: { auto_complete_purchased_credit_transaction: false } });
  expect(await balanceOf(walletId)).toBe('110');
  expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0' });
});

test('a purchase that is asked for again under its Idempotency-Key is answered as it was, and bought once', async () => {
  const { walletId } = await purchase();
  const buy = () =>
    api<Wire>(
      'POST',
      `/wallets/${walletId}/top-up`,
      { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '7' },
      { 'idempotency-key': `again-${walletId}` },
    );
  const [first, second] = [await buy(), await buy()];
  expect(first.body.wallet_transaction).toMatchObject({ credit_amount: '7', transaction_status: 'pending' });
  expect(second).toMatchObject({ status: 200, body: first.body });
  expect((await ledgerOf(walletId)).filter((row: Wire) => row.credit_amount === '7')).toHaveLength(1);
});

test('three refunds of a third take all credits of a purchase, none more and none less', async () => {
  const { customerId } = await purchase();
  // 200 credits for 3: a third is 66.666666667 when it is rounded by itself.
  const terms = { customer_id: customerId, currency: 'eur', topup_conversion_rate: '0.015' };
  const { id: walletId } = (await api<Wire>('POST', '/wallets', terms)).body;
  const bought = await api<Wire>('POST', `/wallets/${walletId}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credits_to_add: '200',
    bonus_credits_to_add: '100',
  });
  const { invoice_id: invoiceId } = bought.body;
  await payByHand(invoiceId);
  const left = [];
  for (const key of ['first', 'second', 'third']) {
    const answer = await note(invoiceId, '1', { idempotency_key: `${key}-third` });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    left.push(await balanceOf(walletId));
  }
  // Paid by hand, each 1.00 comes back as a credit.
  expect(left).toEqual(['201', '102', '3']);
  const bonusAndLot = (await ledgerOf(walletId)).filter((row: Wire) => row.transaction_reason.startsWith('PURCHASED'));
  expect(bonusAndLot.map((row: Wire) => row.credits_available)).toEqual(['0', '0']);
});
