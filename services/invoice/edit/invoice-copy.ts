import { columnName } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { lineColumns } from '../read/invoice-line.ts';

/** A line and the line that is made of it; null members are copied. */
export interface CopiedLine {
  from: string;
  to: string;
  displayName?: string | null;
  amount?: string | null;
  quantity?: string | null;
  metadata?: Record<string, string> | null;
  /** False: what explains the amount of the old line does not explain that of the new one. */
  keepsDerivation: boolean;
}

/** What says why a line costs what it costs, which an amount given by a person does not follow from. */
const explaining = new Set([
  'derivation',
  'commitmentInfo',
  'priceUnit',
  'priceUnitId',
  'priceUnitAmount',
  'priceUnitCost',
  'conversionRate',
  'adjustedEntitlementQuantity',
]);

const overridden: Record<string, string> = {
  id: 't.to_id',
  invoiceId: '$2',
  createdAt: '$3::timestamptz',
  createdBy: '$4',
  updatedAt: '$3::timestamptz',
  updatedBy: '$4',
  displayName: 'coalesce(t.display_name, l.display_name)',
  amount: 'coalesce(t.amount, l.amount)',
  quantity: 'coalesce(t.quantity, l.quantity)',
  metadata: 'coalesce(t.metadata, l.metadata)',
  lineItemDiscount: '0',
  invoiceLevelDiscount: '0',
  prepaidCreditsApplied: '0',
};

const members = Object.keys(lineColumns);
const copied = members.map((member) => {
  const column = `l.${columnName(member)}`;
  return overridden[member] ?? (explaining.has(member) ? `case when t.keeps then ${column} end` : column);
});

// Inside PostgreSQL, so that no digit of a derivation goes through a float.
const copyText = `
insert into invoice_line_item (${members.map(columnName).join(', ')})
select ${copied.join(', ')}
from unnest($5::text[], $6::text[], $7::text[], $8::numeric[], $9::numeric[], $10::jsonb[], $11::boolean[])
  as t(from_id, to_id, display_name, amount, quantity, metadata, keeps)
join invoice_line_item l on l.environment_id = $1 and l.id = t.from_id`;

/** Copies lines onto an invoice under new ids, with what is changed of them and without discounts and credits. */
export async function copyLines(
  sql: Sql,
  scope: Scope,
  { invoiceId, lines }: { invoiceId: string; lines: readonly CopiedLine[] },
): Promise<void> {
  if (lines.length === 0) return;
  await sql.rows(copyText, [
    scope.environmentId,
    invoiceId,
    new Date().toISOString(),
    scope.actor,
    lines.map((line) => line.from),
    lines.map((line) => line.to),
    lines.map((line) => line.displayName ?? null),
    lines.map((line) => line.amount ?? null),
    lines.map((line) => line.quantity ?? null),
    lines.map((line) => (line.metadata ? JSON.stringify(line.metadata) : null)),
    lines.map((line) => line.keepsDerivation),
  ]);
}
