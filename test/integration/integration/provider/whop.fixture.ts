import type { FakeEvent, FakePayment } from '../../../../dev/provider-fakes/whop/books.ts';
import { signedNotification } from '../../../../dev/provider-fakes/whop/notification.ts';
import { payPage } from '../../../../dev/provider-fakes/whop/payment.ts';
import { startWhopFake } from '../../../../dev/provider-fakes/whop/server.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import type { Body } from '../../payment/checkout/checkout.fixture.ts';
import { providerWorld } from './provider.fixture.ts';

/** The product and its workers beside a fake Whop, with one account of it. */
export async function whopWorld(account: string) {
  const world = await providerWorld('whop', await startWhopFake());
  const secrets = { api_key: `apik_${account}`, company_id: `biz_${account}`, webhook_secret: 'ws_1' };
  const books = world.fake.booksOf(secrets.company_id);
  const idOf = (session: Body): string => session.provider_result.provider_session_id;

  return {
    ...{ ...world, books, secrets, idOf },
    connect: (more: object = {}) => world.connectBy('Whop', { ...secrets, ...more }),
    pay: (session: Body, card: SandboxBehaviour = 'succeeds') => payPage(books, idOf(session), sandboxCardNumber(card)),
    /** Everything that was given back of a payment, as `amount currency`. */
    returnedOf: ({ id }: FakePayment) => books.refundsOf(id).map(({ amount, currency }) => `${amount} ${currency}`),
    /** The last event that the account told of a type. */
    lastEvent(type: string): FakeEvent {
      const event = books.events.findLast((each) => each.type === type);
      if (!event) throw new Error(`the account told of no ${type}`);
      return event;
    },
    /** Sends a notification; `without` names a header that is left out. */
    notify(event: FakeEvent, { secret = 'ws_1', atMs = Date.now(), without = '' } = {}) {
      const { headers, body } = signedNotification(event, secret, atMs);
      return world.post({
        headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== without)),
        body,
      });
    },
  };
}
