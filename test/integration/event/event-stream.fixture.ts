import { expect } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import type { PhaseEvent } from '../../../services/platform/event-catalogue/subscription-events.ts';
import { writeEvents } from '../../../services/platform/outbox.ts';
import type { TestDatabase } from '../../support/database.ts';
import { toldPhase } from '../../support/told-event.ts';

/** A block of a stream of server-sent events, as its lines say. */
export interface Block {
  id?: string;
  event?: string;
  data?: string;
  comment?: string;
  retry?: string;
}

/** A reader of a stream over a real connection. */
export interface Reader {
  response: Response;
  /** The next block with an event. Fails when the stream ends before. */
  event(): Promise<Required<Pick<Block, 'id' | 'event' | 'data'>>>;
  events(count: number): Promise<Required<Pick<Block, 'id' | 'event' | 'data'>>[]>;
  /** The next block of any kind; null at the end of the stream. */
  block(): Promise<Block | null>;
  /** Reads to the end and gives every block that is left. */
  rest(): Promise<Block[]>;
  close(): void;
}

/** Opens a stream by `fetch`, and reads it by its own parser. The first blocks are the head: `retry`, and the position as an `id`. */
export async function openStream(
  url: string,
  headers: Record<string, string>,
): Promise<Reader & { start: string; head: Block[] }> {
  const gone = new AbortController();
  const response = await fetch(url, { headers, signal: gone.signal });
  expect(response.status, response.status === 200 ? '' : await response.text()).toBe(200);
  const blocks = blocksOf(response);
  const block = async () => (await blocks.next()).value ?? null;
  const event: Reader['event'] = async () => {
    for (;;) {
      const found = await block();
      if (found === null) throw new Error('the stream ended');
      const { id, event: name, data } = found;
      if (id !== undefined && name !== undefined && data !== undefined) return { id, event: name, data };
    }
  };
  const head: Block[] = [];
  while (head.at(-1)?.id === undefined || head.at(-1)?.event === 'reset') {
    const found = await block();
    if (found === null) throw new Error('the stream ended');
    head.push(found);
  }
  return {
    response,
    start: head.at(-1)?.id ?? '',
    head,
    block,
    event,
    async events(count) {
      const found: Awaited<ReturnType<typeof event>>[] = [];
      while (found.length < count) found.push(await event());
      return found;
    },
    async rest() {
      const found: Block[] = [];
      for (let one = await block(); one !== null; one = await block()) found.push(one);
      return found;
    },
    close: () => gone.abort(),
  };
}

async function* blocksOf(response: Response): AsyncGenerator<Block, undefined> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) yield blockOf(part);
  }
}

function blockOf(text: string): Block {
  const block: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^([a-z]*): ?(.*)$/s.exec(line) ?? [];
    block[name === '' ? 'comment' : name] = value;
  }
  return block;
}

/** Writes, in one transaction, an event of each of the objects named; `text` makes its payload longer. */
export function emitter({ database, scope }: Pick<TestDatabase, 'database' | 'scope'>) {
  return (entityIds: readonly string[], name?: PhaseEvent['name'], text?: string): Promise<void> =>
    inSqlTransaction(database, scope, (tx) =>
      writeEvents(
        tx,
        scope,
        entityIds.map((id) => toldPhase(id, name, text)),
      ),
    );
}

/** Object and sequence of an event. */
export function placeOf({ data }: { data: string }): string {
  const { entity_id, sequence } = JSON.parse(data) as { entity_id: string; sequence: number };
  return `${entity_id} ${sequence}`;
}
