import { expect, test } from 'vitest';
import { reconcile } from '../../../activities/check/reconcile.ts';
import { newId } from '../../../db/id.ts';
import { inSqlTransaction, type SqlTransaction } from '../../../db/transaction.ts';
import type { LinkState } from '../../../integrations/payment-link.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { insertPayment } from '../../../services/collection/payment-insert.ts';
import {
  invoiceAsDestination,
  lockPayableInvoice,
  paymentAudit,
  paymentEvent,
} from '../../../services/collection/payment-row.ts';
import { giveBackCapture, type UnappliedCapture } from '../../../services/payment/unapplied-capture.ts';
import { writeAudit } from '../../../services/platform/audit.ts';
import { writeEvents } from '../../../services/platform/outbox.ts';
import { sendDueRefund } from '../../../services/refund/refund-send.ts';
import { linkRequest } from '../../support/gateways/gateway-under-test.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { invoiceToPay, paymentPlatform } from './payment.fixture.ts';

const { api, gateway, base, temporal } = await paymentPlatform();
const at = new Date().toISOString();
const inScope = <T>(work: (tx: SqlTransaction) => Promise<T>) => inSqlTransaction(base.database, base.scope, work);

/** An invoice of 100 usd with a payment by a hosted link, and the link. */
async function linked() {
  const { invoiceId } = await invoiceToPay(base, { amountDue: '100' });
  const payment = await inScope(async (tx) => {
    const invoice = (await lockPayableInvoice(tx, base.scope.environmentId, invoiceId))!;
    const row = await insertPayment(tx, {
      id: newId('pay'),
      idempotencyKey: `cart ${invoiceId}`,
      destination: invoiceAsDestination(invoice),
      paymentMethodType: 'PAYMENT_LINK',
      paymentMethodId: null,
      paymentGateway: 'sandbox',
      amount: '100',
      paymentStatus: 'INITIATED',
      attended: false,
      isChargedAlready: false,
      metadata: {},
    });
    await writeEvents(tx, tx.scope, [paymentEvent('payment.created', row, null, at)]);
    await writeAudit(tx, tx.scope, [paymentAudit(row, 'created', at, { invoice_id: invoiceId })]);
    return row;
  });
  const request = linkRequest({ intentToken: payment.intent_token, amount: '100' });
  const { providerId } = await gateway.links.open(request);
  return { invoiceId, paymentId: payment.id, link: { ...request, providerId } };
}
type Linked = Awaited<ReturnType<typeof linked>>;

const cardOf = async (behaviour: Parameters<typeof sandboxCardNumber>[0]) =>
  (await gateway.savePaymentMethod({ cardNumber: sandboxCardNumber(behaviour) })).token;
const capturedOf = async ({ link }: Linked) => (await gateway.links.read(link)) as LinkState;

/** Records what the gateway took, as whoever reads the link does. */
async function giveBack({ paymentId }: Linked, state: LinkState, cause: UnappliedCapture['cause'], nth = 0) {
  const { chargeProviderId, amount, currency } = state.captures[nth]!;
  return inScope((tx) => giveBackCapture(tx, { paymentId, chargeProviderId, amount, currency, cause, at }));
}

/** As a session does at its end: the payment fails and is archived, and so is its invoice. */
async function ended({ paymentId, invoiceId }: Linked): Promise<void> {
  await api('PUT', `/payments/${paymentId}`, { payment_status: 'FAILED' });
  expect((await api('DELETE', `/payments/${paymentId}`)).status).toBe(200);
  await inScope((tx) => tx.rows(`update invoice set status = 'archived' where id = $1`, [invoiceId]));
}

const sendRefunds = () => reconcile({ database: base.database, temporal: temporal.client });
const paymentOf = async (id: string) => (await api<Wire>('GET', `/payments/${id}`)).body;
const refundsOf = async (id: string) => (await api<Wire>('GET', `/refunds?payment_ids=${id}`)).body.items as Wire[];
const eventsOf = (id: string) =>
  inScope((tx) =>
    tx.rows<{ event_name: string }>('select event_name from outbox_event where entity_id = $1 order by id', [id]),
  ).then((rows) => rows.map((row) => row.event_name));

test('finding A3: paid two seconds after expiry: the archived payment succeeds, the money goes back, the invoice stays as it ended', async () => {
  const late = await linked();
  await ended(late);
  // The key of the cart was used again by a second session.
  await inScope((tx) =>
    tx.rows('update payment set idempotency_key = $2 where id = $1', [late.paymentId, 'cart again']),
  );
  const second = await linked();
  await inScope((tx) =>
    tx.rows('update payment set idempotency_key = $2 where id = $1', [second.paymentId, 'cart again']),
  );
  await gateway.operator.captureLink(late.link.intentToken, await cardOf('succeeds'));
  const state = await capturedOf(late);
  const first = await giveBack(late, state, 'late');
  expect(first).toEqual({ paymentId: late.paymentId, refundIds: [expect.stringMatching(/^refund_/)] });
  // A notification, a poll and a read tell of the same capture.
  expect(await giveBack(late, state, 'late')).toEqual(first);
  expect(await paymentOf(late.paymentId)).toMatchObject({ payment_status: 'SUCCEEDED', amount: '100' });
  await sendRefunds();
  await expect.poll(() => paymentOf(late.paymentId), { timeout: 20_000 }).toMatchObject({ payment_status: 'REFUNDED' });
  expect(await refundsOf(late.paymentId)).toMatchObject([
    {
      refund_status: 'SUCCEEDED',
      amount: '100',
      refund_reason: 'OTHER',
      refund_target: 'BACK_TO_SOURCE',
      invoice_id: null,
    },
  ]);
  const [invoice] = await inScope((tx) =>
    tx.rows(
      'select status, invoice_status, payment_status, trim_scale(amount_paid)::text as paid from invoice where id = $1',
      [late.invoiceId],
    ),
  );
  expect(invoice).toEqual({ status: 'archived', invoice_status: 'FINALIZED', payment_status: 'PENDING', paid: '0' });
  expect((await eventsOf(late.paymentId)).slice(-2)).toEqual(['payment.success', 'payment.updated']);
  expect(await eventsOf(late.invoiceId)).not.toContain('invoice.update.payment');
});

test('finding A8: one link, two captures: the second is a payment of its own and goes back whole; a charge is one payment', async () => {
  const twice = await linked();
  await gateway.payer.payLink(twice.link.intentToken, { cardNumber: sandboxCardNumber('succeeds') });
  const { chargeProviderId } = (await capturedOf(twice)).captures[0]!;
  await api('PUT', `/payments/${twice.paymentId}`, {
    payment_status: 'SUCCEEDED',
    gateway_payment_id: chargeProviderId,
  });
  const other = await linked();
  expect(
    await api('PUT', `/payments/${other.paymentId}`, {
      payment_status: 'PENDING',
      gateway_payment_id: chargeProviderId,
    }),
  ).toMatchObject({ status: 409, body: { code: 'already_exists' } });
  await gateway.operator.captureLink(twice.link.intentToken, await cardOf('succeeds'));
  const state = await capturedOf(twice);
  expect(await giveBack(twice, state, 'second', 0)).toEqual({ paymentId: twice.paymentId, refundIds: [] });
  const { paymentId } = await giveBack(twice, state, 'second', 1);
  expect(paymentId).not.toBe(twice.paymentId);
  expect((await giveBack(twice, state, 'second', 1)).paymentId).toBe(paymentId);
  expect((await paymentOf(paymentId)).metadata).toMatchObject({ duplicate_of: twice.paymentId, unapplied: 'second' });
  await sendRefunds();
  await expect.poll(() => paymentOf(paymentId), { timeout: 20_000 }).toMatchObject({ payment_status: 'REFUNDED' });
  expect(await refundsOf(paymentId)).toMatchObject([{ refund_reason: 'DUPLICATE', amount: '100' }]);
  const invoice = (await api<Wire>('GET', `/invoices/${twice.invoiceId}`)).body;
  expect(invoice).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '100', overpaid_amount: '0' });
});

test('finding A7: less than was asked, or another currency, is recorded as received and goes back whole', async () => {
  for (const [card, amount, currency] of [
    ['captures_less', '99', 'usd'],
    ['captures_otherwise', '100', 'eur'],
  ] as const) {
    const wrong = await linked();
    await gateway.payer.payLink(wrong.link.intentToken, { cardNumber: sandboxCardNumber(card) });
    const { paymentId } = await giveBack(wrong, await capturedOf(wrong), 'wrong_amount');
    expect(paymentId).toBe(wrong.paymentId);
    expect(await paymentOf(paymentId)).toMatchObject({
      amount,
      currency,
      metadata: { asked_amount: '100', asked_currency: 'usd', unapplied: 'wrong_amount' },
    });
    await sendRefunds();
    await expect.poll(() => paymentOf(paymentId), { timeout: 20_000 }).toMatchObject({ payment_status: 'REFUNDED' });
    expect((await api<Wire>('GET', `/invoices/${wrong.invoiceId}`)).body).toMatchObject({ payment_status: 'PENDING' });
  }
});

test('finding A11: the refund of a late capture never goes to a wallet: refused by its gateway it waits for a person', async () => {
  const late = await linked();
  await ended(late);
  await gateway.operator.captureLink(late.link.intentToken, await cardOf('refund_fails'));
  const { refundIds } = await giveBack(late, await capturedOf(late), 'late');
  const [id] = refundIds as [string];
  await inScope(async (tx) => {
    await tx.rows(
      `update refund set refund_status = 'FAILED', attempt = 3, failure_reason = 'card_closed' where id = $1`,
      [id],
    );
    await sendDueRefund(tx, id, at);
  });
  const parked = await inScope((tx) =>
    tx.rows<{ reason: string }>('select reason from parked_object where object_id = $1', [id]),
  );
  expect(parked).toMatchObject([{ reason: expect.stringContaining('no wallet takes this money') }]);
  expect(await refundsOf(late.paymentId)).toMatchObject([
    { id, refund_status: 'FAILED', refund_destination: 'GATEWAY' },
  ]);
  const toWallet = await api<Wire>('POST', `/refunds/${id}/retry`, { refund_target: 'PREPAID_WALLET' });
  expect(toWallet).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  const again = await api<Wire>('POST', `/refunds/${id}/retry`, { refund_target: 'BACK_TO_SOURCE' });
  expect(again).toMatchObject({ status: 200, body: { refund_status: 'FAILED', attempt: 4 } });
});
