import type { FakeEvent, FakeLink, RazorpayBooks } from '../../../../dev/provider-fakes/razorpay/books.ts';
import { signedNotification } from '../../../../dev/provider-fakes/razorpay/notification.ts';
import { payLink } from '../../../../dev/provider-fakes/razorpay/payment.ts';
import { startRazorpayFake } from '../../../../dev/provider-fakes/razorpay/server.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import type { Body } from '../../payment/checkout/checkout.fixture.ts';
import { providerWorld } from './provider.fixture.ts';

/** The product and its workers beside a fake Razorpay, with one account of it. */
export async function razorpayWorld(account: string) {
  const world = await providerWorld('razorpay', await startRazorpayFake());
  const secrets = { key_id: `rzp_test_${account}`, secret_key: `secret_${account}`, webhook_secret: 'rwh_1' };
  const books: RazorpayBooks = world.fake.booksOf(secrets.key_id);
  const linkOf = (session: Body): FakeLink => books.links.get(session.provider_result.provider_session_id)!;

  return {
    ...{ ...world, books, secrets, keyId: secrets.key_id, linkOf },
    connect: (more: object = {}) => world.connectBy('Razorpay', { ...secrets, ...more }),
    pay: (session: Body, card: SandboxBehaviour = 'succeeds') =>
      payLink(books, linkOf(session).id, sandboxCardNumber(card)),
    /** The last event that the account told of a type. */
    lastEvent(type: string): FakeEvent {
      const event = books.events.findLast(({ body }) => body.event === type);
      if (!event) throw new Error(`the account told of no ${type}`);
      return event;
    },
    notify: (event: FakeEvent, secret = secrets.webhook_secret) => world.post(signedNotification(event, secret)),
  };
}
