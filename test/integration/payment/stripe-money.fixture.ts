import { expect } from 'vitest';
import { refundInDashboard } from '../../../dev/provider-fakes/stripe/payment.ts';
import { created } from '../../support/billing.ts';
import {
  inboxOf,
  lastEvent,
  notify,
  payInvoice,
  type StripeWorld,
  stripePayer,
} from '../integration/provider-inbox.fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: free-form JSON of the API
type Wire = any;

/** Money that was paid at the fake of Stripe, and how it is taken and looked at. */
export function moneyAtStripe(world: StripeWorld) {
  const { api, books } = world;
  const read = async (path: string) => (await api<Wire>('GET', path)).body;
  const refundsOf = async (paymentId: string) => (await read(`/refunds?payment_id=${paymentId}`)).items as Wire[];
  const become = (path: string, expected: object) =>
    expect.poll(() => read(path), { timeout: 20_000 }).toMatchObject(expected);
  const haveRefunds = (paymentId: string, expected: object[]) =>
    expect.poll(() => refundsOf(paymentId), { timeout: 20_000 }).toMatchObject(expected);

  /** An invoice of 12.5 usd that a card paid at Stripe. */
  async function paidInvoice() {
    const payer = await stripePayer(world, 'succeeds');
    const { id: paymentId, intentId } = await payInvoice(world, payer);
    await become(`/payments/${paymentId}`, { payment_status: 'SUCCEEDED' });
    return { ...payer, paymentId, intentId };
  }

  /** Credits that a customer bought for 12.5 usd by invoice, paid by card at Stripe. */
  async function boughtCredits() {
    const { customerId } = await stripePayer(world, 'succeeds');
    const wallet = await created<Wire>(api, '/wallets', { customer_id: customerId, currency: 'usd' });
    const { invoice_id: invoiceId } = await created<Wire>(api, `/wallets/${wallet.id}/top-up`, {
      credits_to_add: '12.5',
      transaction_reason: 'PURCHASED_CREDIT_INVOICED',
      idempotency_key: `bought-${wallet.id}`,
    });
    await become(`/wallets/${wallet.id}`, { balance: '12.5' });
    const [payment] = (await read(`/payments?destination_id=${invoiceId}`)).items;
    return { walletId: wallet.id, invoiceId, paymentId: payment.id, intentId: payment.gateway_payment_id };
  }

  /** Gives money back in Stripe's dashboard, in cents, and has Stripe tell of it. */
  async function inDashboard(intentId: string, amount: number, status: 'succeeded' | 'pending' = 'succeeded') {
    const refundId = refundInDashboard(books, intentId, amount, status);
    const event = lastEvent(books, 'refund.created');
    expect((await notify(world, event)).status).toBe(200);
    return { refundId, event };
  }

  const settled = (eventId: string) =>
    expect.poll(async () => (await inboxOf(world, eventId))?.outcome, { timeout: 20_000 }).not.toBeNull();

  async function debitsOf(walletId: string) {
    const { items } = await read(`/wallets/${walletId}/transactions?type=debit`);
    return items.map(({ credit_amount, reference_id }: Wire) => ({ credit_amount, reference_id }));
  }

  /** Has Stripe tell of the last event of a type once more, and answers it. */
  async function tellOf(type: string) {
    const event = { ...lastEvent(books, type), id: `evt_${Math.random().toString(36).slice(2)}` };
    expect((await notify(world, event)).status).toBe(200);
    return event;
  }
  return { read, refundsOf, become, haveRefunds, paidInvoice, boughtCredits, inDashboard, settled, debitsOf, tellOf };
}
