import { describe, expect, test } from 'vitest';
import { readProviderEvents } from '../../../../activities/integration/provider-events.ts';
import { failLate } from '../../../../dev/provider-fakes/chargebee/payment.ts';
import { decideRefund, refundInDashboard } from '../../../../dev/provider-fakes/chargebee/refund.ts';
import { testSecretKeys } from '../../../support/secret-keys.ts';
import type { Body } from '../../payment/checkout/checkout.fixture.ts';
import { chargebeeWorld } from './chargebee.fixture.ts';

const world = await chargebeeWorld();
const { api, base, books, fake, paid, credit, read, refundsBecome, notify, lastEvent, kept } = world;
const { body: connection } = await world.connect();

const become = (path: string, expected: object) =>
  expect.poll(() => read(path), { timeout: 20_000 }).toMatchObject(expected);
const changed = (secrets: object) =>
  api<Body>('PUT', `/connections/${connection.id}`, { encrypted_secret_data: secrets });

describe('refunds of ours', () => {
  test('go back to the card, once, also when the answer is lost', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    fake.failNext('refund', 'loses_answer');
    await credit(invoiceId, '10');
    await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '10' }]);
    await credit(invoiceId, '15');
    await become(`/payments/${paymentId}`, { payment_status: 'REFUNDED' });
    expect(payment.linked_refunds).toMatchObject([{ txn_amount: 1000 }, { txn_amount: 1500 }]);
    expect(books.mailed).toEqual([]);
  });

  test('that take days are settled by what Chargebee tells', async () => {
    const { paymentId, invoiceId, payment } = await paid('refund_never_answers');
    await credit(invoiceId, '10');
    await expect.poll(() => payment.linked_refunds, { timeout: 20_000 }).toHaveLength(1);
    const { txn_id: gateway_refund_id } = payment.linked_refunds![0]!;
    await refundsBecome(paymentId, [{ refund_status: 'PROCESSING' }]);
    decideRefund(books, gateway_refund_id, 'success');
    expect((await notify(lastEvent('payment_refunded'))).status).toBe(200);
    await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED', gateway_refund_id }]);
  });

  test('that a bank sends back have failed', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    await credit(invoiceId, '10');
    await refundsBecome(paymentId, [{ refund_status: 'SUCCEEDED' }]);
    decideRefund(books, payment.linked_refunds![0]!.txn_id, 'late_failure');
    expect((await notify(lastEvent('transaction_updated'))).status).toBe(200);
    await refundsBecome(paymentId, [
      { refund_status: 'FAILED', failure_reason: expect.stringContaining('late_failure') },
    ]);
  });
});

describe('money that goes back without us', () => {
  test('by a refund at Chargebee becomes a row, and told twice it is one', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    const gateway_refund_id = refundInDashboard(books, payment.id, 500);
    const event = lastEvent('payment_refunded');
    expect((await notify(event)).status).toBe(200);
    const made = { gateway_refund_id, amount: '5', refund_status: 'SUCCEEDED', metadata: { made_at: 'chargebee' } };
    await refundsBecome(paymentId, [made]);
    expect((await notify({ ...event, id: 'ev_again' })).status).toBe(200);
    await expect.poll(async () => (await world.inboxOf('ev_again'))?.outcome, { timeout: 20_000 }).not.toBeNull();
    await refundsBecome(paymentId, [made]);
    await become(`/invoices/${invoiceId}`, { refunded_amount: '5' });
  });

  test.each(['payment_failed', 'invoice_updated'])(
    'by a payment that fails late, told of by %s, is gone from payment and invoice',
    async (type) => {
      const { paymentId, invoiceId, payment } = await paid();
      failLate(books, payment.id);
      expect((await notify(lastEvent(type))).status).toBe(200);
      const gateway_refund_id = `${payment.id}/late_failure`;
      const gone = { gateway_refund_id, amount: '25', refund_status: 'SUCCEEDED', metadata: { made_at: 'chargebee' } };
      await refundsBecome(paymentId, [gone]);
      await become(`/payments/${paymentId}`, { payment_status: 'REFUNDED' });
      await become(`/invoices/${invoiceId}`, { payment_status: 'REFUNDED', refunded_amount: '25' });
    },
  );

  test('is found in the list of events where no notification told of it', async () => {
    const { paymentId, payment } = await paid();
    refundInDashboard(books, payment.id, 700);
    const event = lastEvent('payment_refunded');
    const connected = { adapters: world.providers, secretKeys: testSecretKeys.secretEncryptionKeys };
    // A change of the secrets has the list read at once.
    await changed({ webhook_password: 'one' });
    await readProviderEvents(base.database, world.temporal.client, connected);
    await expect.poll(async () => (await world.inboxOf(event.id))?.outcome, { timeout: 20_000 }).toBe('passed_on');
    await refundsBecome(paymentId, [{ amount: '7', refund_status: 'SUCCEEDED' }]);
  });
});

describe('notifications', () => {
  test('without user and password or with others are 401 and not kept; exchanged ones stay valid', async () => {
    const event = lastEvent('payment_succeeded');
    const before = (await kept()).length;
    const problem = (message: string) => ({ status: 401, body: { message: expect.stringContaining(message) } });
    expect(await notify({ ...event, id: 'unsigned' }, null)).toMatchObject(problem('is not signed'));
    expect(await notify({ ...event, id: 'forged' }, 'hook:two')).toMatchObject(
      problem('compare the webhook_username and webhook_password'),
    );
    expect(await kept()).toHaveLength(before);
    expect((await changed({ webhook_password: 'two' })).status).toBe(200);
    expect((await notify({ ...event, id: 'new' }, 'hook:two')).status).toBe(200);
    expect((await notify({ ...event, id: 'old' }, 'hook:one')).status).toBe(200);
    expect(await kept()).toHaveLength(before + 2);
  });

  test('are kept without the credentials that they came with', async () => {
    const rows = await kept();
    expect(rows.length).toBeGreaterThan(0);
    for (const { headers } of rows) expect(Object.keys(headers as object)).not.toContain('authorization');
  });
});
