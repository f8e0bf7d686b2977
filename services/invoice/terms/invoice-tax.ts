import type { InvoiceAmounts } from '../../../billing/invoice/invoice.ts';
import type { TaxRateSnapshot } from '../../../billing/invoice/own-terms.ts';
import { taxesInForce } from '../../../billing/invoice/tax.ts';
import { newId } from '../../../db/id.ts';
import { type Columns, insertText, recordColumnTypes, writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type LinkedTax, type TaxLinkRow, taxLinkOf, taxLinksText } from '../../customer/linked-tax.ts';

/** What decides about the taxes of a subscription's invoices, whatever their period. */
export interface SubscriptionTaxes {
  /** The invoiced customer pays none. */
  exempt: boolean;
  links: LinkedTax[];
}

/** The taxes of one invoice, as the pipeline takes them and as their rows will name them. */
export interface InvoiceTaxes {
  exempt: boolean;
  links: readonly {
    /** Null for a rate that the invoice itself was given. */
    associationId: string | null;
    rateId: string;
    percentage: string;
    taxBehavior: 'inclusive' | 'exclusive';
    rate: TaxRateSnapshot;
  }[];
}

interface TaxesRow {
  id: string;
  exempt: boolean;
  links: TaxLinkRow[];
  [column: string]: unknown;
}

const taxesText = `
select s.id, c.tax_treatment = 'exempt' as exempt, ${taxLinksText('subscription', 's.id')} as links
from subscription s join customer c on c.id = s.invoicing_customer_id
where s.environment_id = $1 and s.id = any($2)`;

/** The tax links of subscriptions with their rates, and whether the invoiced customer is exempt; by subscription id. */
export async function readSubscriptionTaxes(
  sql: Sql,
  environmentId: string,
  subscriptionIds: readonly string[],
): Promise<Map<string, SubscriptionTaxes>> {
  if (subscriptionIds.length === 0) return new Map();
  const rows = await sql.rows<TaxesRow>(
    taxesText,
    [environmentId, [...new Set(subscriptionIds)]],
    'subscription-taxes',
  );
  return new Map(rows.map((row) => [row.id, { exempt: row.exempt, links: row.links.map(taxLinkOf) }]));
}

/** The taxes of one invoice of a subscription, in order of application; without a subscription there are none. */
export function taxesOfInvoice(
  taxes: SubscriptionTaxes | undefined,
  invoice: { currency: string; periodEnd: string | null },
): InvoiceTaxes {
  if (!taxes || invoice.periodEnd === null) return { exempt: taxes?.exempt ?? false, links: [] };
  return {
    exempt: taxes.exempt,
    links: taxesInForce(taxes.links, { currency: invoice.currency, periodEnd: invoice.periodEnd }),
  };
}

/** The members of the pipeline's input that are about taxes. */
export function taxInput({ exempt, links }: InvoiceTaxes) {
  return {
    taxExempt: exempt,
    taxes: links.map(({ rateId, percentage, taxBehavior }) => ({ id: rateId, percentage, taxBehavior })),
  };
}

const appliedColumns: Columns = {
  ...recordColumnTypes,
  entityType: 'text',
  entityId: 'text',
  taxRateId: 'text',
  taxAssociationId: 'text',
  taxBehavior: 'text',
  position: 'int',
  currency: 'text',
  taxableAmount: 'numeric',
  taxAmount: 'numeric',
  appliedAt: 'timestamptz',
  taxRate: 'jsonb',
  idempotencyKey: 'text',
  metadata: 'jsonb',
};
const upsertApplied = insertText(
  'tax_applied',
  appliedColumns,
  `on conflict (environment_id, idempotency_key) do update set tax_association_id = excluded.tax_association_id,
     tax_behavior = excluded.tax_behavior, position = excluded.position, taxable_amount = excluded.taxable_amount,
     tax_amount = excluded.tax_amount, applied_at = excluded.applied_at, tax_rate = excluded.tax_rate, status = 'published',
     updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
);

/** The rows of what taxes came to on an invoice, in order. spec: subscriptions-and-invoicing §2.18.3 */
export function appliedTaxes(
  scope: Scope,
  invoice: { id: string; currency: string; at: string },
  amounts: InvoiceAmounts,
  { links }: InvoiceTaxes,
): Record<string, unknown>[] {
  const now = new Date().toISOString();
  return amounts.taxes.map((tax, position) => {
    const link = links.find((candidate) => candidate.rateId === tax.taxRateId)!;
    return {
      id: newId('taxapp'),
      tenantId: scope.tenantId,
      environmentId: scope.environmentId,
      createdAt: now,
      createdBy: scope.actor,
      updatedAt: now,
      updatedBy: scope.actor,
      entityType: 'invoice',
      entityId: invoice.id,
      taxRateId: tax.taxRateId,
      taxAssociationId: link.associationId,
      taxBehavior: tax.taxBehavior,
      position,
      currency: invoice.currency,
      taxableAmount: tax.taxableAmount,
      taxAmount: tax.taxAmount,
      appliedAt: invoice.at,
      taxRate: link.rate,
      idempotencyKey: `${invoice.id}/${tax.taxRateId}`,
      metadata: {},
    };
  });
}

/** Writes tax rows; a rate that is on the invoice already gets its new amount. One statement for any number of rows. */
export async function writeAppliedTaxes(sql: Sql, rows: readonly object[]): Promise<void> {
  await writeRows(sql, upsertApplied, rows);
}

/** Takes away the rows of rates that invoices are not charged any more. Drafts only: the caller holds their locks. */
export async function removeOtherTaxes(
  sql: Sql,
  environmentId: string,
  invoiceIds: readonly string[],
  rows: readonly { [member: string]: unknown }[],
): Promise<void> {
  if (invoiceIds.length === 0) return;
  await sql.rows(
    'delete from tax_applied where environment_id = $1 and entity_id = any($2) and idempotency_key <> all($3)',
    [environmentId, invoiceIds, rows.map((row) => row.idempotencyKey)],
  );
}
