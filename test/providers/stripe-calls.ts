import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newCustomer, newMethod, paySession } from '../../dev/provider-fakes/stripe/payment.ts';
import { startStripeFake } from '../../dev/provider-fakes/stripe/server.ts';
import type { GatewayReference } from '../../integrations/gateway-reference.ts';
import type { LinkRequest } from '../../integrations/payment-link.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { stripeAdapter } from '../../integrations/stripe/adapter.ts';
import { openStripeGateway } from '../../integrations/stripe/gateway.ts';
import { wireToken } from '../../services/collection/wire-token.ts';

/** One request of the adapter as it went over the wire, and what the fake answered. */
export interface RecordedCall {
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body: string;
  answer: Record<string, unknown>;
}

/** Every request that Stripe's adapter can send, recorded between it and the fake. */
export async function recordStripeCalls(): Promise<RecordedCall[]> {
  const fake = await startStripeFake();
  const calls: RecordedCall[] = [];
  const recorder = createServer(async (request, response) => {
    const body = await textOf(request);
    const headers = sentHeaders(request);
    const { method = 'GET', url: path = '/' } = request;
    const answered = await fetch(`${fake.url}${path}`, { method, headers, ...(method === 'POST' ? { body } : {}) });
    const text = await answered.text();
    if (answered.ok) calls.push({ method, path, headers, body, answer: JSON.parse(text) as Record<string, unknown> });
    response.writeHead(answered.status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((listening) => recorder.listen(0, '127.0.0.1', listening));
  try {
    const baseUrl = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
    const secretKey = `sk_test_${randomUUID().replaceAll('-', '')}`;
    const books = fake.booksOf(secretKey);
    const customerToken = newCustomer(books);
    const paymentMethodToken = newMethod(books, sandboxCardNumber('succeeds'), customerToken).id;
    const { charges, links, refunds } = openStripeGateway({ secretKey, baseUrl });
    const adapter = stripeAdapter(baseUrl);
    await adapter.account({ secret_key: secretKey });

    const named = { paymentMethodToken, customerToken, description: 'Invoice INV-202611-00001', metadata: marker };
    const request = { ...reference(), ...named, amount: '12.5', currency: 'usd', offSession: true };
    const { providerId } = await charges.prepare(request);
    await charges.confirm({ ...request, providerId }, providerId);
    await charges.lookUp({ ...request, providerId });
    const given = reference();
    const { providerId: unconfirmed } = await charges.prepare({ ...request, ...given });
    await charges.cancel({ ...given, providerId: unconfirmed });

    const refund = { ...reference(), refundToken: randomUUID(), chargeProviderId: providerId, metadata: marker };
    await refunds.refund({ ...refund, amount: '2.5', currency: 'usd' });
    await refunds.lookUp({ ...refund, amount: '2.5', currency: 'usd' });
    await refunds.madeElsewhere?.({ ...reference(), chargeProviderId: providerId });

    for (const link of linksToOpen(customerToken)) {
      const { providerId: sessionId } = await links.open(link);
      await links.read({ ...link, providerId: null });
      paySession(books, sessionId, sandboxCardNumber('succeeds'));
      await links.read({ ...link, providerId: sessionId });
    }
    const [unpaid] = linksToOpen(null);
    if (unpaid) await links.close({ ...unpaid, ...(await links.open(unpaid)) });
    await adapter.events?.({ secret_key: secretKey }, new Date(Date.now() - 3_600_000).toISOString());
    return calls;
  } finally {
    recorder.closeAllConnections();
    recorder.close();
    await fake.close();
  }
}

const marker = { environment: 'env_1', kind: 'payment', id: 'pay_1' };

function reference(): GatewayReference {
  const intentToken = randomUUID();
  const createdAt = new Date().toISOString();
  return { intentToken, token: wireToken(intentToken), providerId: null, chargeProviderId: null, createdAt };
}

/** Pages for a known and an unknown customer, with and without a card to keep, and one that only keeps a card. */
function linksToOpen(customerToken: string | null): LinkRequest[] {
  const customer = { token: customerToken, name: 'Customer', email: 'customer@example.com', contact: null };
  const page = {
    currency: 'usd',
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    pageUrl: 'https://billing.example.com/checkout/1',
    returnUrl: 'https://billing.example.com/checkout/1?returned=true',
    description: 'Invoice INV-202611-00001',
    metadata: marker,
  };
  const link = (mode: 'payment' | 'setup', saveMethod: boolean, token: string | null): LinkRequest => ({
    ...reference(),
    ...page,
    mode,
    amount: mode === 'payment' ? '12.5' : '0',
    payBy: 'CARD',
    saveMethod,
    mandateLimit: null,
    customer: { ...customer, token },
  });
  return [
    link('payment', false, null),
    link('payment', true, null),
    link('payment', true, customerToken),
    link('setup', true, null),
    link('setup', true, customerToken),
  ];
}

const sent = ['authorization', 'stripe-version', 'idempotency-key', 'content-type'];

function sentHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    sent.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name] as string]] : [])),
  );
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
