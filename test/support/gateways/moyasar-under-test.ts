import { randomUUID } from 'node:crypto';
import type { MoyasarBooks } from '../../../dev/provider-fakes/moyasar/books.ts';
import { captureBeside, decide, invoiceOf, payInvoice } from '../../../dev/provider-fakes/moyasar/payment.ts';
import type { MoyasarFake } from '../../../dev/provider-fakes/moyasar/server.ts';
import { addToken, verifyCard } from '../../../dev/provider-fakes/moyasar/token.ts';
import type { GatewayReference } from '../../../integrations/gateway-reference.ts';
import { type MoyasarGateway, openMoyasarGateway } from '../../../integrations/moyasar/gateway.ts';
import type { LinkReference } from '../../../integrations/payment-link.ts';
import { sandboxCardNumber, sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import { type GatewayUnderTest, toldOf } from './gateway-under-test.ts';

const keptCard = {
  name: 'Payer',
  month: '12',
  year: '2035',
  lastFour: '0001',
  callbackUrl: 'http://127.0.0.1/',
  pageUrl: '',
};

/** A payer saves a card on our page and confirms it at its bank: its browser tells us the token that it was given. */
function saveOnPage(books: MoyasarBooks, link: LinkReference, cardNumber: string): void {
  const card = sandboxCardOf(cardNumber)!;
  const { id } = addToken(books, card, { ...keptCard, metadata: { perennial_token: link.token } });
  verifyCard(books, id, 'confirm');
  link.methodTokens = [...(link.methodTokens ?? []), id];
}

/**
 * The Moyasar adapter over an account of its own at the fake, and the other side of that account. Refunds whose answer is lost are sent
 * again at once, unless `settledMs` says when.
 */
export function moyasarUnderTest(
  fake: MoyasarFake,
  settledMs = 0,
): GatewayUnderTest & { gateway: MoyasarGateway; books: MoyasarBooks; secretKey: string; publishableKey: string } {
  const name = randomUUID().replaceAll('-', '');
  const [secretKey, publishableKey] = [`sk_test_${name}`, `pk_test_${name}`];
  const books = fake.booksOf(secretKey);
  const idOf = ({ providerId }: GatewayReference) => providerId ?? '';
  return {
    books,
    ...{ secretKey, publishableKey },
    gateway: openMoyasarGateway({ secretKey, publishableKey, baseUrl: fake.url, deadlineMs: 5_000, settledMs }),
    savedMethod: async (behaviour) => {
      const { id } = addToken(books, { behaviour, count: 0 }, { ...keptCard, metadata: null });
      verifyCard(books, id, 'confirm');
      return { token: id, customerToken: null };
    },
    pay: async (link, card) => {
      if (link.providerId === link.token) saveOnPage(books, link, sandboxCardNumber(card));
      else payInvoice(books, idOf(link), sandboxCardNumber(card));
    },
    captureBeside: async (link) => {
      captureBeside(books, idOf(link));
    },
    confirm: async (link) => {
      decide(books, idOf(link), 'capture');
    },
    expire: async (link) => {
      invoiceOf(books, idOf(link)).expired_at = new Date(0).toISOString();
    },
    failNext: async (call, how) => fake.failNext(call, how),
    capturesOf: async (intentToken) => toldOf(books.captures(), intentToken),
    refundsOf: async (refundToken) => toldOf(books.returned(), refundToken),
  };
}
