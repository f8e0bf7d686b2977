import { draftPayment } from '../../../billing/invoice/invoice-payment.ts';
import type { Derivation } from '../../../billing/price/derivation.ts';
import { linePriceUnit, priceUnitTotals } from '../../../billing/price/price-unit.ts';
import { type Columns, updateText, writeRows } from '../../../db/rows/bulk.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { amountsOfDraft, lockDrafts, termsOfDrafts, writeDraftAmounts } from '../draft/invoice-amounts.ts';
import { totalsOf } from '../draft/invoice-draft.ts';
import { amountColumns } from '../read/invoice-columns.ts';

const recomputedColumns: Columns = {
  id: 'text',
  ...amountColumns,
  noTaxReason: 'text',
  overpaidAmount: 'numeric',
  paymentStatus: 'text',
  paidAt: 'timestamptz',
  priceUnitTotals: 'jsonb',
  lastComputedAt: 'timestamptz',
  isManuallyEdited: 'boolean',
  updatedAt: 'timestamptz',
  updatedBy: 'text',
};
const updateRecomputed = updateText('invoice', recomputedColumns, 'version = r.version + 1');

/**
 * Computes the amounts of a draft again from the lines it has: discounts from the coupons now standing, their shares, taxes and
 * totals. Done twice it changes nothing. spec: subscriptions-and-invoicing §2.15.8, §2.16
 */
export async function recomputeDraft(
  sql: Sql,
  scope: Scope,
  { invoiceId, at, isManuallyEdited }: { invoiceId: string; at: string; isManuallyEdited: boolean },
): Promise<void> {
  const drafts = await lockDrafts(sql, scope, [invoiceId]);
  const draft = drafts[0]!;
  const terms = await termsOfDrafts(sql, scope, drafts);
  const { amounts, applied } = amountsOfDraft(draft, at, scope, terms.get(invoiceId));
  await writeDraftAmounts(sql, scope, [{ draft, lineAmounts: amounts.lines, applied }]);
  const paid = { amountPaid: decimalText(draft.amount_paid), paymentStatus: draft.payment_status };
  const payment = draftPayment(paid, amounts.amountDue);
  const row = {
    id: invoiceId,
    ...totalsOf(amounts),
    ...payment,
    paidAt: ['SUCCEEDED', 'OVERPAID'].includes(payment.paymentStatus) ? at : null,
    priceUnitTotals: await unitTotals(sql, scope, invoiceId),
    lastComputedAt: at,
    isManuallyEdited: isManuallyEdited || draft.is_manually_edited,
    updatedAt: new Date().toISOString(),
    updatedBy: scope.actor,
  };
  await writeRows(sql, updateRecomputed, [row]);
}

/** What the lines come to in custom currencies. */
async function unitTotals(sql: Sql, scope: Scope, invoiceId: string): Promise<unknown> {
  const rows = await sql.rows<{ derivation: Derivation }>(
    `select derivation from invoice_line_item where environment_id = $1 and invoice_id = $2 and status = 'published'
       and price_unit_id is not null and derivation is not null order by position`,
    [scope.environmentId, invoiceId],
  );
  return priceUnitTotals(rows.map(({ derivation }) => linePriceUnit(derivation))) ?? undefined;
}
