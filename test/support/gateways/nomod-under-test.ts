import { randomUUID } from 'node:crypto';
import type { NomodBooks } from '../../../dev/provider-fakes/nomod/books.ts';
import { captureBeside, decide, payCheckout } from '../../../dev/provider-fakes/nomod/payment.ts';
import type { NomodFake } from '../../../dev/provider-fakes/nomod/server.ts';
import type { GatewayReference } from '../../../integrations/gateway-reference.ts';
import { type NomodGateway, openNomodGateway } from '../../../integrations/nomod/gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { type GatewayUnderTest, toldOf } from './gateway-under-test.ts';

/** The Nomod adapter over an account of its own at the fake, and the other side of that account. */
export function nomodUnderTest(
  fake: NomodFake,
): GatewayUnderTest & { gateway: NomodGateway; books: NomodBooks; apiKey: string } {
  const apiKey = `sk_test_${randomUUID().replaceAll('-', '')}`;
  const books = fake.booksOf(apiKey);
  const idOf = ({ providerId }: GatewayReference) => providerId ?? '';
  return {
    books,
    apiKey,
    gateway: openNomodGateway({ apiKey, baseUrl: fake.url, deadlineMs: 5_000 }),
    knowsIdsAlone: true,
    hidesReasons: true,
    pay: async (link, card) => {
      payCheckout(books, idOf(link), sandboxCardNumber(card));
    },
    captureBeside: async (link) => captureBeside(books, idOf(link)),
    confirm: async (link) => {
      decide(books, idOf(link), 'capture');
    },
    expire: async (link) => {
      books.checkoutOf(idOf(link)).status = 'expired';
    },
    failNext: async (call, how) => {
      if (call === 'charge' || call === 'close') throw new Error(`Nomod has no call to ${call}`);
      fake.failNext(call, how);
    },
    capturesOf: async (intentToken) => toldOf(books.captures(), intentToken),
    refundsOf: async (refundToken) => toldOf(books.returned(), refundToken),
  };
}
