import type { ChargeLine } from '../../billing/charge.ts';
import { linePriceUnit } from '../../billing/price-unit.ts';
import { type Columns, updateText, writeRows } from '../bulk.ts';
import { instantText } from '../columns.ts';
import type { Scope } from '../scope.ts';
import type { Sql } from '../transaction.ts';
import type { UsageReader } from '../usage-reader.ts';
import { priceUnitColumns } from './invoice-draft.ts';
import { computeCharges } from './subscription-charge.ts';
import { periodOf } from './subscription-period.ts';
import { readSubscriptions } from './subscription-row.ts';

/** A draft whose lines are in memory beside its row. */
export interface RefreshableDraft {
  draft: {
    id: string;
    subscription_id: string | null;
    billing_reason: string;
    lines: { id: string; amount: string }[];
  };
}

const measuredColumns: Columns = {
  id: 'text',
  quantity: 'numeric',
  amount: 'numeric',
  adjustedEntitlementQuantity: 'numeric',
  ...priceUnitColumns,
  derivation: 'jsonb',
};
const updateMeasured = updateText('invoice_line_item', measuredColumns);

/**
 * Measures the usage lines of cycle drafts again for the period each invoice stores, so that events which arrived during the
 * draft window are billed; fixed lines stay as they were computed. spec: subscriptions-and-invoicing §2.15.2
 */
export async function refreshUsageLines(
  sql: Sql,
  scope: Scope,
  wanted: readonly RefreshableDraft[],
  readUsage: UsageReader,
): Promise<void> {
  const drafts = wanted.filter(
    ({ draft }) => draft.subscription_id !== null && draft.billing_reason === 'SUBSCRIPTION_CYCLE',
  );
  if (drafts.length === 0) return;
  const invoiceIds = drafts.map(({ draft }) => draft.id);
  const lines = await sql.rows<StoredLine>(storedLinesText, [scope.environmentId, invoiceIds]);
  if (lines.length === 0) return;
  const subscriptions = await readSubscriptions(
    sql,
    scope.environmentId,
    drafts.map(({ draft }) => draft.subscription_id as string),
  );
  const byInvoice = Map.groupBy(lines, (line) => line.invoice_id);
  const requests = drafts.flatMap(({ draft }) => {
    const row = subscriptions.get(draft.subscription_id as string);
    const own = byInvoice.get(draft.id)?.[0];
    if (!row || !own) return [];
    const elapsed = periodOf(row, instantText(own.invoice_start), instantText(own.invoice_end));
    return [
      { key: draft.id, subscription: row, reason: 'cycle' as const, elapsed, next: null, ownInvoiceId: draft.id },
    ];
  });
  const charges = await computeCharges(sql, scope, requests, readUsage);
  const changed = drafts.flatMap(({ draft }) =>
    measuredAgain(draft, byInvoice.get(draft.id) ?? [], charges.get(draft.id) ?? []),
  );
  await writeRows(sql, updateMeasured, changed);
}

interface StoredLine {
  id: string;
  invoice_id: string;
  subscription_line_item_id: string;
  period_start: string;
  quantity: string;
  amount: string;
  invoice_start: string;
  invoice_end: string;
  [column: string]: unknown;
}

const storedLinesText = `
select l.id, l.invoice_id, l.subscription_line_item_id, l.period_start, l.quantity, l.amount,
  i.period_start as invoice_start, i.period_end as invoice_end
from invoice_line_item l join invoice i on i.id = l.invoice_id
where l.environment_id = $1 and l.invoice_id = any($2) and l.price_type = 'USAGE' and l.status = 'published'`;

function measuredAgain(
  draft: RefreshableDraft['draft'],
  stored: readonly StoredLine[],
  computed: readonly ChargeLine[],
): object[] {
  const fresh = new Map(
    computed
      .filter((line) => line.priceType === 'USAGE')
      .map((line) => [`${line.subscriptionLineItemId} ${line.periodStart}`, line]),
  );
  return stored.flatMap((line) => {
    const again = fresh.get(`${line.subscription_line_item_id} ${instantText(line.period_start)}`);
    if (!again) return [];
    const inMemory = draft.lines.find((candidate) => candidate.id === line.id);
    if (inMemory) inMemory.amount = again.amount;
    const { quantity, amount, adjustedEntitlementQuantity, derivation } = again;
    const unit = linePriceUnit(derivation);
    return [{ id: line.id, quantity, amount, adjustedEntitlementQuantity, ...unit, derivation }];
  });
}
