import type { FakeEvent } from '../../../../dev/provider-fakes/chargebee/books.ts';
import { sentNotification } from '../../../../dev/provider-fakes/chargebee/notification.ts';
import { pageOf, payPage } from '../../../../dev/provider-fakes/chargebee/payment.ts';
import { startChargebeeFake } from '../../../../dev/provider-fakes/chargebee/server.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import type { Body } from '../../payment/checkout/checkout.fixture.ts';
import { providerWorld } from './provider.fixture.ts';

/** An installation with a Chargebee that moves no money, and what tests do at both sides of it. */
export async function chargebeeWorld() {
  const world = await providerWorld('chargebee', await startChargebeeFake());
  const api_key = 'test_pages';
  const secrets = { site: 'acme-test', api_key, webhook_username: 'hook', webhook_password: 'one' };
  const books = world.fake.booksOf(api_key);
  const page = (session: Body) => pageOf(books, session.provider_result.provider_session_id);
  const payments = (session: Body) => books.paymentsOf(books.orders.get(page(session).id)!.customerId);
  const pay = (session: Body, card: SandboxBehaviour = 'succeeds') =>
    payPage(books, page(session).id, sandboxCardNumber(card));

  return {
    ...{ ...world, books, page, payments, pay },
    connect: (more: object = {}) => world.connectBy('Chargebee', { ...secrets, ...more }),
    /** The last event that the site told of a type. */
    lastEvent(type: string): FakeEvent {
      const event = books.events.findLast(({ event_type }) => event_type === type);
      if (!event) throw new Error(`the site told of no ${type}`);
      return event;
    },
    /** Sends a notification with the credentials `user:password`, or with none. */
    notify: (event: object, credentials: string | null = 'hook:one') =>
      world.post(sentNotification(event, credentials)),
    /** An invoice of 25 usd that was paid on the page of Chargebee. */
    async paid(card: SandboxBehaviour = 'succeeds') {
      const session = await world.opened();
      pay(session, card);
      await world.becomes(session, 'completed');
      const { checkout_payment_id: paymentId, checkout_invoice_id: invoiceId } = session;
      return { session, paymentId, invoiceId, payment: payments(session)[0]! };
    },
  };
}
