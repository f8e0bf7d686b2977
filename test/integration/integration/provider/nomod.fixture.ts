import type { FakeEvent } from '../../../../dev/provider-fakes/nomod/books.ts';
import { signedNotification } from '../../../../dev/provider-fakes/nomod/notification.ts';
import { payCheckout } from '../../../../dev/provider-fakes/nomod/payment.ts';
import { startNomodFake } from '../../../../dev/provider-fakes/nomod/server.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import type { Body } from '../../payment/checkout/checkout.fixture.ts';
import { providerWorld } from './provider.fixture.ts';

export const secretOf = (name: string) => `whsec_${Buffer.from(name.padEnd(24, '.')).toString('base64')}`;
export const webhookSecret = secretOf('present');
export const apiKey = 'sk_test_pages';

/** An installation with workers and a fake of Nomod, which is not connected yet. */
export async function nomodWorld() {
  const world = await providerWorld('nomod', await startNomodFake(), 'aed');
  const books = world.fake.booksOf(apiKey);
  const pageOf = (session: Body) => books.checkoutOf(session.provider_result.provider_session_id);

  return {
    ...{ ...world, books, pageOf },
    connect: (more: object = {}) =>
      world.connectBy('Nomod', { api_key: apiKey, webhook_secret: webhookSecret, ...more }),
    pay: (session: Body, card: SandboxBehaviour = 'succeeds', count = 0) =>
      payCheckout(books, pageOf(session).id, sandboxCardNumber(card, count)),
    /** The last event that the account told of a type. */
    lastEvent(type: string): FakeEvent {
      const event = books.events.findLast(({ body }) => body.type === type);
      if (!event) throw new Error(`the account told of no ${type}`);
      return event;
    },
    /** Sends an event of Nomod, signed. */
    notify: (event: FakeEvent, secret = webhookSecret) => world.post(signedNotification(event, secret)),
  };
}
