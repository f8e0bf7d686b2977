import { randomUUID } from 'node:crypto';
import type { RazorpayBooks } from '../../../dev/provider-fakes/razorpay/books.ts';
import { newCustomer, newToken, payRegistration } from '../../../dev/provider-fakes/razorpay/mandate.ts';
import {
  capture,
  decideRefund,
  endIfOver,
  newPayment,
  payLink,
  underWay,
} from '../../../dev/provider-fakes/razorpay/payment.ts';
import type { RazorpayFake } from '../../../dev/provider-fakes/razorpay/server.ts';
import type { GatewayReference } from '../../../integrations/gateway-reference.ts';
import { openRazorpayGateway, type RazorpayGateway } from '../../../integrations/razorpay/gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { type GatewayUnderTest, toldOf } from './gateway-under-test.ts';

/**
 * The Razorpay adapter over an account of its own at the fake, and the other side of that account. Charges whose answer is lost are sent
 * again at once, unless `settledMs` says when.
 */
export function razorpayUnderTest(
  fake: RazorpayFake,
  settledMs = 0,
): GatewayUnderTest & { gateway: RazorpayGateway; books: RazorpayBooks; keyId: string } {
  const name = randomUUID().replaceAll('-', '');
  const keyId = `rzp_test_${name}`;
  const books = fake.booksOf(keyId);
  const linkOf = ({ providerId }: GatewayReference) => {
    const link = books.links.get(providerId ?? '');
    if (!link) throw new Error(`the fake has no link ${providerId}`);
    return link;
  };
  return {
    books,
    keyId,
    gateway: openRazorpayGateway({
      keyId,
      secretKey: `secret_${name}`,
      baseUrl: fake.url,
      deadlineMs: 5_000,
      settledMs,
    }),
    savedMethod: async (behaviour) => {
      const payer = { name: 'Payer', email: 'payer@example.com', contact: '+919876543210' };
      const { id: customer_id } = newCustomer(books, payer);
      return { token: newToken(books, { customer_id, behaviour, remaining: 0 }).id, customerToken: customer_id };
    },
    decidesLater: true,
    pay: async (link, card) => {
      const isRegistration = books.registrations.has(link.providerId ?? '');
      if (isRegistration) payRegistration(books, link.providerId ?? '', sandboxCardNumber(card));
      else payLink(books, linkOf(link).id, sandboxCardNumber(card));
    },
    // The payer's bank answers late, or two tabs pay at once: each attempt is a payment of its own.
    captureBeside: async (link) => capture(books, newPayment(books, linkOf(link))),
    confirm: async (link) => capture(books, underWay(books, linkOf(link).id)!),
    expire: async (link) => {
      const open = linkOf(link);
      open.expire_by = 1;
      endIfOver(books, open);
    },
    failNext: async (call, how) => fake.failNext(call, how),
    reverseRefund: async ({ providerId }) => decideRefund(books, providerId ?? '', 'failed'),
    capturesOf: async (intentToken) => toldOf(books.captures(), intentToken),
    refundsOf: async (refundToken) => toldOf(books.returned(), refundToken),
  };
}
