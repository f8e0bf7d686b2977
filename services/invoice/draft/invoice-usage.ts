import type { ChargeLine } from '../../../billing/line/charge.ts';
import { linePriceUnit } from '../../../billing/price/price-unit.ts';
import { newId } from '../../../db/id.ts';
import { type Columns, updateText, writeRows } from '../../../db/rows/bulk.ts';
import { instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type BilledLine, computeCharges } from '../../charging/subscription-charge.ts';
import { periodOf } from '../../charging/subscription-period.ts';
import { readSubscriptions, type SubscriptionRow } from '../../charging/subscription-row.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { insertLines, lineRecord, priceUnitColumns } from '../read/invoice-line.ts';
import { childIdsOf, mergedLine } from './subscription-group.ts';

/** A draft whose lines are in memory beside its row. */
export interface RefreshableDraft {
  draft: {
    id: string;
    subscription_id: string | null;
    billing_reason: string;
    lines: {
      id: string;
      amount: string;
      priceType: 'FIXED' | 'USAGE' | null;
      priceId: string | null;
      subscriptionLineItemId: string | null;
      priceUnitId: string | null;
      subscriptionId?: string | null;
    }[];
  };
}

const measuredColumns: Columns = {
  id: 'text',
  quantity: 'numeric',
  amount: 'numeric',
  adjustedEntitlementQuantity: 'numeric',
  ...priceUnitColumns,
  commitmentInfo: 'jsonb',
  derivation: 'jsonb',
};
const updateMeasured = updateText('invoice_line_item', measuredColumns);

/**
 * Measures the usage lines of cycle drafts again for the period each invoice stores, so that events which arrived during the
 * draft window are billed; fixed lines stay as they were computed. What a commitment makes of the usage follows: overage and
 * true-up lines come and go. spec: subscriptions-and-invoicing §2.15.2, §2.7.1
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
  const lines = await sql.rows<StoredLine>(storedLinesText, [scope.environmentId, invoiceIds], 'stored-usage-lines');
  if (lines.length === 0) return;
  const byInvoice = Map.groupBy(lines, (line) => line.invoice_id);
  // The subscription of the invoice, and those that are invoiced with it.
  const billedIds = (draft: RefreshableDraft['draft']): string[] => [
    draft.subscription_id as string,
    ...childIdsOf(draft),
  ];
  const subscriptions = await readSubscriptions(
    sql,
    scope.environmentId,
    drafts.flatMap(({ draft }) => billedIds(draft)),
  );
  const requests = drafts.flatMap(({ draft }) => {
    const stored = byInvoice.get(draft.id)?.[0];
    if (!stored) return [];
    return billedIds(draft).flatMap((id) => {
      const row = subscriptions.get(id);
      if (!row) return [];
      const elapsed = periodOf(row, instantText(stored.invoice_start), instantText(stored.invoice_end));
      const asked = { subscription: row, reason: 'cycle' as const, elapsed, next: null };
      return [{ key: `${draft.id} ${id}`, ...asked, ownInvoiceId: draft.id }];
    });
  });
  const charges = await computeCharges(sql, scope, requests, readUsage);
  const remeasured = drafts.map(({ draft }) =>
    measuredAgain(
      draft,
      byInvoice.get(draft.id) ?? [],
      billedIds(draft).flatMap((id) => charges.get(`${draft.id} ${id}`) ?? []),
    ),
  );
  await writeRows(
    sql,
    updateMeasured,
    remeasured.flatMap(({ changed }) => changed),
  );
  await removeLines(
    sql,
    scope,
    remeasured.flatMap(({ removed }) => removed),
  );
  const added = remeasured.flatMap((one, index) => addedRows(scope, drafts[index]!.draft, one, subscriptions));
  if (added.length > 0) await insertLines(sql, added);
}

interface StoredLine {
  id: string;
  invoice_id: string;
  subscription_id: string;
  subscription_line_item_id: string | null;
  plan_display_name: string | null;
  position: number;
  period_start: string;
  role: Role;
  invoice_start: string;
  invoice_end: string;
  [column: string]: unknown;
}

/** A line of a charge by itself, what is above a commitment, or what is missing of it. */
type Role = 'charge' | 'overage' | 'true_up';

const storedLinesText = `
select l.id, l.invoice_id, l.subscription_id, l.subscription_line_item_id, l.plan_display_name, l.position, l.period_start,
  case when l.metadata ->> 'is_overage' = 'true' then 'overage' when l.metadata ->> 'is_commitment_trueup' = 'true' then 'true_up'
    else 'charge' end as role,
  i.period_start as invoice_start, i.period_end as invoice_end
from invoice_line_item l join invoice i on i.id = l.invoice_id
where l.environment_id = $1 and l.invoice_id = any($2) and l.status = 'published'
  and (l.price_type = 'USAGE' or l.metadata ->> 'is_commitment_trueup' = 'true') order by l.position`;

/** What measuring again makes of the lines of one draft. */
interface Remeasured {
  changed: object[];
  removed: string[];
  added: BilledLine[];
  stored: readonly StoredLine[];
}

function measuredAgain(
  draft: RefreshableDraft['draft'],
  stored: readonly StoredLine[],
  computed: readonly BilledLine[],
): Remeasured {
  const usage = computed.filter((line) => line.priceType === 'USAGE' || roleOf(line) === 'true_up');
  const fresh = new Map(usage.map((line) => [`${chargeOf(line)} ${roleOf(line)}`, line]));
  const charges = new Set(usage.map(chargeOf));
  const changed: object[] = [];
  const removed: string[] = [];
  for (const line of stored) {
    const charge = `${line.subscription_line_item_id} ${instantText(line.period_start)}`;
    const again = fresh.get(`${charge} ${line.role}`);
    fresh.delete(`${charge} ${line.role}`);
    if (again) changed.push(rewritten(draft, line, again));
    else if (line.role !== 'charge' || charges.has(charge)) removed.push(line.id);
  }
  const known = new Set(stored.map((line) => `${line.subscription_line_item_id} ${instantText(line.period_start)}`));
  // A charge that the draft never had stays off it: it is billed elsewhere.
  const added = [...fresh.values()].filter((line) => roleOf(line) === 'true_up' || known.has(chargeOf(line)));
  draft.lines = draft.lines.filter(({ id }) => !removed.includes(id));
  return { changed, removed, added, stored };
}

function chargeOf(line: ChargeLine): string {
  return `${line.subscriptionLineItemId} ${line.periodStart}`;
}

function roleOf({ metadata }: ChargeLine): Role {
  if (metadata.is_overage === 'true') return 'overage';
  return metadata.is_commitment_trueup === 'true' ? 'true_up' : 'charge';
}

function rewritten(draft: RefreshableDraft['draft'], line: StoredLine, again: ChargeLine): object {
  const inMemory = draft.lines.find((candidate) => candidate.id === line.id);
  if (inMemory) inMemory.amount = again.amount;
  const { quantity, amount, adjustedEntitlementQuantity, commitmentInfo, derivation } = again;
  const unit = linePriceUnit(derivation);
  return { id: line.id, quantity, amount, adjustedEntitlementQuantity, ...unit, commitmentInfo, derivation };
}

async function removeLines(sql: Sql, scope: Scope, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql.rows('delete from invoice_line_item where environment_id = $1 and id = any($2)', [
    scope.environmentId,
    ids,
  ]);
}

/** The rows of new lines, which stand with the charge they belong to: a line shares the position of the one it follows. */
function addedRows(
  scope: Scope,
  draft: RefreshableDraft['draft'],
  { added, stored }: Remeasured,
  subscriptions: ReadonlyMap<string, SubscriptionRow>,
): object[] {
  const own = subscriptions.get(draft.subscription_id ?? '');
  if (!own) return [];
  return added.map((added) => {
    const near = stored.find((other) => other.subscription_line_item_id === added.subscriptionLineItemId);
    const child = near && near.subscription_id !== own.id ? subscriptions.get(near.subscription_id) : undefined;
    const line = child ? mergedLine(child, near?.plan_display_name ?? '', added) : added;
    const position = near?.position ?? draft.lines.length;
    const id = newId('inv_line');
    const priceUnitId = linePriceUnit(line.derivation)?.priceUnitId ?? null;
    draft.lines.push({ ...line, id, priceUnitId, subscriptionId: (child ?? own).id });
    const planName = stored[0]?.plan_display_name ?? '';
    const zeros = { lineItemDiscount: '0', invoiceLevelDiscount: '0', prepaidCreditsApplied: '0' };
    return { ...lineRecord(scope, { invoiceId: draft.id, subscription: own, planName, position }, line), id, ...zeros };
  });
}
