import { expect, test } from 'vitest';
import { tellOrStart } from '../../../api/lifecycle.ts';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { openPayment } from '../../../services/collection/payment.ts';
import { recordPaymentOutcomes } from '../../../services/payment/payment-outcome.ts';
import { chargeForCredits } from '../../../services/wallet/charged-topup.ts';
import { created, testPlatform } from '../../support/billing.ts';
import { locksAreAwaited } from '../../support/locks/awaited-locks.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const platform = await testPlatform();
const { api, base, temporal, gateway } = platform;

let count = 0;

/** A customer with a card and an empty wallet. */
async function cardholder(card: SandboxBehaviour, times = 0) {
  count += 1;
  const { id: customerId } = await created(api, '/customers', { external_id: `holder-${count}`, name: 'Holder' });
  const card_number = sandboxCardNumber(card, times);
  await created(api, `/customers/${customerId}/payment-methods`, { card_number });
  const { id: walletId } = await created(api, '/wallets', { customer_id: customerId, currency: 'usd' });
  return { customerId, walletId };
}

/** The purchase of 100 credits with a bonus of 10, opened as the top-up of a wallet opens it. */
const open = (walletId: string, key = `${walletId}:topup:1`) =>
  inTransaction(base.database, base.scope, (tx) =>
    chargeForCredits(
      tx,
      {
        walletId,
        reason: 'PURCHASED_CREDIT_DIRECT',
        creditsToAdd: '100',
        amount: null,
        expiryDate: null,
        priority: null,
        idempotencyKey: key,
        bonusCredits: '10',
        bonusExpiryDate: null,
        description: '',
        metadata: { auto_topup: 'true' },
      },
      null,
    ),
  );
type Opened = Awaited<ReturnType<typeof open>>;

const log = { warn: (_: object, message: string) => expect.fail(message) };
const sender = { temporal: temporal.client, scope: base.scope, log };

/** Has the workflow of the payment ask its gateway. */
const ask = ({ paymentId: id, customerId, testClockId, at }: Opened): Promise<void> =>
  tellOrStart(sender, { kind: 'payment', id, customerId, testClockId, at });

async function charged(card: SandboxBehaviour, status: string, times = 0) {
  const holder = await cardholder(card, times);
  const opened = await open(holder.walletId);
  await ask(opened);
  await expect.poll(() => statusOf(opened.paymentId), { timeout: 20_000 }).toBe(status);
  return { ...holder, ...opened };
}

const read = async (path: string) => (await api<Wire>('GET', path)).body;
const statusOf = async (paymentId: string) => (await read(`/payments/${paymentId}`)).payment_status;
const balanceOf = async (walletId: string) => (await read(`/wallets/${walletId}`)).credit_balance;
const ledgerOf = async (walletId: string) =>
  (await read(`/wallets/${walletId}/transactions?sort=created_at&order=asc`)).items;
const refund = (paymentId: string, body: Wire = {}) => api<Wire>('POST', `/payments/${paymentId}/refund`, body);
const verify = (customerId: string, fields: Wire = {}) =>
  api<Wire>('POST', '/payments', {
    destination_type: 'CUSTOMER',
    destination_id: customerId,
    payment_method_type: 'CARD',
    amount: '1',
    currency: 'usd',
    ...fields,
  });
const eventsOf = (id: string) =>
  inTransaction(base.database, base.scope, async (tx) => {
    const text = 'select event_name from outbox_event where entity_id = $1 order by sequence';
    return (await tx.rows(text, [id])).map((row) => row.event_name);
  });

test('finding 21: a direct purchase is pending until its charge is captured, and completes with its bonus in that commit', async () => {
  const { customerId, walletId } = await cardholder('succeeds');
  const opened = await open(walletId);
  expect(await ledgerOf(walletId)).toMatchObject([
    { transaction_status: 'pending', transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_available: '0' },
    { transaction_status: 'pending', transaction_reason: 'PURCHASED_CREDIT_BONUS', credits_available: '0' },
  ]);
  expect(await balanceOf(walletId)).toBe('0');
  await ask(opened);
  await expect.poll(() => balanceOf(walletId), { timeout: 20_000 }).toBe('110');
  const payment = await read(`/payments/${opened.paymentId}`);
  expect(payment).toMatchObject({
    destination_type: 'CUSTOMER',
    destination_id: customerId,
    payment_status: 'SUCCEEDED',
    amount: '100',
    invoice_number: null,
    metadata: { wallet_id: walletId, wallet_transaction_id: opened.transactionId, auto_topup: 'true' },
    attempts: [{ payment_status: 'SUCCEEDED' }],
  });
  expect(await ledgerOf(walletId)).toMatchObject([
    { transaction_status: 'completed', credits_available: '100', credit_balance_after: '100' },
    { transaction_status: 'completed', credits_available: '10', credit_balance_after: '110' },
  ]);
  expect(await eventsOf(opened.paymentId)).toEqual(['payment.created', 'payment.pending', 'payment.success']);
  expect(await eventsOf(opened.transactionId)).toEqual(['wallet.transaction.created', 'wallet.transaction.updated']);
  const found = await read(`/payments?destination_type=CUSTOMER&destination_id=${customerId}`);
  expect(found.items.map((item: Wire) => item.id)).toEqual([opened.paymentId]);
  expect((await read(`/payments?destination_id=${customerId}`)).items).toEqual([]);
});

test('a declined charge fails the purchase and its bonus', async () => {
  const { walletId } = await charged('declines', 'FAILED');
  const rows = await ledgerOf(walletId);
  expect(rows.map((row: Wire) => row.transaction_status)).toEqual(['failed', 'failed']);
  expect(rows[0].metadata.failure_reason).toContain('declined');
  expect(await balanceOf(walletId)).toBe('0');
});

test.each(['loses_answer', 'answers_late'] as const)('a charge whose gateway %s is captured once', async (card) => {
  const { walletId, paymentId } = await charged(card, 'SUCCEEDED', card === 'answers_late' ? 2 : 0);
  expect(await balanceOf(walletId)).toBe('110');
  const captures = (await gateway.operator.captures()).filter(({ intentToken }) => intentToken.startsWith(walletId));
  expect(captures, paymentId).toMatchObject([{ amount: '100' }]);
});

test('finding 22: one key opens one purchase and one charge', async () => {
  const { walletId } = await cardholder('succeeds');
  const opened = await open(walletId);
  await expect(open(walletId)).rejects.toMatchObject({ type: 'already_exists' });
  await ask(opened);
  await expect.poll(() => balanceOf(walletId), { timeout: 20_000 }).toBe('110');
  const { items } = await read(`/payments?destination_type=CUSTOMER&destination_id=${opened.customerId}`);
  expect(items).toHaveLength(1);
});

test('finding 4: a direct charge under way outlives its wallet, and its money goes back to the card', async () => {
  const { walletId } = await cardholder('answers_late', 2);
  const opened = await open(walletId);
  await ask(opened);
  expect((await api('POST', `/wallets/${walletId}/terminate`)).status).toBe(200);
  await expect.poll(() => statusOf(opened.paymentId), { timeout: 20_000 }).toBe('REFUNDED');
  expect((await ledgerOf(walletId)).map((row: Wire) => row.transaction_status)).toEqual(['failed', 'failed']);
  expect(await read(`/refunds?payment_id=${opened.paymentId}`)).toMatchObject({
    items: [{ amount: '100', invoice_id: null, refund_status: 'SUCCEEDED', refund_destination: 'GATEWAY' }],
  });
});

test('finding 6: a direct charge is refunded to its card and takes its credits along, and no more than are left', async () => {
  const { walletId, paymentId } = await charged('succeeds', 'SUCCEEDED');
  const part = await refund(paymentId, { amount: '20' });
  expect(part).toMatchObject({ status: 201, body: { amount: '20', invoice_id: null, payment_id: paymentId } });
  expect(await balanceOf(walletId)).toBe('88');
  const debits = (await ledgerOf(walletId)).filter((row: Wire) => row.type === 'debit');
  expect(debits).toMatchObject([
    { transaction_reason: 'CREDIT_ADJUSTMENT', credit_amount: '22', idempotency_key: part.body.id },
  ]);
  await expect.poll(() => statusOf(paymentId), { timeout: 20_000 }).toBe('PARTIALLY_REFUNDED');
  expect(await refund(paymentId, { amount: '80.01' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation', message: expect.stringContaining('only 80 usd') },
  });
  await api('POST', `/wallets/${walletId}/debit`, {
    credits: '30',
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: `use-${walletId}`,
  });
  expect(await refund(paymentId)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect((await refund(paymentId, { amount: '30' })).status).toBe(201);
  await expect
    .poll(async () => (await read(`/refunds?payment_id=${paymentId}&refund_status=SUCCEEDED`)).items.length, {
      timeout: 20_000,
    })
    .toBe(2);
});

test('a card is verified by a charge without an invoice, which is given back', async () => {
  const { customerId } = await cardholder('succeeds');
  const made = await verify(customerId);
  expect(made, JSON.stringify(made.body)).toMatchObject({
    status: 201,
    body: { destination_type: 'CUSTOMER', destination_id: customerId, payment_status: 'SUCCEEDED', amount: '1' },
  });
  expect((await refund(made.body.id)).status).toBe(201);
  await expect.poll(() => statusOf(made.body.id), { timeout: 20_000 }).toBe('REFUNDED');
  expect(await refund(made.body.id)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  const waiting = await verify(customerId, { process_payment: false, amount: '2' });
  expect(waiting.body.payment_status).toBe('INITIATED');
  expect((await api('DELETE', `/payments/${waiting.body.id}`)).status).toBe(200);
});

test('a charge without an invoice is refused for what it cannot be', async () => {
  const { customerId } = await cardholder('declines');
  expect(await verify('cust_none')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  const offline = await verify(customerId, { payment_method_type: 'OFFLINE' });
  expect(offline).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  expect(offline.body.message).toContain('payment_method_type');
  const declined = await verify(customerId);
  expect(declined).toMatchObject({ status: 201, body: { payment_status: 'FAILED' } });
  expect(await refund(declined.body.id)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect((await refund('pay_none')).status).toBe(404);
  const bare = await created(api, '/customers', { external_id: 'no-card', name: 'No card' });
  expect(await verify(bare.id)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
});

const inScope = <T>(work: Parameters<typeof inSqlTransaction<T>>[2]) =>
  inSqlTransaction(base.database, base.scope, work);

/** The gateway takes the money of a payment, and what it says of it. */
async function captured(paymentId: string) {
  const text = 'select intent_token, trim_scale(amount)::text as amount from payment where id = $1';
  const [row] = await inScope((tx) => tx.rows<{ intent_token: string; amount: string }>(text, [paymentId]));
  const { token } = await gateway.savePaymentMethod({ cardNumber: sandboxCardNumber('succeeds') });
  const { gatewayPaymentId } = await gateway.charge({
    intentToken: row!.intent_token,
    amount: row!.amount,
    currency: 'usd',
    paymentMethodToken: token,
    description: '',
    metadata: {},
  });
  return answerOf(paymentId, 'succeeded', gatewayPaymentId);
}

const answerOf = (paymentId: string, status: 'succeeded' | 'declined', gatewayPaymentId: string | null) => ({
  paymentId,
  outcome: { status, gatewayPaymentId, gatewayMetadata: {}, reason: null, actionUrl: null },
  at: new Date().toISOString(),
});

/** Records that a payment was declined, and then, twice, that its money was taken after all. */
async function capturedAfterAll(paymentId: string) {
  await inScope((tx) => recordPaymentOutcomes(tx, [answerOf(paymentId, 'declined', null)]));
  expect(await statusOf(paymentId)).toBe('FAILED');
  const answer = await captured(paymentId);
  const [first] = await inScope((tx) => recordPaymentOutcomes(tx, [answer]));
  const [again] = await inScope((tx) => recordPaymentOutcomes(tx, [answer]));
  expect(again).toMatchObject({ paymentStatus: 'SUCCEEDED', invoicePaid: false });
  expect(again!.refundIds).toEqual(first!.refundIds);
  return first!;
}

test('finding 33: a capture that comes after the decline buys nothing, and its money goes back', async () => {
  const { walletId } = await cardholder('succeeds');
  const { paymentId, customerId, testClockId, at } = await open(walletId);
  const { refundIds } = await capturedAfterAll(paymentId);
  expect(refundIds).toHaveLength(1);
  await tellOrStart(sender, { kind: 'refund', id: refundIds![0]!, customerId, testClockId, at });
  await expect.poll(() => statusOf(paymentId), { timeout: 20_000 }).toBe('REFUNDED');
  expect((await ledgerOf(walletId)).map((row: Wire) => row.transaction_status)).toEqual(['failed', 'failed']);
  expect(await balanceOf(walletId)).toBe('0');
  expect((await read(`/refunds?payment_id=${paymentId}`)).items).toMatchObject([
    { amount: '100', refund_status: 'SUCCEEDED', refund_destination: 'GATEWAY' },
  ]);
});

test('decision 34: a capture that comes after the decline pays an invoice that still needs exactly that money', async () => {
  const { id: customerId } = await created(api, '/customers', { external_id: 'pays-late', name: 'Holder' });
  const line_items = [{ display_name: 'Consulting', quantity: '1', amount: '40' }];
  const amounts = { amount_due: '40', total: '40', subtotal: '40' };
  const sent = { customer_id: customerId, currency: 'usd', line_items, collection_method: 'send_invoice', ...amounts };
  const { id: invoiceId } = await created(api, '/invoices', sent);
  await created(api, `/customers/${customerId}/payment-methods`, { card_number: sandboxCardNumber('succeeds') });
  const opened = await inScope((tx) =>
    openPayment(tx, { invoiceId, idempotencyKey: `${invoiceId}/late`, at: new Date().toISOString() }),
  );
  if (opened.kind !== 'opened') return expect.fail(opened.kind);
  const late = await capturedAfterAll(opened.paymentId);
  expect(late).toMatchObject({ paymentStatus: 'SUCCEEDED', invoicePaid: true });
  expect(late.refundIds).toBeUndefined();
  expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '40' });
});

test('purchases that are settled together lock their wallets in one order, so that two batches never wait for each other', async () => {
  const holders = [await cardholder('succeeds'), await cardholder('succeeds')];
  const [low, high] = holders.map(({ walletId }) => walletId).sort() as [string, string];
  const payments = [(await open(high)).paymentId, (await open(low)).paymentId];
  const answers = [await captured(payments[0]!), await captured(payments[1]!)];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: hold } = Promise.withResolvers<void>();
  const holder = inScope(async (tx) => {
    await tx.rows('select id from wallet where id = $1 for update', [low]);
    hold();
    await released;
  });
  await held;
  const settled = inScope((tx) => recordPaymentOutcomes(tx, answers));
  expect(await locksAreAwaited(base)).toBe(true);
  const free = await inScope((tx) => tx.rows('select id from wallet where id = $1 for update skip locked', [high]));
  release();
  await Promise.all([holder, settled]);
  expect(free).toEqual([{ id: high }]);
  for (const walletId of [low, high]) expect(await balanceOf(walletId)).toBe('110');
});
