import type { FakeEvent } from '../../../../dev/provider-fakes/moyasar/books.ts';
import { sentNotification } from '../../../../dev/provider-fakes/moyasar/notification.ts';
import { payInvoice } from '../../../../dev/provider-fakes/moyasar/payment.ts';
import { startMoyasarFake } from '../../../../dev/provider-fakes/moyasar/server.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import type { Body } from '../../payment/checkout/checkout.fixture.ts';
import { providerWorld } from './provider.fixture.ts';

/** The product and its workers beside a fake Moyasar, with one account of it. */
export async function moyasarWorld(account: string) {
  const world = await providerWorld('moyasar', await startMoyasarFake(), 'sar');
  const secret_key = `sk_test_${account}`;
  const books = world.fake.booksOf(secret_key);
  const pageOf = (session: Body) => books.invoices.get(session.provider_result.provider_session_id)!;
  const pay = (session: Body, card: SandboxBehaviour = 'succeeds') =>
    payInvoice(books, pageOf(session).id, sandboxCardNumber(card));

  return {
    ...{ ...world, books, pageOf, pay },
    connect: (more: object = {}) => world.connectBy('Moyasar', { secret_key, webhook_secret: 'mwh_1', ...more }),
    /** An invoice of 25 that was paid on the page of Moyasar. */
    async paid(card: SandboxBehaviour = 'succeeds') {
      const session = await world.opened();
      pay(session, card);
      await world.becomes(session, 'completed');
      const [payment] = books.paymentsOf(pageOf(session).id);
      return { paymentId: session.checkout_payment_id, invoiceId: session.checkout_invoice_id, payment: payment! };
    },
    /** The last event that the account told of a type. */
    lastEvent(type: string): FakeEvent {
      const event = books.events.findLast((each) => each.type === type);
      if (!event) throw new Error(`the account told of no ${type}`);
      return event;
    },
    notify: (event: FakeEvent, secret: string | null = 'mwh_1') => world.post(sentNotification(event, secret)),
  };
}
