import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { testPlatform } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { checkout, payAtSandbox, readSession } from '../payment/checkout/checkout.fixture.ts';

const { api, base, gateway } = await testPlatform();

let count = 0;
const read = async (path: string): Promise<Wire> => (await api<Wire>('GET', path)).body;
const put = (path: string, body: Wire) => api<Wire>('PUT', path, body);
const policy = (name: string) => put('/settings/wallet_termination_policy', { value: { policy: name } });
const terminate = (walletId: string) => api<Wire>('POST', `/wallets/${walletId}/terminate`);
const ledgerOf = async (walletId: string): Promise<Wire[]> =>
  (await read(`/wallets/${walletId}/transactions?sort=created_at&order=asc`)).items;
const debit = (walletId: string, credits: string) =>
  api<Wire>('POST', `/wallets/${walletId}/debit`, {
    credits,
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: `${walletId}-${Math.random()}`,
  });

/** A customer with a wallet, and a card where a behaviour is given. */
async function owner(card?: SandboxBehaviour, terms: Wire = {}) {
  count += 1;
  const customer = await api<Wire>('POST', '/customers', { external_id: `ends-${count}`, name: 'Customer' });
  const customerId: string = customer.body.id;
  if (card) {
    const number = sandboxCardNumber(card, card === 'answers_late' ? 2 : 0);
    expect((await api('POST', `/customers/${customerId}/payment-methods`, { card_number: number })).status).toBe(201);
  }
  const wallet = await api<Wire>('POST', '/wallets', { customer_id: customerId, currency: 'usd', ...terms });
  expect(wallet.status, JSON.stringify(wallet.body)).toBe(200);
  const walletId: string = wallet.body.id;
  const buy = async (credits: string, fields: Wire = {}) => {
    const answer = await api<Wire>('POST', `/wallets/${walletId}/top-up`, {
      transaction_reason: 'PURCHASED_CREDIT_INVOICED',
      credits_to_add: credits,
      ...fields,
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return { invoiceId: answer.body.invoice_id as string, purchaseId: answer.body.wallet_transaction.id as string };
  };
  const charged = async (credits: string, fields: Wire = {}) => {
    const bought = await buy(credits, fields);
    await api('POST', `/invoices/${bought.invoiceId}/payment/attempt`);
    const status = async () => (await read(`/invoices/${bought.invoiceId}`)).payment_status;
    await expect.poll(status, { timeout: 20_000 }).toBe('SUCCEEDED');
    return bought;
  };
  return { customerId, walletId, buy, charged };
}
const refundsOf = async (invoiceId: string): Promise<Wire[]> => (await read(`/refunds?invoice_ids=${invoiceId}`)).items;

test('the setting accepts both policies and nothing else', async () => {
  expect((await policy('refund_purchased')).status).toBe(200);
  expect(await policy('keep')).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  expect((await policy('forfeit')).status).toBe(200);
});

test('forfeit: bought credits are gone, and no money moves', async () => {
  const { walletId, charged } = await owner('succeeds');
  const { invoiceId } = await charged('100');
  expect((await terminate(walletId)).body).toMatchObject({ wallet_status: 'closed', credit_balance: '0' });
  expect(await refundsOf(invoiceId)).toEqual([]);
  expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ payment_status: 'SUCCEEDED', refunded_amount: '0' });
});

test('finding 23: refund_purchased gives the unused share of what was captured back to the card; free and bonus are forfeited', async () => {
  await policy('refund_purchased');
  const { walletId, charged } = await owner('succeeds', { topup_conversion_rate: '0.5', initial_credits_to_load: '7' });
  const { invoiceId, purchaseId } = await charged('100', { bonus_credits_to_add: '10', priority: 0 });
  expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ total: '50' });
  await debit(walletId, '25');
  expect((await terminate(walletId)).body).toMatchObject({ wallet_status: 'closed', credit_balance: '0' });
  await policy('forfeit');
  const last = (await ledgerOf(walletId)).at(-1)!;
  expect(last).toMatchObject({ transaction_reason: 'WALLET_TERMINATION', credit_amount: '92' });
  expect(last.metadata).toMatchObject({ termination_policy: 'refund_purchased', refunded_amount: '37.5' });
  expect(last.metadata.forfeited_purchases).toBeUndefined();
  expect(last.metadata.consumed_credit_tx_ids.split(',')).toContain(purchaseId);
  const succeeded = async () =>
    (await refundsOf(invoiceId)).map((one) => [one.amount, one.refund_status, one.refund_target]);
  await expect.poll(succeeded, { timeout: 20_000 }).toEqual([['37.5', 'SUCCEEDED', 'BACK_TO_SOURCE']]);
  expect(await read(`/invoices/${invoiceId}`)).toMatchObject({
    payment_status: 'PARTIALLY_REFUNDED',
    refunded_amount: '37.5',
    invoice_status: 'FINALIZED',
  });
});

test('finding 23: what was paid by hand or elsewhere is forfeited, and named', async () => {
  await policy('refund_purchased');
  const { walletId, buy } = await owner();
  const { invoiceId, purchaseId } = await buy('40');
  await put(`/invoices/${invoiceId}/payment`, { payment_status: 'SUCCEEDED' });
  const direct = await api<Wire>('POST', `/wallets/${walletId}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_DIRECT',
    credits_to_add: '5',
  });
  await terminate(walletId);
  await policy('forfeit');
  const last = (await ledgerOf(walletId)).at(-1)!;
  expect(last.metadata).toMatchObject({ termination_policy: 'refund_purchased', refunded_amount: '0' });
  expect(last.metadata.forfeited_purchases.split(',').sort()).toEqual(
    [purchaseId, direct.body.wallet_transaction.id].sort(),
  );
  expect(await refundsOf(invoiceId)).toEqual([]);
});

test('a debt is paid by the credits before any money goes back', async () => {
  await policy('refund_purchased');
  const { walletId, charged } = await owner('succeeds');
  const { invoiceId } = await charged('100');
  await debit(walletId, '130');
  const second = await charged('50'); // 30 of it pay the debt.
  await terminate(walletId);
  await policy('forfeit');
  expect((await ledgerOf(walletId)).at(-1)).toMatchObject({ credit_amount: '20' });
  expect(await refundsOf(invoiceId)).toEqual([]);
  expect((await refundsOf(second.invoiceId)).map((one) => one.amount)).toEqual(['20']);
});

test('a purchase that was refunded before gives back no more than its rest', async () => {
  await policy('refund_purchased');
  const { walletId, charged } = await owner('succeeds');
  const { invoiceId } = await charged('100');
  const invoice = await read(`/invoices/${invoiceId}`);
  const line_items = [{ invoice_line_item_id: invoice.line_items[0].id, amount: '30' }];
  const noted = await api('POST', '/creditnotes', { invoice_id: invoiceId, reason: 'UNSATISFACTORY', line_items });
  expect(noted.status).toBe(201);
  await terminate(walletId);
  await policy('forfeit');
  const amounts = async () => (await refundsOf(invoiceId)).map((one) => one.amount).sort();
  expect(await amounts()).toEqual(['30', '70']);
  const settled = async () => (await read(`/invoices/${invoiceId}`)).payment_status;
  await expect.poll(settled, { timeout: 20_000 }).toBe('REFUNDED');
});

test('pending-purchase-terminate: an open payment page ends with its wallet, and money that comes later goes back', async () => {
  const { walletId } = await owner();
  const { body } = await api<Wire>('POST', `/wallets/${walletId}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credits_to_add: '40',
    bonus_credits_to_add: '4',
    checkout,
  });
  const session = body.checkout_session;
  await gateway.operator.failNext('close', 'unreachable', { intentToken: `${session.checkout_payment_id}:1` });
  const ended = await terminate(walletId);
  expect(ended.status, JSON.stringify(ended.body)).toBe(200);
  expect(await readSession(api, session.id)).toMatchObject({
    checkout_status: 'expired',
    failure_reason: 'superseded',
    terminal: true,
  });
  const purchases = (await ledgerOf(walletId)).map((one) => one.transaction_status);
  expect(purchases).toEqual(['failed', 'failed']);
  expect(await payAtSandbox(gateway, session)).toMatchObject({ status: 'paid' });
  const back = async () => (await read(`/refunds?payment_ids=${session.checkout_payment_id}`)).items;
  await expect
    .poll(back, { timeout: 20_000 })
    .toMatchObject([{ refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '40' }]);
  expect(await read(`/wallets/${walletId}`)).toMatchObject({ wallet_status: 'closed', credit_balance: '0' });
});

test('finding 35: what was paid in part through a gateway goes back to it; what came elsewhere has to be settled first', async () => {
  const { customerId, walletId, buy } = await owner();
  const { invoiceId } = await buy('100');
  // With a card at hand all of it would be charged at once.
  await api('POST', `/customers/${customerId}/payment-methods`, { card_number: sandboxCardNumber('succeeds') });
  const paid = await api<Wire>('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoiceId,
    payment_method_type: 'CARD',
    amount: '60',
    currency: 'usd',
  });
  expect(paid.status, JSON.stringify(paid.body)).toBe(201);
  await expect.poll(async () => (await read(`/invoices/${invoiceId}`)).amount_paid, { timeout: 20_000 }).toBe('60');
  expect((await terminate(walletId)).status).toBe(200);
  expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ invoice_status: 'VOIDED' });
  const back = async () =>
    (await refundsOf(invoiceId)).map((one) => [one.amount, one.refund_status, one.refund_target]);
  await expect.poll(back, { timeout: 20_000 }).toEqual([['60', 'SUCCEEDED', 'BACK_TO_SOURCE']]);
  expect((await read(`/customers/${customerId}/wallets`)).length).toBe(1);

  const other = await owner();
  const purchase = await other.buy('100');
  await api('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: purchase.invoiceId,
    payment_method_type: 'OFFLINE',
    amount: '60',
    currency: 'usd',
  });
  const refused = await terminate(other.walletId);
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(refused.body.message).toContain(purchase.invoiceId);
  expect(await read(`/wallets/${other.walletId}`)).toMatchObject({ wallet_status: 'active' });
});

test('finding 4: a wallet ends while its charge settles, in any order: one refund, or a forfeit, never a deadlock', async () => {
  for (let round = 0; round < 6; round += 1) {
    const { walletId, buy } = await owner('succeeds');
    const { invoiceId } = await buy('100');
    const attempt = () => api('POST', `/invoices/${invoiceId}/payment/attempt`);
    const both = round % 2 === 0 ? [attempt(), terminate(walletId)] : [terminate(walletId), attempt()];
    const [ended] = (await Promise.all(both)).toSorted(
      (one, other) => Number('wallet_status' in other.body) - Number('wallet_status' in one.body),
    );
    expect(ended!.status, JSON.stringify(ended!.body)).toBe(200);
    const standing = async () => {
      const invoice = await read(`/invoices/${invoiceId}`);
      const rows = await ledgerOf(walletId);
      const purchase = rows.find((row) => row.transaction_reason === 'PURCHASED_CREDIT_INVOICED')!;
      const refunds = (await refundsOf(invoiceId)).map((one) => `${one.amount} ${one.refund_status}`).join();
      return `${invoice.invoice_status} ${invoice.payment_status} ${purchase.transaction_status} ${refunds}`.trim();
    };
    const ends = ['VOIDED PENDING failed', 'FINALIZED SUCCEEDED completed', 'VOIDED REFUNDED failed 100 SUCCEEDED'];
    await expect.poll(standing, { timeout: 30_000 }).toSatisfy((text: string) => ends.includes(text));
    expect(await read(`/wallets/${walletId}`)).toMatchObject({ wallet_status: 'closed', credit_balance: '0' });
  }
});

test('two that end a wallet at once, and one that buys meanwhile: it ends once, and no purchase stays open', async () => {
  const { walletId, buy } = await owner();
  await buy('10');
  const answers = await Promise.all([
    terminate(walletId),
    buyOrRefused(walletId),
    terminate(walletId),
    buyOrRefused(walletId),
  ]);
  const ended = [answers[0]!.status, answers[2]!.status].sort();
  expect(ended).toEqual([200, 400]);
  const pending = (await ledgerOf(walletId)).filter((row) => row.transaction_status === 'pending');
  expect(pending).toEqual([]);
  const open = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows(
      `select i.id from invoice i join wallet_transaction t on t.id = i.purchase_id where t.wallet_id = $1 and i.invoice_status <> 'VOIDED'`,
      [walletId],
    ),
  );
  expect(open).toEqual([]);
});

function buyOrRefused(walletId: string) {
  return api<Wire>('POST', `/wallets/${walletId}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credits_to_add: '10',
  });
}

test('finding 41: a customer is not archived while a charge or a refund of it is open', async () => {
  const { customerId, walletId, buy } = await owner('answers_late');
  const { invoiceId } = await buy('100');
  await api('POST', `/invoices/${invoiceId}/payment/attempt`);
  expect((await terminate(walletId)).status).toBe(200);
  const refused = await api<Wire>('DELETE', `/customers/${customerId}`);
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  const payments = (await read(`/payments?destination_id=${invoiceId}`)).items;
  expect(refused.body.message).toContain(payments[0].id);
  const back = async () => (await refundsOf(invoiceId)).map((one) => one.refund_status).join();
  await expect.poll(back, { timeout: 60_000, interval: 500 }).toBe('SUCCEEDED');
  const archived = await api('DELETE', `/customers/${customerId}`);
  expect(archived.status, JSON.stringify(archived.body)).toBeLessThan(300);
});

test('a wallet that is ended again under its Idempotency-Key is answered as it was', async () => {
  const { walletId } = await owner();
  const end = () => api<Wire>('POST', `/wallets/${walletId}/terminate`, undefined, { 'idempotency-key': walletId });
  const [first, second] = [await end(), await end()];
  expect(first).toMatchObject({ status: 200, body: { wallet_status: 'closed' } });
  expect(second).toMatchObject({ status: 200, body: first.body });
});
