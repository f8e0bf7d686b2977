import type { FakeEvent, FakeTransaction } from '../../../../dev/provider-fakes/paddle/books.ts';
import { signedNotification } from '../../../../dev/provider-fakes/paddle/notification.ts';
import { payTransaction } from '../../../../dev/provider-fakes/paddle/payment.ts';
import { startPaddleFake } from '../../../../dev/provider-fakes/paddle/server.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import type { Body } from '../../payment/checkout/checkout.fixture.ts';
import { providerWorld } from './provider.fixture.ts';

/** A Perennial whose environment may be connected to an account at the fake of Paddle, and both sides of its payments. */
export async function paddleWorld() {
  const world = await providerWorld('paddle', await startPaddleFake());
  const api_key = 'pdl_sdbx_apikey_pages';
  const secrets = { api_key, client_side_token: 'test_pages', webhook_secret: 'pwh_1' };
  const books = world.fake.booksOf(api_key);
  const idOf = (session: Body): string => session.provider_result.provider_session_id;

  return {
    ...{ ...world, books, idOf },
    connect: (more: object = {}) => world.connectBy('Paddle', { ...secrets, ...more }),
    transactionOf: (session: Body): FakeTransaction => books.transactions.get(idOf(session))!,
    pay: (session: Body, card: SandboxBehaviour = 'succeeds') =>
      payTransaction(books, idOf(session), sandboxCardNumber(card)),
    /** The last event that the account told of a type. */
    lastEvent(type: string): FakeEvent {
      const event = books.events.findLast((each) => each.event_type === type);
      if (!event) throw new Error(`the account told of no ${type}`);
      return event;
    },
    page: (url: string) => world.app.inject({ method: 'GET', url: new URL(url).pathname }),
    notify: (event: FakeEvent | object, secret = 'pwh_1', atMs = Date.now()) =>
      world.post(signedNotification(event, secret, { atMs })),
  };
}
