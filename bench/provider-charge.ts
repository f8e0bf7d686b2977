import { randomUUID } from 'node:crypto';
import { newCustomer, newMethod } from '../dev/provider-fakes/stripe/payment.ts';
import { startStripeFake } from '../dev/provider-fakes/stripe/server.ts';
import type { ChargeRequest } from '../integrations/payment-gateway.ts';
import { sandboxCardNumber } from '../integrations/sandbox-gateway/card.ts';
import { stripeVersion } from '../integrations/stripe/client.ts';
import { openStripeGateway } from '../integrations/stripe/gateway.ts';
import { wireToken } from '../services/collection/wire-token.ts';
import { compare, rateOf } from './measure.ts';

const charges = 1_000;
const lanes = 8;

/**
 * Charges of a saved card a second through Stripe's adapter, prepared and confirmed, eight at a time, against the same two requests by bare
 * `fetch`; the fake that answers both is in this process. Fails unless every charge took the money once.
 */
export async function run(): Promise<void> {
  const fake = await startStripeFake();
  const secretKey = `sk_test_${randomUUID().replaceAll('-', '')}`;
  const books = fake.booksOf(secretKey);
  const customerToken = newCustomer(books);
  const paymentMethodToken = newMethod(books, sandboxCardNumber('succeeds'), customerToken).id;
  const saved = { customerToken, paymentMethodToken };
  let made = 0;
  const side = (charge: (request: ChargeRequest) => Promise<void>) => () => {
    made += charges;
    return rateOf(charges, () => inLanes(() => charge(requestOf(saved))));
  };
  try {
    await compare({
      bench: 'provider-charge',
      reference: side((request) => bareCharge(fake.url, secretKey, request)),
      product: side((request) => adapterCharge(fake.url, secretKey, request)),
    });
    const { length } = books.captures();
    if (length !== made) throw new Error(`${length} of ${made} charges took money`);
  } finally {
    await fake.close();
  }
}

async function inLanes(work: () => Promise<void>): Promise<void> {
  const waiting = Array(charges).keys();
  const lane = async () => {
    for (const _ of waiting) await work();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

function requestOf(saved: Pick<ChargeRequest, 'customerToken' | 'paymentMethodToken'>): ChargeRequest {
  const intentToken = randomUUID();
  return {
    ...saved,
    intentToken,
    token: wireToken(intentToken),
    providerId: null,
    chargeProviderId: null,
    createdAt: new Date().toISOString(),
    amount: '12.5',
    currency: 'usd',
    offSession: true,
    description: 'Invoice INV-202611-00001',
    metadata: { environment: 'env_bench', kind: 'payment', id: intentToken },
  };
}

/** A gateway is opened for each conversation, as the product does. */
async function adapterCharge(baseUrl: string, secretKey: string, request: ChargeRequest): Promise<void> {
  const { charges } = openStripeGateway({ secretKey, baseUrl });
  const { providerId } = await charges.prepare(request);
  const { status } = await charges.confirm({ ...request, providerId }, providerId);
  if (status !== 'succeeded') throw new Error(`the charge is ${status}`);
}

async function bareCharge(baseUrl: string, secretKey: string, request: ChargeRequest): Promise<void> {
  const post = async (path: string, key: string, parameters: Record<string, string>) => {
    const answer = await fetch(`${baseUrl}/v1${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secretKey}`,
        'stripe-version': stripeVersion,
        'idempotency-key': key,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(parameters).toString(),
    });
    return (await answer.json()) as { id: string; status: string };
  };
  const { id } = await post('/payment_intents', request.token, {
    amount: '1250',
    currency: request.currency,
    customer: request.customerToken ?? '',
    'allowed_payment_method_types[0]': 'card',
    capture_method: 'automatic',
    description: request.description,
    'metadata[id]': request.intentToken,
    'metadata[perennial_token]': request.token,
    'metadata[perennial_intent]': request.intentToken,
  });
  const { status } = await post(`/payment_intents/${id}/confirm`, `${request.token}-confirm`, {
    payment_method: request.paymentMethodToken,
    off_session: 'true',
  });
  if (status !== 'succeeded') throw new Error(`the charge is ${status}`);
}
