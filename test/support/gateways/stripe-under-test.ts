import { randomUUID } from 'node:crypto';
import type { StripeBooks } from '../../../dev/provider-fakes/stripe/books.ts';
import {
  capture,
  decide,
  endIfOver,
  intentOf,
  newCustomer,
  newMethod,
  paySession,
} from '../../../dev/provider-fakes/stripe/payment.ts';
import type { StripeFake } from '../../../dev/provider-fakes/stripe/server.ts';
import type { GatewayReference } from '../../../integrations/gateway-reference.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { openStripeGateway } from '../../../integrations/stripe/gateway.ts';
import { type GatewayUnderTest, toldOf } from './gateway-under-test.ts';

/** The Stripe adapter over an account of its own at the fake, and the other side of that account. */
export function stripeUnderTest(
  fake: StripeFake,
): Required<Pick<GatewayUnderTest, 'savedMethod'>> & GatewayUnderTest & { books: StripeBooks } {
  const secretKey = `sk_test_${randomUUID().replaceAll('-', '')}`;
  const books = fake.booksOf(secretKey);
  const sessionOf = ({ providerId }: GatewayReference) => {
    const session = books.sessions.get(providerId ?? '');
    if (!session) throw new Error(`the fake has no session ${providerId}`);
    return session;
  };
  return {
    books,
    gateway: openStripeGateway({ secretKey, baseUrl: fake.url, deadlineMs: 5_000 }),
    savedMethod: async (card) => {
      const customerToken = newCustomer(books);
      return { token: newMethod(books, sandboxCardNumber(card), customerToken).id, customerToken };
    },
    pay: async (link, card) => {
      paySession(books, sessionOf(link).id, sandboxCardNumber(card));
    },
    // A session has one payment intent; what can happen is that its money arrives although the session has ended.
    captureBeside: async (link) => capture(books, intentOf(books, sessionOf(link))),
    paysOnce: true,
    confirm: async (link) => {
      decide(books, intentOf(books, sessionOf(link)).id, 'capture');
    },
    expire: async (link) => {
      const session = sessionOf(link);
      session.expires_at = 1;
      endIfOver(books, session);
    },
    failNext: async (call, how) => fake.failNext(call, how),
    reverseRefund: async ({ token }) => {
      const refund = [...books.refunds.values()].find(({ metadata }) => metadata.perennial_token === token);
      Object.assign(refund!, { status: 'failed', failure_reason: 'lost_or_stolen_card' });
    },
    capturesOf: async (intentToken) => toldOf(books.captures(), intentToken),
    refundsOf: async (refundToken) => toldOf(books.returned(), refundToken),
  };
}
