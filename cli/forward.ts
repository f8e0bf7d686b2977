import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { StreamedEvent } from './event-stream.ts';

/** The program that events are sent to. */
export interface Receiver {
  url: string;
  /** `whsec_` and the base64 of 24 to 64 bytes. */
  secret: string;
}

/** An event's way to its receiver. */
export interface Forwarded {
  /** Status of the answer, or why there was none. */
  result: number | string;
  isReceived: boolean;
  tookMs: number;
}

/** Events before one of an object here: the sequence of the last one, and how many failed in a row up to it. */
export interface Before {
  previous: number;
  skipped: number;
}

const secretBytes = 32;
// As for a webhook endpoint. spec: platform §17.5
const deadlineMs = 15_000;
const knockMs = 1_000;

/** A new signing secret. spec: platform §17.5 Signature */
export const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`;

/** True for a text that can sign: `whsec_` and the base64 of 24 to 64 bytes. */
export function isSecret(text: string): boolean {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1] ?? '';
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded;
}

/**
 * Sends an event as a webhook is sent: body, headers and signature by Standard Webhooks, received with any 2xx within 15 s. While nobody
 * listens at the address it is tried again each second, which sends nothing twice; what was sent once is not sent again. Null when
 * `ended` came before it was sent. spec: platform §17.5; design: people-and-events §A 4
 */
export async function forwardEvent(
  { url, secret }: Receiver,
  event: StreamedEvent,
  before: Before,
  told: { onUnreachable(): void; ended: AbortSignal },
): Promise<Forwarded | null> {
  const body = JSON.stringify(event.payload);
  for (;;) {
    if (told.ended.aborted) return null;
    const began = performance.now();
    const done = (result: number | string, isReceived: boolean) => ({
      result,
      isReceived,
      tookMs: Math.round(performance.now() - began),
    });
    try {
      const headers = headersOf(event, before, secret, body);
      const signal = AbortSignal.timeout(deadlineMs);
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      await response.body?.cancel();
      return done(response.status, response.ok);
    } catch (error) {
      if (!isUnreachable(error)) return done(failureOf(error as Error), false);
    }
    told.onUnreachable();
    await pause(knockMs, undefined, { signal: told.ended }).catch(() => undefined);
  }
}

function headersOf(event: StreamedEvent, before: Before, secret: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = `v1,${createHmac('sha256', key).update(`${event.id}.${timestamp}.${body}`).digest('base64')}`;
  const names = ['webhook', 'svix'];
  return {
    'content-type': 'application/json',
    'user-agent': 'Perennial-Listen',
    ...Object.fromEntries(
      names.flatMap((name) => [
        [`${name}-id`, event.id],
        [`${name}-timestamp`, timestamp],
        [`${name}-signature`, signature],
      ]),
    ),
    'webhook-object': event.entity_id,
    'webhook-sequence': String(event.sequence),
    'webhook-previous': String(before.previous),
    'webhook-skipped': String(before.skipped),
    'webhook-attempt': '1',
    'webhook-occurred-at': event.occurred_at,
  };
}

/** True when there is no connection to anybody, so that nothing was sent. */
function isUnreachable(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string; errors?: { code?: string }[] } };
  const codes = [cause?.code, ...(cause?.errors ?? []).map(({ code }) => code)];
  return codes.includes('ECONNREFUSED');
}

function failureOf({ name, message, cause }: Error): string {
  if (name === 'TimeoutError') return `no answer within ${deadlineMs / 1_000} s`;
  return (cause as Error | undefined)?.message ?? message;
}
