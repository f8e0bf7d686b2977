import type { InvoiceConfig } from '../../../billing/invoice/invoice-config.ts';
import { invoiceDateKey, invoiceNumber } from '../../../billing/invoice/invoice-number.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';

/** An invoice that is being issued; its number is written into its row. */
export interface NumberedInvoice {
  row: { id: string; invoiceStatus: string; invoiceNumber?: unknown; [column: string]: unknown };
  at: string;
}

/**
 * Gives numbers in order to those that have none. The sequence row of a date key stays locked until the transaction ends,
 * which makes numbers gapless; keys are locked in one order. A number that a caller gave to another invoice is passed over.
 * spec: subscriptions-and-invoicing §2.15.5, §1.11.1 invoice_number
 */
export async function assignNumbers(
  sql: Sql,
  scope: Scope,
  issued: readonly NumberedInvoice[],
  config: InvoiceConfig,
): Promise<void> {
  const numbered = issued.filter(({ row }) => row.invoiceStatus === 'FINALIZED' && row.invoiceNumber === null);
  const byKey = Map.groupBy(numbered, ({ at }) => invoiceDateKey(at, config));
  for (const dateKey of [...byKey.keys()].sort()) {
    let waiting = byKey.get(dateKey) ?? [];
    while (waiting.length > 0) {
      const numbers = await nextNumbers(sql, scope, { dateKey, count: waiting.length, config });
      const rest = waiting.slice(numbers.length);
      for (const [index, number] of numbers.entries()) waiting[index]!.row.invoiceNumber = number;
      waiting = rest;
    }
  }
}

/** The next `count` numbers of a date key, less those that are taken: the sequence has moved on, so asking again goes on. */
async function nextNumbers(
  sql: Sql,
  scope: Scope,
  { dateKey, count, config }: { dateKey: string; count: number; config: InvoiceConfig },
): Promise<string[]> {
  const [sequence] = await sql.rows<{ last: string }>(
    `insert into invoice_number_sequence (environment_id, date_key, last) values ($1, $2, $3::bigint + $4::bigint - 1)
     on conflict (environment_id, date_key) do update set last = invoice_number_sequence.last + $4::bigint returning last`,
    [scope.environmentId, dateKey, config.startSequence, count],
    'invoice-number-next',
  );
  const first = Number(sequence?.last) - count + 1;
  const numbers = Array.from({ length: count }, (_, index) => invoiceNumber(dateKey, first + index, config));
  const taken = await sql.rows<{ invoice_number: string }>(
    'select invoice_number from invoice where environment_id = $1 and invoice_number = any($2)',
    [scope.environmentId, numbers],
    'invoice-numbers-taken',
  );
  const given = new Set(taken.map((row) => row.invoice_number));
  return numbers.filter((number) => !given.has(number));
}
