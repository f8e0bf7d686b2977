import type { Feature } from '../../db/entities/catalogue/feature.ts';
import type { Meter } from '../../db/entities/catalogue/meter.ts';
import { instantText } from '../../db/rows/columns.ts';
import { memberName } from '../../db/rows/plain-rows.ts';
import type { Sql } from '../../db/transaction.ts';

/** The tables whose rows are shown in hundreds and seldom change, with the entity of each. */
interface Shown {
  feature: Feature;
  meter: Meter;
}

/** A row as it stood: its id and what tells this version of it from every other. */
export interface RowVersion {
  id: string;
  version: string;
}

type Columns = Record<string, unknown> & { created_at: string; updated_at: string };

const mostKept = 20_000;
const kept = { feature: new Map<string, Feature>(), meter: new Map<string, Meter>() };

/** SQL that gives the version of a row: which transaction wrote it, and where it lies. */
export const versionText = (row: string): string => `${row}.xmin::text || ${row}.ctid::text || ${row}.updated_at::text`;

/**
 * The rows of these versions by id, frozen plain objects instead of the mapper's. What this process has seen of a version is not read again:
 * a version never changes its content. A row that was changed since its version was read is given as it stands now.
 */
export async function shownRows<Table extends keyof Shown>(
  sql: Sql,
  table: Table,
  environmentId: string,
  wanted: readonly RowVersion[],
): Promise<Map<string, Shown[Table]>> {
  const known = kept[table] as Map<string, Shown[Table]>;
  const found = new Map<string, Shown[Table]>();
  const unknown = new Set<string>();
  for (const row of wanted) {
    const seen = known.get(keyOf(row));
    if (seen) found.set(row.id, seen);
    else unknown.add(row.id);
  }
  if (unknown.size === 0) return found;
  const rows = await sql.rows<{ version: string; columns: Columns }>(
    `select ${versionText('t')} as version, to_jsonb(t) as columns from ${table} t where environment_id = $1 and id = any($2)`,
    [environmentId, [...unknown]],
  );
  if (known.size + rows.length > mostKept) known.clear();
  for (const { version, columns } of rows) {
    const row = rowOf(columns) as unknown as Shown[Table];
    known.set(keyOf({ id: row.id, version }), row);
    found.set(row.id, row);
  }
  return found;
}

function keyOf({ id, version }: RowVersion): string {
  return `${id} ${version}`;
}

/** Columns by the names that members have. */
function rowOf(columns: Columns): Readonly<Record<string, unknown>> {
  const row: Record<string, unknown> = {};
  for (const name in columns) row[memberName(name)] = columns[name];
  return Object.freeze({
    ...row,
    createdAt: instantText(columns.created_at),
    updatedAt: instantText(columns.updated_at),
  });
}
