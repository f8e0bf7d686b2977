import { randomUUID } from 'node:crypto';
import type { FakeConfiguration, WhopBooks } from '../../dev/provider-fakes/whop/books.ts';
import { captureBeside, decide, payPage, settleRefund } from '../../dev/provider-fakes/whop/payment.ts';
import type { WhopFake } from '../../dev/provider-fakes/whop/server.ts';
import type { GatewayReference } from '../../integrations/payment-gateway.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { openWhopGateway, type WhopGateway } from '../../integrations/whop/gateway.ts';
import { type GatewayUnderTest, toldOf } from './gateway-under-test.ts';

/**
 * The Whop adapter over an account of its own at the fake, and the other side of that account. Refunds whose answer is lost are sent
 * again at once, unless `settledMs` says when.
 */
export function whopUnderTest(
  fake: WhopFake,
  settledMs = 0,
): GatewayUnderTest & { gateway: WhopGateway; books: WhopBooks; apiKey: string; companyId: string } {
  const name = randomUUID().replaceAll('-', '');
  const [apiKey, companyId] = [`apik_${name}`, `biz_${name}`];
  const books = fake.booksOf(companyId);
  const pageOf = ({ providerId }: GatewayReference): FakeConfiguration => {
    const page = books.configurations.get(providerId ?? '');
    if (!page) throw new Error(`the fake has no page ${providerId}`);
    return page;
  };
  return {
    books,
    apiKey,
    companyId,
    gateway: openWhopGateway({ apiKey, companyId, hosts: [fake.url], deadlineMs: 5_000, settledMs }),
    pay: async (link, card) => {
      payPage(books, pageOf(link).id, sandboxCardNumber(card));
    },
    captureBeside: async (link) => {
      captureBeside(books, pageOf(link));
    },
    confirm: async (link) => {
      decide(books, pageOf(link).id, 'capture');
    },
    failNext: async (call, how) => {
      if (call === 'charge') throw new Error('nothing is charged at Whop without its payer');
      fake.failNext(call, how);
    },
    reverseRefund: async ({ providerId }) => settleRefund(books, providerId ?? '', 'failed'),
    capturesOf: async (intentToken) => toldOf(books.captures(), intentToken),
    refundsOf: async (refundToken) => toldOf(books.returned(), refundToken),
  };
}
