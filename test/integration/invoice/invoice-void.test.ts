import { describe, expect, it } from 'vitest';
import { invoiceToPay, paymentPlatform } from '../payment/payment.fixture.ts';

const { api, base, gateway } = await paymentPlatform();

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

const read = async (id: string) => (await api<Wire>('GET', `/invoices/${id}`)).body;
const voidIt = (id: string) => api<Wire>('POST', `/invoices/${id}/void`);
const card = { payment_method_type: 'CARD', amount: '100', currency: 'usd' };

async function paid(behaviour: 'succeeds' | 'requires_action') {
  const { invoiceId: id } = await invoiceToPay(base, { amountDue: '100', gateway, card: behaviour });
  const { body } = await api<Wire>('POST', '/payments', { destination_type: 'INVOICE', destination_id: id, ...card });
  return { id, payment: body };
}

function credit(invoice: Wire, amount: string) {
  return api<Wire>('POST', '/creditnotes', {
    invoice_id: invoice.id,
    reason: 'SERVICE_ISSUE',
    line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount }],
  });
}

/** spec: subscriptions-and-invoicing §2.15.7, §3 row 41 */
describe('a void', () => {
  it('payment-vs-void: waits for a payment that is under way, and returns what it brought', async () => {
    const { id, payment } = await paid('requires_action');
    expect(payment.payment_status).toBe('PROCESSING');
    expect(await voidIt(id)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    expect((await read(id)).invoice_status).toBe('FINALIZED');
    await api('POST', `/payments/${payment.id}/payer`, { action: 'confirm' });
    expect(await voidIt(id)).toMatchObject({ status: 200 });
    expect(await read(id)).toMatchObject({
      invoice_status: 'VOIDED',
      payment_status: 'REFUNDED',
      amount_paid: '100',
      refunded_amount: '100',
    });
  });

  it('returns what a partial refund left', async () => {
    const { id } = await paid('succeeds');
    expect((await credit(await read(id), '30')).status).toBe(201);
    expect(await voidIt(id)).toMatchObject({ status: 200 });
    expect(await read(id)).toMatchObject({ payment_status: 'REFUNDED', refunded_amount: '100' });
    const { customer_id } = await read(id);
    const wallets = await api<Wire>('GET', `/customers/${customer_id}/wallets`);
    expect(wallets.body.map((wallet: Wire) => [wallet.wallet_type, wallet.balance])).toEqual([['PRE_PAID', '100']]);
  });

  it('is refused where all was given back, and changes nothing', async () => {
    const { id } = await paid('succeeds');
    expect((await credit(await read(id), '100')).status).toBe(201);
    const before = await read(id);
    expect(before.payment_status).toBe('REFUNDED');
    expect(await voidIt(id)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(await read(id)).toEqual(before);
  });
});
