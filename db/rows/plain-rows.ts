import { keptPlan, type SqlTransaction } from '../transaction.ts';
import { decimalText, instantText } from './columns.ts';

const timestamptz = 1184;
const numeric = 1700;
const int8 = 20;

/**
 * The rows of a statement as the mapper gives the rows of an entity: members by their names in code, instants and decimals in the
 * one form they have there. They are plain objects that nobody changes: for reads that must be fast, since the mapper compares
 * each of its rows at the end of a transaction. The connection keeps the plan of the statement under `name`; whole rows (`*`) are for
 * `inReadTransaction`, which repeats what a migration got in the way of.
 */
export async function plainRows<Row>(
  tx: SqlTransaction,
  name: string,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const statement = { name: keptPlan(name, text), text, values: [...values], rowMode: 'array' as const };
  const { rows, fields } = await tx.client.query<unknown[]>(statement);
  const columns = fields.map((field) => ({ member: memberName(field.name), read: readerOf(field.dataTypeID) }));
  return rows.map((row) => {
    const plain: Record<string, unknown> = {};
    for (const [index, { member, read }] of columns.entries()) {
      const value = row[index];
      plain[member] = value === null || read === null ? value : read(value as string);
    }
    return plain as Row;
  });
}

function readerOf(type: number): ((value: string) => unknown) | null {
  if (type === timestamptz) return instantText;
  if (type === int8) return Number;
  return type === numeric ? decimalText : null;
}

const memberNames = new Map<string, string>();

/** The name in code of a column: `customer_id` is `customerId`. */
export function memberName(column: string): string {
  let name = memberNames.get(column);
  if (name === undefined) {
    name = column.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
    memberNames.set(column, name);
  }
  return name;
}
