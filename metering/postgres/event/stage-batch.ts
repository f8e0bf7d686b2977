import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { from } from 'pg-copy-streams';
import type { CopyTransaction } from '../../../db/transaction.ts';
import type { PreparedEvent } from '../../event.ts';
import type { ShortKeys } from './batch-columns.ts';

/** Rows sent in one piece: the memory a batch takes besides itself stays small, and other work gets its turn between them. */
const rowsAPiece = 1_000;

/**
 * A table of the connection alone that large batches are copied into, empty again after each transaction. `is_copy` begins
 * as true for a repeat inside the batch. Places in the order of events are given here, in the order of the batch.
 */
const stagingText = `
set local client_min_messages = warning;
create temp table if not exists incoming_event (ord int, key uuid, event_id text, subject bigint, event_name int, ts timestamptz,
  source text, props json, is_copy boolean, seq bigint default nextval('usage.event_seq')) on commit delete rows`;

const copyText = `copy pg_temp.incoming_event (ord, key, event_id, subject, event_name, ts, source, props, is_copy) from stdin`;

/** Copies a batch into the staging table and returns how many of its events have a key of their own in it. */
export async function stageBatch(
  tx: CopyTransaction,
  events: readonly PreparedEvent[],
  keys: ShortKeys & { timeOf(event: PreparedEvent): string },
): Promise<number> {
  await tx.client.query(stagingText);
  const met = new Set<string>();
  async function* pieces(): AsyncGenerator<string> {
    for (let start = 0; start < events.length; start += rowsAPiece) {
      let piece = '';
      for (const [place, event] of events.slice(start, start + rowsAPiece).entries()) {
        const { id, key, source, propertiesText } = event;
        const isRepeat = met.size === met.add(key).size;
        const subject = keys.subjectOf(event.externalCustomerId);
        const name = keys.eventNameOf(event.eventName);
        piece += `${start + place}\t${key}\t${id === key ? absent : cellText(id)}\t${subject}\t${name}\t${keys.timeOf(event)}\t${cellText(source)}\t${cellText(propertiesText)}\t${isRepeat ? 't' : 'f'}\n`;
      }
      yield piece;
      await othersTurn();
    }
  }
  await pipeline(Readable.from(pieces()), tx.client.query(from(copyText)));
  return met.size;
}

const absent = '\\N';
const special = /[\\\t\n\r]/;
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function cellText(text: string | null): string {
  if (text === null) return absent;
  return special.test(text) ? text.replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? character) : text;
}
