import { randomUUID } from 'node:crypto';
import { wireToken } from '../../db/stores/payment/wire-token.ts';
import type { MoyasarBooks } from '../../dev/provider-fakes/moyasar/books.ts';
import { captureBeside, decide, invoiceOf, payInvoice } from '../../dev/provider-fakes/moyasar/payment.ts';
import type { MoyasarFake } from '../../dev/provider-fakes/moyasar/server.ts';
import { amountOfMoyasar } from '../../integrations/moyasar/amount.ts';
import { type MoyasarGateway, openMoyasarGateway } from '../../integrations/moyasar/gateway.ts';
import type { GatewayReference } from '../../integrations/payment-gateway.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import type { GatewayUnderTest } from './gateway-under-test.ts';

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
  const told = ({ amount, currency }: { amount: number; currency: string }) =>
    `${amountOfMoyasar(amount, currency)} ${currency.toLowerCase()}`;
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
    capturesOf: async (intentToken) => {
      const [invoice] = [...books.invoices.values()].filter(
        ({ metadata }) => metadata?.perennial_token === wireToken(intentToken),
      );
      const taken = books.paymentsOf(invoice?.id ?? '').filter(({ status }) => status === 'paid');
      return taken.map(told);
    },
    refundsOf: async (refundToken) => books.returned.filter(({ token }) => token === wireToken(refundToken)).map(told),
  };
}
