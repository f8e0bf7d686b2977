import { createHmac } from 'node:crypto';
import { CallFailed, type GuardedClient } from '../../../integrations/guarded-client.ts';
import type { Before, DueEvent } from '../../../services/event/webhook/due-event.ts';
import { type EndpointSecrets, signingSecrets } from '../../../services/event/webhook/endpoint-secret.ts';
import type { FrozenBody } from '../../../services/event/webhook/frozen-body.ts';
import { excerptOf } from './excerpt.ts';

/** A whole attempt, from the look-up of the name to the status of the answer. spec: platform §17.5 Success */
export const deadlineMs = 15_000;

/** Statuses whose `retry-after` is heeded. spec: platform §17.5 Retry schedule */
const mayAsk = new Set([429, 502, 503, 504]);
/** Statuses by which a receiver speaks of all events and not of one. design: people-and-events §B 20 */
const asksForAll = new Set([429, 503]);

/** Attempt to send an event to a receiver. */
export interface Attempt {
  url: string;
  secrets: EndpointSecrets;
  event: Pick<DueEvent, 'id' | 'entityId' | 'sequence' | 'occurredAt'>;
  content: FrozenBody;
  before: Before;
  /** Counted from 1. */
  number: number;
  nowMs: number;
  /** True where the event is sent because somebody asked for it again. */
  isReplay?: true;
}

/** End of an attempt. */
export interface AttemptOutcome {
  /** Null when the event was received, else the reason in words of a closed list that hold no address. */
  failure: string | null;
  /** Milliseconds for which the receiver asked not to get the event again; null where it did not ask. */
  waitMs: number | null;
  /** Milliseconds for which it asked to get nothing at all; null where it did not ask. */
  pauseMs: number | null;
  /** True where nobody answered. */
  isUnreached: boolean;
  /** Null where there was none. */
  answer: { statusCode: number; excerpt: string } | null;
}

/**
 * Sends an event once. Any status of 2xx within 15 seconds is its receipt. Throws when the sender is told to end, which says nothing of
 * whether the event was received. spec: platform §17.5
 */
export async function attemptEvent(
  client: GuardedClient,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  try {
    const { url, secrets, content, nowMs } = attempt;
    const headers = headersOf(attempt);
    const answer = await client.post({ url, headers, body: content.body, deadlineMs, signal });
    const { status, retryAfter } = answer;
    const waitMs = mayAsk.has(status) && retryAfter !== null ? retryAfterMs(retryAfter, nowMs) : null;
    const isReceived = status >= 200 && status < 300;
    const excerpt = isReceived ? '' : excerptOf(answer.beginning, secretsOf(secrets, headers, nowMs));
    return {
      failure: isReceived ? null : `answered ${status}`,
      waitMs,
      pauseMs: asksForAll.has(status) ? waitMs : null,
      isUnreached: false,
      answer: { statusCode: status, excerpt },
    };
  } catch (error) {
    if (!(error instanceof CallFailed) || error.failure === 'call ended') throw error;
    return { failure: error.failure, waitMs: null, pauseMs: null, isUnreached: true, answer: null };
  }
}

/** Texts of an attempt that a receiver may repeat and nobody may read: the secrets of the endpoint, and the signatures. */
function secretsOf(secrets: EndpointSecrets, headers: Record<string, string>, nowMs: number): string[] {
  const signing = signingSecrets(secrets, nowMs).flatMap(({ secret }) => [secret, secret.slice('whsec_'.length)]);
  const signatures = (headers['webhook-signature'] ?? '').split(' ').map((signature) => signature.slice('v1,'.length));
  return [...signing, ...Object.values(secrets.headers), ...signatures];
}

const longestWaitMs = 24 * 3_600_000;

/** Milliseconds that a `retry-after` asks for, as seconds or as a date: a day at most, 0 for a past date, null for anything else. */
export function retryAfterMs(header: string, nowMs: number): number | null {
  const text = header.trim();
  const wanted = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : /^\w{3}, /.test(text)
      ? Date.parse(text) - nowMs
      : Number.NaN;
  return Number.isNaN(wanted) ? null : Math.min(Math.max(wanted, 0), longestWaitMs);
}

/**
 * Headers of an attempt: the endpoint's own, id, time and signature by Standard Webhooks and under the names of Svix, and those by which a
 * receiver sees the order and gaps of an object. The latter are not signed. design: people-and-events §A 4, B 13, 14
 */
export function headersOf({
  secrets,
  event,
  content,
  before,
  number,
  nowMs,
  isReplay,
}: Attempt): Record<string, string> {
  const isNewer = content.stateSequence > event.sequence;
  return {
    ...signedHeaders({ id: event.id, body: content.body, secrets, nowMs }),
    'webhook-object': event.entityId,
    'webhook-sequence': String(event.sequence),
    'webhook-previous': String(before.previous),
    'webhook-skipped': String(before.skipped),
    'webhook-attempt': String(number),
    'webhook-occurred-at': event.occurredAt,
    ...(isReplay ? { 'webhook-replay': 'true' } : {}),
    ...(isNewer ? { 'webhook-state-sequence': String(content.stateSequence) } : {}),
  };
}

/**
 * Headers of a request whatever it sends: the endpoint's own, and id, time and signatures by Standard Webhooks and under the names of Svix.
 * Each secret that signs has a signature, separated by spaces, that of the present one first. spec: platform §17.5 Signature
 */
export function signedHeaders(request: {
  id: string;
  body: Uint8Array;
  secrets: EndpointSecrets;
  nowMs: number;
}): Record<string, string> {
  const { id, body, secrets, nowMs } = request;
  const timestamp = String(Math.floor(nowMs / 1000));
  const signatures = signingSecrets(secrets, nowMs).map(({ secret }) =>
    signatureOf(secret, `${id}.${timestamp}.`, body),
  );
  const signature = signatures.join(' ');
  return {
    ...secrets.headers,
    'content-type': 'application/json',
    'user-agent': 'Perennial-Webhooks',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'svix-id': id,
    'svix-timestamp': timestamp,
    'svix-signature': signature,
  };
}

/** `v1,` and the base64 of HMAC-SHA256 over id, time and the bytes that are sent. spec: platform §17.5 Signature */
function signatureOf(secret: string, prefix: string, body: Uint8Array): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(prefix).update(body).digest('base64')}`;
}
