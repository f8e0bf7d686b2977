import { GatewayOutcomeUnknown } from '../../integrations/payment-gateway.ts';
import { stripeClient } from '../../integrations/stripe/client.ts';
import { linkRequest } from '../support/gateways/gateway-under-test.ts';
import { type LocalstripeUnderTest, refundRequest } from './localstripe-under-test.ts';

/** Something of Stripe that localstripe does not have, so that what the adapter does with it is not tried there. */
export interface Gap {
  call: string;
  /** The lack, and what is done instead. */
  told: string;
  /** Whether localstripe still lacks it. */
  isThere(under: LocalstripeUnderTest): Promise<boolean>;
}

const noPages = 'not tried: localstripe has no payment pages';
const session = { providerId: 'cs_test_1' };

/** Calls that localstripe does not know, or whose promise it does not keep. */
const notTried: Gap[] = [
  {
    call: 'POST /v1/checkout/sessions',
    told: noPages,
    isThere: ({ gateway }) => isRefused(gateway.links.open(linkRequest()), 'answered 404'),
  },
  {
    call: 'GET /v1/checkout/sessions',
    told: noPages,
    isThere: ({ gateway }) => isRefused(gateway.links.read(linkRequest()), 'answered 404'),
  },
  {
    call: 'GET /v1/checkout/sessions/{id}',
    told: noPages,
    isThere: ({ gateway }) => isRefused(gateway.links.read({ ...linkRequest(), ...session }), 'answered 404'),
  },
  {
    call: 'POST /v1/checkout/sessions/{id}/expire',
    told: noPages,
    isThere: ({ gateway }) => isRefused(gateway.links.close({ ...linkRequest(), ...session }), 'answered 404'),
  },
  {
    call: 'GET /v1/charges?payment_intent=',
    told: 'not tried: localstripe does not list the charges of a payment intent',
    isThere: async ({ url, secretKey }) => {
      const client = stripeClient({ secretKey, baseUrl: url });
      return isRefused(client.get('/charges', { payment_intent: 'pi_1', limit: 100 }), 'answered 500');
    },
  },
  {
    call: 'GET /v1/account',
    told: 'not tried: localstripe has no accounts',
    isThere: async ({ adapter, secretKey }) => (await adapter.account({ secret_key: secretKey })).status === 'unknown',
  },
  {
    call: 'POST /v1/payment_intents with the same Idempotency-Key',
    told: 'not tried: localstripe remembers no keys and makes a second intent, which takes no money',
    isThere: async (under) => {
      const request = await under.chargeOf('succeeds');
      const first = await under.gateway.charges.prepare(request);
      return (await under.gateway.charges.prepare(request)).providerId !== first.providerId;
    },
  },
  {
    call: 'POST /v1/refunds with the same Idempotency-Key',
    told: 'not tried: localstripe remembers no keys and gives back twice',
    isThere: async (under) => {
      const request = refundRequest(await under.captured(), '2.5');
      const { gatewayRefundId } = await under.gateway.refunds.refund(request);
      return (await under.gateway.refunds.refund(request)).gatewayRefundId !== gatewayRefundId;
    },
  },
  {
    call: 'POST /v1/refunds of more than is left',
    told: 'not tried: localstripe gives back more than was taken',
    isThere: async (under) =>
      (await under.gateway.refunds.refund(refundRequest(await under.captured(), '12.51'))).status === 'succeeded',
  },
  {
    call: 'codes of declines',
    told: 'tried with card_declined and that of a payer who fails; localstripe has no others, and none for a card that is gone',
    isThere: async (under) => {
      const request = await under.chargeOf('succeeds', { paymentMethodToken: 'pm_gone' });
      const { providerId } = await under.gateway.charges.prepare(request);
      return (await under.gateway.charges.confirm(request, providerId)).declineCode === 'invalid_request_error';
    },
  },
];

/** Changes that the bridge makes for localstripe, each shown to be needed by the adapter without it. */
const bridged: Gap[] = [
  {
    call: 'POST /v1/payment_intents',
    told: 'tried without description and allowed_payment_method_types, which localstripe refuses',
    isThere: async (under) =>
      isRefused(under.direct.charges.prepare(await under.chargeOf('succeeds')), 'refused to prepare'),
  },
  {
    call: 'POST /v1/payment_intents/{id}/confirm',
    told: 'tried with the card set by a request before it and without off_session, which localstripe does not know',
    isThere: async (under) => {
      const request = await under.chargeOf('succeeds');
      const { providerId } = await under.gateway.charges.prepare(request);
      return (await under.direct.charges.confirm(request, providerId)).status === 'declined';
    },
  },
  {
    call: 'payment intents in answers',
    told: 'read with an amount_received made from the charge, because localstripe has none',
    isThere: async (under) => {
      const { providerId } = await under.captured();
      return !('amount_received' in (await under.get(`/payment_intents/${providerId}`)));
    },
  },
  {
    call: 'GET /v1/events',
    told: 'tried without types, which localstripe refuses',
    isThere: async ({ url, secretKey }) => {
      const client = stripeClient({ secretKey, baseUrl: url });
      return (await client.get('/events', { types: ['payment_intent.succeeded'] })).error !== null;
    },
  },
];

export const localstripeGaps: readonly Gap[] = [...notTried, ...bridged];

/** Whether a call gets no answer about money, for a reason that the adapter tells in these words. */
async function isRefused(call: Promise<unknown>, words: string): Promise<boolean> {
  try {
    await call;
    return false;
  } catch (error) {
    if (error instanceof GatewayOutcomeUnknown) return error.message.includes(words);
    throw error;
  }
}
