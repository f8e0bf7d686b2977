import { randomUUID } from 'node:crypto';
import type { PaddleBooks } from '../../../dev/provider-fakes/paddle/books.ts';
import { captureBeside, decide, decideRefund, payTransaction } from '../../../dev/provider-fakes/paddle/payment.ts';
import type { PaddleFake } from '../../../dev/provider-fakes/paddle/server.ts';
import type { GatewayReference } from '../../../integrations/gateway-reference.ts';
import { openPaddleGateway, type PaddleGateway } from '../../../integrations/paddle/gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { type GatewayUnderTest, toldOf } from './gateway-under-test.ts';

/** The Paddle adapter over an account of its own at the fake, and the other side of that account. */
export function paddleUnderTest(
  fake: PaddleFake,
): GatewayUnderTest & { gateway: PaddleGateway; books: PaddleBooks; apiKey: string } {
  const apiKey = `pdl_sdbx_apikey_${randomUUID().replaceAll('-', '')}`;
  const books = fake.booksOf(apiKey);
  const idOf = ({ providerId }: GatewayReference) => providerId ?? '';
  return {
    books,
    apiKey,
    gateway: openPaddleGateway({ apiKey, clientToken: 'test_1', baseUrl: fake.url, deadlineMs: 5_000 }),
    pay: async (link, card) => {
      payTransaction(books, idOf(link), sandboxCardNumber(card));
    },
    captureBeside: async (link) => captureBeside(books, idOf(link)),
    paysOnce: true,
    confirm: async (link) => {
      decide(books, idOf(link), 'capture');
    },
    failNext: async (call, how) => {
      if (call === 'charge') throw new Error('Paddle charges nothing without its payer');
      fake.failNext(call, how);
    },
    reverseRefund: async ({ providerId }) => decideRefund(books, providerId ?? '', 'reversed'),
    capturesOf: async (intentToken) => toldOf(books.captures(), intentToken),
    refundsOf: async (refundToken) => toldOf(books.returned(), refundToken),
  };
}
