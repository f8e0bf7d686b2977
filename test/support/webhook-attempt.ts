import type { Attempt } from '../../activities/event/webhook/attempt.ts';

/** An event as an endpoint is sent it. */
export interface SentEvent {
  id: string;
  object: string;
  sequence: number;
  previous: number;
  skipped?: number;
  /** Counted from 1; the first unless another is named. */
  number?: number;
}

/** Attempt to send an event to a receiver, signed with a secret of it. */
export function attemptOf(url: string, sent: SentEvent, secret: string, body: string, nowMs = Date.now()): Attempt {
  const { id, object: entityId, sequence, previous, skipped = 0, number = 1 } = sent;
  return {
    url,
    secrets: { secret, headers: {} },
    event: { id, entityId, sequence, occurredAt: '2026-03-31T10:00:00.000Z' },
    content: { body: Buffer.from(body), stateSequence: 0 },
    before: { previous, skipped },
    number,
    nowMs,
  };
}
