import { randomUUID } from 'node:crypto';
import { faultClient } from './client.ts';
import { type Random, seededRandom } from './random.ts';

const connections = 32;
const largestBatch = 200;
/** One event in so many repeats an id that was sent before, perhaps by another connection at the same moment. */
const repeatedOneIn = 3;
const rememberedIds = 500;

/** What was sent and acknowledged. */
export interface Storm {
  /** Ids of acknowledged events. */
  readonly acknowledged: Set<string>;
  /** Acknowledged requests, for whoever wants to see progress. */
  requests: number;
  /** What the events that are never sent with another value add up to. */
  sum: number;
  /** Tries that ended without a usable answer, by what came instead. */
  retries: ReadonlyMap<string, number>;
}

export const stormMeters = [
  { eventName: 'storm.same', type: 'SUM' },
  { eventName: 'storm.other', type: 'SUM' },
  { eventName: 'storm.other', type: 'COUNT_UNIQUE' },
] as const;

/** An event that is sent with the same value each time, and one that is not: of the latter the first stored copy counts. */
function eventOf(random: Random, id: string, isSame: boolean) {
  const n = isSame ? (Number.parseInt(id.slice(0, 6), 16) % 1_000) + 1 : random.whole(1_000);
  return {
    event_id: id,
    event_name: isSame ? 'storm.same' : 'storm.other',
    external_customer_id: `storm-${random.whole(20)}`,
    timestamp: new Date(Date.UTC(2026, 0, 1 + random.whole(20), random.whole(24), random.whole(60))).toISOString(),
    properties: { n },
  };
}

/**
 * Sends events from 32 connections for as long as `isWanted`, every request again until it is acknowledged, and some of them
 * although they were: single ones and batches, with repeats in a batch, between batches and between connections.
 */
export async function runStorm(
  target: { apiUrl: string; apiKey: string; seed: number },
  storm: Storm,
  isWanted: () => boolean,
): Promise<void> {
  const api = faultClient(target.apiUrl, target.apiKey, seededRandom(target.seed));
  storm.retries = api.counts.retries;
  const recent: { id: string; isSame: boolean }[] = [];
  const connection = async (number: number) => {
    const random = seededRandom(target.seed * 1_000 + number);
    const next = () => {
      if (recent.length > 0 && random.whole(repeatedOneIn) === 0) return random.oneOf(recent);
      const event = { id: randomUUID(), isSame: random.whole(2) === 0 };
      recent.push(event);
      if (recent.length > rememberedIds) recent.splice(0, rememberedIds / 2);
      return event;
    };
    while (isWanted()) {
      const isSingle = random.whole(3) === 0;
      const chosen = Array.from({ length: isSingle ? 1 : 1 + random.whole(largestBatch) }, next);
      const events = chosen.map(({ id, isSame }) => eventOf(random, id, isSame));
      await (isSingle ? api.send('POST', '/events', events[0]) : api.send('POST', '/events/bulk', { events }));
      storm.requests += 1;
      for (const event of events) acknowledge(storm, event);
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, number) => connection(number)));
}

function acknowledge(storm: Storm, event: ReturnType<typeof eventOf>): void {
  if (storm.acknowledged.has(event.event_id)) return;
  storm.acknowledged.add(event.event_id);
  if (event.event_name === 'storm.same') storm.sum += event.properties.n;
}
