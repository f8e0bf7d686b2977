import type { Sql } from '../transaction.ts';

/** The columns of a set of rows: member name → PostgreSQL type. Member names are the camelCase of the column names. */
export type Columns = Readonly<Record<string, string>>;

/** The columns every record is born with. */
export const recordColumnTypes: Columns = {
  id: 'text',
  tenantId: 'text',
  environmentId: 'text',
  createdAt: 'timestamptz',
  createdBy: 'text',
  updatedAt: 'timestamptz',
  updatedBy: 'text',
};

/** The column of a member: `currentPeriodEnd` is `current_period_end`. */
export function columnName(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `select`-able rows from one jsonb parameter, so that one statement carries any number of rows. */
export function recordset(columns: Columns, parameter: string): string {
  const fields = Object.entries(columns).map(([member, type]) => `"${member}" ${type}`);
  return `jsonb_to_recordset(${parameter}::jsonb) as t(${fields.join(', ')})`;
}

/**
 * What a column equals that is one of the texts of a parameter: `id = ${anyOf('$2')}`. Of a plain `any($2)` the planner estimates each
 * list by its length and, for the short ones of a single step, plans a kept statement anew every time; of this it knows no length.
 */
export function anyOf(parameter: string): string {
  return `any((select ${parameter}::text[])::text[])`;
}

/** The text of an insert of many rows; made once when a module loads. `suffix` takes an `on conflict` clause. */
export function insertText(table: string, columns: Columns, suffix = ''): string {
  const members = Object.keys(columns);
  return `insert into ${table} (${members.map(columnName).join(', ')}) select ${members.map((member) => `t."${member}"`).join(', ')} from ${recordset(columns, '$1')} ${suffix}`;
}

/** The text of an update of many rows by id; `extra` is added to what is set (`version = r.version + 1`). */
export function updateText(table: string, columns: Columns, extra = ''): string {
  const sets = Object.keys(columns)
    .filter((member) => member !== 'id')
    .map((member) => `${columnName(member)} = t."${member}"`);
  if (extra !== '') sets.push(extra);
  return `update ${table} as r set ${sets.join(', ')} from ${recordset(columns, '$1')} where r.id = t."id"`;
}

/** Sends a text of `insertText` or `updateText`; no rows, no statement. These texts are few and run all the time: their plans are kept. */
export async function writeRows(sql: Sql, text: string, rows: readonly object[]): Promise<void> {
  if (rows.length > 0) await sql.send(text, [JSON.stringify(rows)], planOf(text));
}

/** Like `writeRows`, for who catches what it fails with. */
export async function writeRowsAndWait(sql: Sql, text: string, rows: readonly object[]): Promise<void> {
  if (rows.length > 0) await sql.rows(text, [JSON.stringify(rows)], planOf(text));
}

const plans = new Map<string, string>();

function planOf(text: string): string {
  const known = plans.get(text) ?? `write-${plans.size}`;
  plans.set(text, known);
  return known;
}
