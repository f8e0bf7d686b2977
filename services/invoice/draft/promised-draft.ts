import { inPromisedOrder, type PromisedLine } from '../../../billing/line/binding-preview.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import type { BilledLine } from '../../charging/subscription-charge.ts';
import type { DraftInvoice } from './invoice-draft.ts';

/** What a draft that is not stored promises: every line with its amount after discounts, and its total. */
export function promisedDraftLines({ row, lines }: Pick<DraftInvoice, 'row' | 'lines'>): PromisedLine[] {
  const on = `invoice ${row.billingReason}`;
  const total = {
    name: row.currency,
    quantity: '1',
    amount: row.total,
    periodStart: row.periodStart,
    periodEnd: row.periodEnd,
  };
  const named = lines.map((line) => ({ ...line, name: `${line.displayName} ${line.priceId ?? ''}` }));
  return inPromisedOrder([...named.map((line) => promisedLine(on, line)), promisedLine(`${on} total`, total)]);
}

/** A line that is billed or would be, as a preview promises it. */
export function promisedBilledLine(on: string, line: BilledLine): PromisedLine {
  return promisedLine(on, { ...line, name: `${line.displayName} ${line.priceId ?? ''}` });
}

function promisedLine(on: string, line: Record<string, unknown>): PromisedLine {
  return {
    on,
    name: String(line.name),
    quantity: decimalText(String(line.quantity)),
    amount: decimalText(String(line.amount)),
    start: String(line.periodStart ?? ''),
    end: String(line.periodEnd ?? ''),
  };
}

/** How fresh the usage of computed lines is; null where none was read. */
export function watermarkOf(lines: readonly BilledLine[]): string | null {
  const marks = lines.flatMap(({ derivation }) => derivation.parts.flatMap(({ usage }) => usage?.watermark ?? []));
  return marks.reduce<string | null>((latest, mark) => (latest === null || mark > latest ? mark : latest), null);
}
