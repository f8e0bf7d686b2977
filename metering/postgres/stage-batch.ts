import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from } from 'pg-copy-streams';
import type { SqlTransaction } from '../../db/transaction.ts';

type Cell = string | number | boolean | null;

/** Rows sent in one piece: the memory a batch takes besides itself stays small. */
const rowsAPiece = 2_000;

/**
 * Tables of the connection alone that a large batch is copied into, gone with the transaction. Their columns are those that
 * `appendText` reads. design: usage.md Writing
 */
const stagingText = `
create temp table incoming_event (ord int, key uuid, event_id text, subject bigint, event_name int, at timestamptz, source text,
  props text, repeat boolean) on commit drop;
create temp table incoming_gain (ord int, meter int, version int, q numeric, h uuid, latest boolean, grain int, g text) on commit drop`;

/** Copies the columns of a batch, and of what its events add to meters, into the staging tables. */
export async function stageBatch(
  tx: SqlTransaction,
  events: readonly (readonly Cell[])[],
  gains: readonly (readonly Cell[])[],
): Promise<void> {
  await tx.client.query(stagingText);
  await copyRows(tx, 'incoming_event', events);
  await copyRows(tx, 'incoming_gain', gains);
  // The sizes decide how the one statement joins them; a few hundred rows tell enough, the default looks at all of them.
  await tx.client.query(
    'set local default_statistics_target = 1; analyze pg_temp.incoming_event; analyze pg_temp.incoming_gain',
  );
}

async function copyRows(tx: SqlTransaction, table: string, rows: readonly (readonly Cell[])[]): Promise<void> {
  if (rows.length === 0) return;
  const into = tx.client.query(from(`copy pg_temp.${table} from stdin`));
  await pipeline(Readable.from(pieces(rows)), into);
}

function* pieces(rows: readonly (readonly Cell[])[]): Generator<string> {
  for (let start = 0; start < rows.length; start += rowsAPiece) {
    yield rows
      .slice(start, start + rowsAPiece)
      .map((row) => `${row.map(cellText).join('\t')}\n`)
      .join('');
  }
}

const special = /[\\\t\n\r]/;
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function cellText(cell: Cell): string {
  if (cell === null) return '\\N';
  if (typeof cell !== 'string') return String(cell);
  return special.test(cell) ? cell.replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? character) : cell;
}
