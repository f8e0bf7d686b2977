import { randomUUID } from 'node:crypto';
import type { FakeConfiguration, WhopBooks } from '../../../dev/provider-fakes/whop/books.ts';
import { saveOnPage } from '../../../dev/provider-fakes/whop/charge.ts';
import { captureBeside, decide, newMethod, payPage, settleRefund } from '../../../dev/provider-fakes/whop/payment.ts';
import type { WhopFake } from '../../../dev/provider-fakes/whop/server.ts';
import type { GatewayReference } from '../../../integrations/gateway-reference.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { openWhopGateway, type WhopGateway } from '../../../integrations/whop/gateway.ts';
import { type GatewayUnderTest, toldOf } from './gateway-under-test.ts';

/**
 * The Whop adapter over an account of its own at the fake, and the other side of that account. Charges and refunds whose answer is lost
 * are sent again at once, unless `settledMs` says when.
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
    savedMethod: async (behaviour) => {
      const method = newMethod(books, { behaviour, count: 0 }, { isKept: true });
      return { token: method.id, customerToken: books.held.get(method.id)!.memberId };
    },
    decidesLater: true,
    pay: async (link, card) => {
      const page = pageOf(link);
      const act = page.mode === 'setup' ? saveOnPage : payPage;
      act(books, page.id, sandboxCardNumber(card));
    },
    captureBeside: async (link) => {
      captureBeside(books, pageOf(link));
    },
    confirm: async (link) => {
      decide(books, pageOf(link).id, 'capture');
    },
    failNext: async (call, how) => fake.failNext(call, how),
    reverseRefund: async ({ providerId }) => settleRefund(books, providerId ?? '', 'failed'),
    capturesOf: async (intentToken) => toldOf(books.captures(), intentToken),
    refundsOf: async (refundToken) => toldOf(books.returned(), refundToken),
  };
}
