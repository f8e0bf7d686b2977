import { afterAll } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { openSandboxGateway } from '../../../../integrations/sandbox-gateway/gateway.ts';
import { testDatabase } from '../../../support/database.ts';
import { gatewayContract } from '../../../support/gateways/gateway-contract.ts';
import type { GatewayUnderTest } from '../../../support/gateways/gateway-under-test.ts';

// Money is taken here that no payment knows of.
const { applicationUrl } = await testDatabase({ breaks: ['I9'] });
const gateway = openSandboxGateway({ url: applicationUrl });
afterAll(() => gateway.close());
const { operator } = gateway;

const cardOf = (behaviour: Parameters<typeof sandboxCardNumber>[0]) =>
  gateway.savePaymentMethod({ cardNumber: sandboxCardNumber(behaviour) });

const under: GatewayUnderTest = {
  gateway,
  savedMethod: async (card) => ({ token: (await cardOf(card)).token, customerToken: null }),
  pay: async ({ intentToken }, card) => {
    await gateway.payer.payLink(intentToken, { cardNumber: sandboxCardNumber(card) });
  },
  captureBeside: async ({ intentToken }) => {
    await operator.captureLink(intentToken, (await cardOf('succeeds')).token);
  },
  confirm: async ({ intentToken }) => {
    await operator.confirmLink(intentToken);
  },
  failNext: (call, how) => operator.failNext(call, how),
  reverseRefund: async ({ refundToken }) => {
    await operator.reverseRefund(refundToken);
  },
  capturesOf: async (intentToken) =>
    [
      ...(await operator.captures()).filter((capture) => capture.intentToken === intentToken),
      ...(await operator.linkCaptures()).filter((capture) => capture.linkToken === intentToken),
    ].map(({ amount, currency }) => `${amount} ${currency}`),
  refundsOf: async (refundToken) =>
    (await operator.refunds())
      .filter(({ token }) => token === refundToken)
      .map(({ amount, currency }) => `${amount} ${currency}`),
};

gatewayContract('the sandbox gateway', () => under);
