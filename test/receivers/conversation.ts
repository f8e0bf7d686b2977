import { type Attempt, attemptEvent, headersOf } from '../../activities/event/webhook/attempt.ts';
import { createGuardedClient } from '../../integrations/guarded-client.ts';
import { attemptOf, type SentEvent } from '../support/webhook-attempt.ts';
import type { Receiver } from './receiver.ts';

const hourMs = 3_600_000;
/** Text whose bytes differ from those of what a careless receiver would write anew. */
const payload = '{"event_type": "customer.updated", "customer": {"name": "Zoë 株式会社 \\u20ac", "credit": 1.10}}';
const otherSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

/** Steps of the conversation: what is sent, how it is answered, and the lines that the receiver then writes. */
const steps: {
  name: string;
  sent: SentEvent;
  secret?: string;
  ageMs?: number;
  body?: string;
  answer: string;
  lines: string[];
}[] = [
  {
    name: 'the first event of an object',
    sent: { id: 'sys_event_1', object: 'cust_1', sequence: 1, previous: 0 },
    answer: 'received',
    lines: ['received cust_1 1'],
  },
  {
    name: 'the next one, whose number is higher because types were left out in between',
    sent: { id: 'sys_event_3', object: 'cust_1', sequence: 3, previous: 1 },
    answer: 'received',
    lines: ['received cust_1 3'],
  },
  {
    name: 'the same event once more',
    sent: { id: 'sys_event_3', object: 'cust_1', sequence: 3, previous: 1, number: 2 },
    answer: 'received',
    lines: [],
  },
  {
    name: 'the first event of another object',
    sent: { id: 'sys_event_9', object: 'cust_2', sequence: 1, previous: 0 },
    answer: 'received',
    lines: ['received cust_2 1'],
  },
  {
    name: 'an event behind one that was given up',
    sent: { id: 'sys_event_5', object: 'cust_1', sequence: 5, previous: 4, skipped: 1 },
    answer: 'received',
    lines: ['gap: cust_1 is known up to 3, and 5 follows 4', 'received cust_1 5'],
  },
  {
    name: 'a new event with a known number, as after a restore to an earlier moment',
    sent: { id: 'sys_event_5b', object: 'cust_1', sequence: 5, previous: 4 },
    answer: 'received',
    lines: ['gap: cust_1 is known up to 5, and 5 follows 4', 'received cust_1 5'],
  },
  {
    name: 'an event signed with the secret of another endpoint',
    sent: { id: 'sys_event_6', object: 'cust_1', sequence: 6, previous: 5 },
    secret: otherSecret,
    answer: 'answered 401',
    lines: [],
  },
  {
    name: 'an event whose signature is an hour old',
    sent: { id: 'sys_event_6', object: 'cust_1', sequence: 6, previous: 5 },
    ageMs: hourMs,
    answer: 'answered 401',
    lines: [],
  },
  {
    name: 'an event whose body was changed under way',
    sent: { id: 'sys_event_6', object: 'cust_1', sequence: 6, previous: 5 },
    body: payload.replace('1.10', '1.1'),
    answer: 'answered 401',
    lines: [],
  },
  {
    name: 'the event itself',
    sent: { id: 'sys_event_6', object: 'cust_1', sequence: 6, previous: 5 },
    answer: 'received',
    lines: ['received cust_1 6'],
  },
];

/** Result of one step: empty when the receiver did as it should, else how it differs. */
export interface StepResult {
  name: string;
  problem: string;
}

/** Speaks with a receiver as a worker does, in right and in wrong ways. */
export async function converse(receiver: Receiver): Promise<StepResult[]> {
  const client = createGuardedClient({ allowedHosts: [receiver.host] });
  const results: StepResult[] = [];
  try {
    for (const { name, sent, secret = receiver.secret, ageMs = 0, body, answer, lines } of steps) {
      const known = receiver.lines().length;
      const attempt = attemptOf(receiver.url, sent, secret, payload, Date.now() - ageMs);
      const answered =
        body === undefined
          ? ((await attemptEvent(client, attempt, new AbortController().signal)).failure ?? 'received')
          : await sendChanged(attempt, body);
      const written = receiver
        .lines()
        .slice(known)
        .map((line) => line.replace(/ customer\.updated$/, ''));
      const isRight = answered === answer && written.join('\n') === lines.join('\n');
      results.push({ name, problem: isRight ? '' : `${answered}, and it wrote [${written.join(' | ')}]` });
    }
  } finally {
    await client.close();
  }
  return results;
}

/** Sends another body than the one that was signed. */
async function sendChanged(attempt: Attempt, body: string): Promise<string> {
  const { status } = await fetch(attempt.url, { method: 'POST', headers: headersOf(attempt), body });
  return status < 300 ? 'received' : `answered ${status}`;
}
