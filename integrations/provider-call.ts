import { GatewayOutcomeUnknown, GatewayTurnedAway } from './payment-gateway.ts';

/** One request to a provider. */
export interface ProviderCall {
  /** Named in errors. */
  provider: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  url: URL;
  headers: Record<string, string>;
  /** Already in the provider's own encoding. */
  body?: string | undefined;
  deadlineMs?: number;
}

/** A definite answer of a provider: its status is below 500 and its body one JSON object. */
export interface ProviderAnswer {
  status: number;
  body: Record<string, unknown>;
}

const defaultDeadlineMs = 20_000;
/** Far more than any object that is asked for; a page of 100 charges has about 0.4 MiB. */
const mostBytes = 4 * 1024 * 1024;
/** Statuses that say nothing of the request's effect: too early, in use, too many. */
const undecided = new Set([408, 409, 425, 429]);

/**
 * Asks a provider once, without a retry of its own: the caller asks again, after it has looked whether the first request arrived.
 * An answer is a complete JSON object with a status below 500, or the success of a deletion without any body, which is read as an empty object; anything else throws `GatewayOutcomeUnknown`, whose text holds neither headers nor bodies, because they have keys and personal data. Redirects are not followed, since they would carry
 * the key elsewhere. design: money-in-checkout §D Clients
 */
export async function callProvider(call: ProviderCall): Promise<ProviderAnswer> {
  const { provider, deadlineMs = defaultDeadlineMs } = call;
  const signal = AbortSignal.timeout(deadlineMs);
  try {
    const response = await fetch(call.url, {
      method: call.method,
      headers: call.headers,
      redirect: 'manual',
      signal,
      ...(call.body === undefined ? {} : { body: call.body }),
    });
    if (response.status >= 500 || undecided.has(response.status)) {
      await response.body?.cancel();
      if (response.status === 429) throw new GatewayTurnedAway(`${provider} answered 429: it is asked too often`);
      throw new GatewayOutcomeUnknown(`${provider} answered ${response.status}`);
    }
    const text = await readCapped(provider, response);
    if (call.method === 'DELETE' && response.ok && text === '') return { status: response.status, body: {} };
    return { status: response.status, body: objectOf(provider, response.status, text) };
  } catch (error) {
    if (error instanceof GatewayOutcomeUnknown) throw error;
    if (signal.aborted) throw new GatewayOutcomeUnknown(`${provider} did not answer within ${deadlineMs / 1000} s`);
    throw new GatewayOutcomeUnknown(`${provider} could not be reached, or its answer broke off`);
  }
}

async function readCapped(provider: string, response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > mostBytes) throw new GatewayOutcomeUnknown(`${provider} answered more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function objectOf(provider: string, status: number, text: string): Record<string, unknown> {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new GatewayOutcomeUnknown(`${provider} answered ${status} with what is no JSON object`);
  }
  return value as Record<string, unknown>;
}
