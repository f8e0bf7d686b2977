import { randomUUID } from 'node:crypto';
import { wireToken } from '../../db/stores/payment/wire-token.ts';
import type { NomodBooks } from '../../dev/provider-fakes/nomod/books.ts';
import { captureBeside, decide, payCheckout } from '../../dev/provider-fakes/nomod/payment.ts';
import type { NomodFake } from '../../dev/provider-fakes/nomod/server.ts';
import { amountOfNomod } from '../../integrations/nomod/amount.ts';
import { type NomodGateway, openNomodGateway } from '../../integrations/nomod/gateway.ts';
import type { GatewayReference } from '../../integrations/payment-gateway.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import type { GatewayUnderTest } from './gateway-under-test.ts';

/** The Nomod adapter over an account of its own at the fake, and the other side of that account. */
export function nomodUnderTest(
  fake: NomodFake,
): GatewayUnderTest & { gateway: NomodGateway; books: NomodBooks; apiKey: string } {
  const apiKey = `sk_test_${randomUUID().replaceAll('-', '')}`;
  const books = fake.booksOf(apiKey);
  const told = ({ amount, currency }: { amount: number; currency: string }) =>
    `${amountOfNomod(amount)} ${currency.toLowerCase()}`;
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
    capturesOf: async (intentToken) =>
      books
        .captures()
        .filter(({ token }) => token === wireToken(intentToken))
        .map(told),
    refundsOf: async (refundToken) => {
      const refund = books.refunds.get(wireToken(refundToken));
      return refund?.status === 'completed' ? [told(refund)] : [];
    },
  };
}
