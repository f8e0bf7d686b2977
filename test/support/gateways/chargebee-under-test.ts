import { randomUUID } from 'node:crypto';
import type { ChargebeeBooks } from '../../../dev/provider-fakes/chargebee/books.ts';
import { captureBeside, decide, newSource, pageOf, payPage } from '../../../dev/provider-fakes/chargebee/payment.ts';
import { decideRefund } from '../../../dev/provider-fakes/chargebee/refund.ts';
import type { ChargebeeFake } from '../../../dev/provider-fakes/chargebee/server.ts';
import { type ChargebeeGateway, openChargebeeGateway } from '../../../integrations/chargebee/gateway.ts';
import type { GatewayReference } from '../../../integrations/gateway-reference.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { type GatewayUnderTest, toldOf } from './gateway-under-test.ts';

/** The Chargebee adapter over a site of its own at the fake, and the other side of that site. */
export function chargebeeUnderTest(
  fake: ChargebeeFake,
): GatewayUnderTest & { gateway: ChargebeeGateway; books: ChargebeeBooks; apiKey: string } {
  const apiKey = `test_${randomUUID().replaceAll('-', '')}`;
  const books = fake.booksOf(apiKey);
  const idOf = ({ providerId }: GatewayReference) => providerId ?? '';
  return {
    books,
    apiKey,
    gateway: openChargebeeGateway({ site: 'acme-test', apiKey, baseUrl: fake.url, deadlineMs: 5_000 }),
    savedMethod: async (behaviour) => {
      const customerToken = `payer_${randomUUID()}`.slice(0, 50);
      const customer = { id: customerToken, object: 'customer', first_name: null, email: null } as const;
      books.customers.set(customerToken, { ...customer, auto_collection: 'off', meta_data: {}, created_at: 1 });
      return { token: newSource(books, customerToken, { behaviour, count: 0 }).id, customerToken };
    },
    pay: async (link, card) => {
      payPage(books, idOf(link), sandboxCardNumber(card));
    },
    captureBeside: async (link) => {
      captureBeside(books, idOf(link));
    },
    confirm: async (link) => {
      decide(books, idOf(link), 'capture');
    },
    expire: async (link) => {
      pageOf(books, idOf(link)).expires_at = 1;
    },
    failNext: async (call, how) => {
      if (call === 'close') throw new Error(`the adapter asks Chargebee for no ${call}`);
      fake.failNext(call, how);
    },
    reverseRefund: async ({ providerId }) => decideRefund(books, providerId ?? '', 'late_failure'),
    capturesOf: async (intentToken) => toldOf(books.captures(), intentToken),
    refundsOf: async (refundToken) => toldOf(books.returned(), refundToken),
  };
}
