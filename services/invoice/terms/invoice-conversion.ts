import type { Derivation } from '../../../billing/price/derivation.ts';
import { atRate, type LinePriceUnit, linePriceUnit, priceUnitTotals } from '../../../billing/price/price-unit.ts';
import { refuse } from '../../../billing/refusal.ts';
import { type Columns, updateText, writeRows } from '../../../db/rows/bulk.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { priceUnitColumns } from '../read/invoice-line.ts';

/** A draft whose lines are in memory beside its row. */
export interface ConvertibleDraft {
  id: string;
  is_manually_edited: boolean;
  lines: { id: string; amount: string; priceUnitId: string | null }[];
}

interface CustomLine {
  id: string;
  invoice_id: string;
  price_unit: string;
  derivation: Derivation;
  rate: string | null;
  [column: string]: unknown;
}

const customLinesText = `
select l.id, l.invoice_id, l.price_unit, l.derivation, u.conversion_rate as rate
from invoice_line_item l left join price_unit u on u.id = l.price_unit_id and u.environment_id = l.environment_id
where l.environment_id = $1 and l.invoice_id = any($2) and l.price_unit_id is not null and l.derivation is not null
  and l.status = 'published'
order by l.invoice_id, l.position, l.id`;

const convertedColumns: Columns = { id: 'text', amount: 'numeric', ...priceUnitColumns, derivation: 'jsonb' };
const updateConverted = updateText('invoice_line_item', convertedColumns);
const updateTotals = updateText('invoice', { id: 'text', priceUnitTotals: 'jsonb' });

/**
 * Converts the lines of custom currencies at the rates in force now, which the invoices keep from then on, with what each
 * comes to in them. Lines that people edited stay as they are. Throws `validation_error` for a custom currency that is
 * gone, and the drafts stay drafts. spec: catalogue-and-metering §4.5 Changing the rate; subscriptions-and-invoicing §2.15.10
 */
export async function convertAtCurrentRates(
  sql: Sql,
  scope: Scope,
  drafts: readonly ConvertibleDraft[],
): Promise<void> {
  const custom = drafts.filter((draft) => draft.lines.some((line) => line.priceUnitId !== null));
  if (custom.length === 0) return;
  const ids = custom.map((draft) => draft.id);
  const rows = Map.groupBy(
    await sql.rows<CustomLine>(customLinesText, [scope.environmentId, ids]),
    (row) => row.invoice_id,
  );
  const changed: object[] = [];
  const totals: object[] = [];
  for (const draft of custom) {
    const units = (rows.get(draft.id) ?? []).map((row): LinePriceUnit | null => {
      const derivation = draft.is_manually_edited ? row.derivation : atRate(row.derivation, rateOf(row));
      const unit = linePriceUnit(derivation);
      if (derivation !== row.derivation) changed.push({ id: row.id, amount: derivation.amount, ...unit, derivation });
      const inMemory = draft.lines.find((line) => line.id === row.id);
      if (inMemory && !draft.is_manually_edited) inMemory.amount = derivation.amount;
      return unit;
    });
    totals.push({ id: draft.id, priceUnitTotals: priceUnitTotals(units) ?? undefined });
  }
  await writeRows(sql, updateConverted, changed);
  await writeRows(sql, updateTotals, totals);
}

function rateOf({ rate, price_unit, invoice_id }: CustomLine): string {
  if (rate !== null) return decimalText(rate);
  throw refuse(
    'validation_error',
    `price_unit ${price_unit} on invoice ${invoice_id} has no conversion rate any more; restore it before finalizing`,
    { fields: { price_unit: 'has no conversion rate' } },
  );
}
