import { randomUUID } from 'node:crypto';
import type { GatewayReference } from '../../integrations/gateway-reference.ts';
import type { ChargeRequest, RefundRequest } from '../../integrations/payment-gateway.ts';
import { stripeAdapter } from '../../integrations/stripe/adapter.ts';
import { openStripeGateway, type StripeGateway } from '../../integrations/stripe/gateway.ts';
import { chargeRequest, referenceOf } from '../support/gateways/gateway-under-test.ts';

/** Test cards of Stripe as far as localstripe knows them. */
export const cards = {
  succeeds: '4242424242424242',
  declines: '4000000000000341',
  asksPayer: '4000002500003155',
  asksPayerAndDeclines: '4000008260003178',
} as const;

export interface LocalstripeCharge {
  id: string;
  amount: number;
  currency: string;
  status: string;
  captured: boolean;
  payment_intent: string | null;
  amount_refunded: number;
  refunded: boolean;
}

/** Our names of a payment, as the product leaves them with a charge. */
export const marker = { environment: 'env_1', kind: 'payment', id: 'pay_1' };

type Answer = Record<string, unknown> & { id: string };

/** A running localstripe, the adapter over it, and what a test may do at its other side. */
export class LocalstripeUnderTest {
  readonly url: string;
  readonly secretKey: string;
  readonly adapter: ReturnType<typeof stripeAdapter>;
  readonly gateway: StripeGateway;
  /** The adapter without the bridge in between. */
  readonly direct: StripeGateway;

  constructor(url: string, bridgeUrl: string, secretKey: string) {
    this.url = url;
    this.secretKey = secretKey;
    this.adapter = stripeAdapter(bridgeUrl);
    this.gateway = openStripeGateway({ secretKey, baseUrl: bridgeUrl });
    this.direct = openStripeGateway({ secretKey, baseUrl: url });
  }

  /** A charge to send: a card is saved for a new customer by a setup intent, as Stripe's own page does it. */
  async chargeOf(card: keyof typeof cards, changes: Partial<ChargeRequest> = {}): Promise<ChargeRequest> {
    const { id: customer } = await this.post('/customers', {});
    const details = { number: cards[card], exp_month: '12', exp_year: '2040', cvc: '123' };
    const numbered = Object.entries(details).map(([name, value]) => [`card[${name}]`, value]);
    const { id: method } = await this.post('/payment_methods', { type: 'card', ...Object.fromEntries(numbered) });
    const { id: setup } = await this.post('/setup_intents', { customer, usage: 'off_session' });
    await this.post(`/setup_intents/${setup}/confirm`, { payment_method: method });
    await this.post(`/payment_methods/${method}/attach`, { customer });
    return { ...chargeRequest(method, customer), metadata: marker, ...changes };
  }

  /** A charge that was captured, and the reference by which it is refunded. */
  async captured(amount = '12.5'): Promise<ChargeRequest & { chargeProviderId: string }> {
    const request = await this.chargeOf('succeeds', { amount });
    const { providerId } = await this.gateway.charges.prepare(request);
    await this.gateway.charges.confirm(request, providerId);
    return { ...request, providerId, chargeProviderId: providerId };
  }

  /** Charges of a payment intent by localstripe's own books. */
  async chargesOf({ providerId, customerToken }: GatewayReference & { customerToken: string | null }) {
    const { data } = await this.get(`/charges?limit=100&customer=${customerToken}`);
    return (data as LocalstripeCharge[]).filter(({ payment_intent }) => payment_intent === providerId);
  }

  get(path: string): Promise<Answer> {
    return this.#ask('GET', path);
  }

  post(path: string, parameters: Record<string, string>): Promise<Answer> {
    return this.#ask('POST', path, new URLSearchParams(parameters));
  }

  async #ask(method: 'GET' | 'POST', path: string, body?: URLSearchParams): Promise<Answer> {
    const headers = { authorization: `Bearer ${this.secretKey}` };
    const answer = await fetch(`${this.url}/v1${path}`, { method, headers, ...(body ? { body } : {}) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`localstripe answered ${answer.status} to ${method} ${path}: ${text}`);
    return JSON.parse(text) as Answer;
  }
}

/** A refund of a charge to send. */
export function refundRequest(charge: { chargeProviderId: string; currency: string }, amount: string): RefundRequest {
  const refundToken = `refund_${randomUUID()}:1`;
  const { chargeProviderId, currency } = charge;
  return { ...referenceOf(refundToken), refundToken, chargeProviderId, amount, currency, metadata: marker };
}
