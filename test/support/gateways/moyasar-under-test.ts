import { randomUUID } from 'node:crypto';
import type { MoyasarBooks } from '../../../dev/provider-fakes/moyasar/books.ts';
import { captureBeside, decide, invoiceOf, payInvoice } from '../../../dev/provider-fakes/moyasar/payment.ts';
import type { MoyasarFake } from '../../../dev/provider-fakes/moyasar/server.ts';
import type { GatewayReference } from '../../../integrations/gateway-reference.ts';
import { type MoyasarGateway, openMoyasarGateway } from '../../../integrations/moyasar/gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { type GatewayUnderTest, toldOf } from './gateway-under-test.ts';

/**
 * The Moyasar adapter over an account of its own at the fake, and the other side of that account. Refunds whose answer is lost are sent
 * again at once, unless `settledMs` says when.
 */
export function moyasarUnderTest(
  fake: MoyasarFake,
  settledMs = 0,
): GatewayUnderTest & { gateway: MoyasarGateway; books: MoyasarBooks; secretKey: string } {
  const secretKey = `sk_test_${randomUUID().replaceAll('-', '')}`;
  const books = fake.booksOf(secretKey);
  const idOf = ({ providerId }: GatewayReference) => providerId ?? '';
  return {
    books,
    secretKey,
    gateway: openMoyasarGateway({ secretKey, baseUrl: fake.url, deadlineMs: 5_000, settledMs }),
    pay: async (link, card) => {
      payInvoice(books, idOf(link), sandboxCardNumber(card));
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
    failNext: async (call, how) => {
      if (call === 'charge') throw new Error('Moyasar charges nothing without its payer');
      fake.failNext(call, how);
    },
    capturesOf: async (intentToken) => toldOf(books.captures(), intentToken),
    refundsOf: async (refundToken) => toldOf(books.returned(), refundToken),
  };
}
