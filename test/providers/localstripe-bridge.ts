import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Parameters of Stripe that localstripe refuses. Without them a payment intent of it is the same. */
const unknownOfIntents = /^(description|allowed_payment_method_types\[\d+\])$/;
const unknownOfEvents = /^types\[\d+\]$/;
const confirmation = /^(\/v1\/payment_intents\/\w+)\/confirm$/;

interface Call {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface Bridge {
  url: string;
  close(): void;
}

/**
 * A server between the adapter and localstripe, which lacks four things of Stripe: parameters it refuses are left out, a confirmation that names
 * the card is sent as two requests, the filter of events by type is left out, and payment intents get the `amount_received` of their charge. It
 * keeps nothing and decides nothing: what is true of money is localstripe's. `localstripe-gaps.ts` checks that each is needed.
 */
export async function startBridge(target: string): Promise<Bridge> {
  const server = createServer(async (request, response) => {
    try {
      const { status, text } = await forward(target, await callOf(request));
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function forward(target: string, call: Call): Promise<{ status: number; text: string }> {
  const { method, path } = call;
  const [, intent] = confirmation.exec(path) ?? [];
  if (method === 'POST' && intent !== undefined) {
    const card = new URLSearchParams(call.body).get('payment_method') ?? '';
    const body = new URLSearchParams({ payment_method: card }).toString();
    const named = await send(target, { ...call, path: intent, body });
    return named.status === 200 ? send(target, { ...call, body: '' }) : named;
  }
  if (method === 'POST' && path === '/v1/payment_intents') {
    return send(target, { ...call, body: without(call.body, unknownOfIntents) });
  }
  const [route = '', query = ''] = path.split('?');
  return send(target, route === '/v1/events' ? { ...call, path: `${route}?${without(query, unknownOfEvents)}` } : call);
}

async function send(target: string, { method, path, headers, body }: Call): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${target}${path}`, { method, headers, ...(method === 'POST' ? { body } : {}) });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: answer.status, text: isJson ? withReceived(text) : text };
}

interface LocalstripeIntent {
  object: string;
  latest_charge: { amount: number; captured: boolean; status: string } | null;
}

function withReceived(text: string): string {
  const answer = JSON.parse(text) as LocalstripeIntent;
  if (answer.object !== 'payment_intent') return text;
  const { latest_charge: charge } = answer;
  const isCaptured = charge?.status === 'succeeded' && charge.captured;
  return JSON.stringify({ ...answer, amount_received: isCaptured ? charge.amount : 0 });
}

function without(encoded: string, names: RegExp): string {
  return new URLSearchParams([...new URLSearchParams(encoded)].filter(([name]) => !names.test(name))).toString();
}

async function callOf(request: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = ['authorization', 'stripe-version', 'idempotency-key', 'content-type'].flatMap((name) => {
    const value = request.headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks).toString('utf8'),
  };
}
