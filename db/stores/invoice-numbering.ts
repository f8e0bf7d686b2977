import type { InvoiceConfig } from '../../billing/invoice-config.ts';
import { invoiceDateKey, invoiceNumber } from '../../billing/invoice-number.ts';
import type { Scope } from '../scope.ts';
import type { Sql } from '../transaction.ts';

/** An invoice that is being issued; a finalized one without a number gets one. */
export interface NumberedInvoice {
  row: { invoiceStatus: string; invoiceNumber?: unknown };
  at: string;
}

/**
 * Gives numbers in order. The sequence row of a date key stays locked until the transaction ends, which makes numbers
 * gapless; keys are locked in one order. spec: subscriptions-and-invoicing §2.15.5
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
    const invoices = byKey.get(dateKey) ?? [];
    const [sequence] = await sql.rows<{ last: string }>(
      `insert into invoice_number_sequence (environment_id, date_key, last) values ($1, $2, $3::bigint + $4::bigint - 1)
       on conflict (environment_id, date_key) do update set last = invoice_number_sequence.last + $4::bigint returning last`,
      [scope.environmentId, dateKey, config.startSequence, invoices.length],
    );
    const first = Number(sequence?.last) - invoices.length + 1;
    for (const [index, invoice] of invoices.entries()) {
      invoice.row.invoiceNumber = invoiceNumber(dateKey, first + index, config);
    }
  }
}
