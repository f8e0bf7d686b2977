import { invoiceConfig } from '../../../billing/invoice/invoice-config.ts';
import type { Sql } from '../../../db/transaction.ts';
import { readInvoiceTerms } from '../terms/invoice-terms.ts';

/**
 * What invoices of an environment need beside their charges: its configuration, and the names of the plans, and the coupons and
 * taxes of the subscriptions.
 */
export async function readBillingContext(
  sql: Sql,
  environmentId: string,
  subscriptions: readonly { id: string; planId: string }[],
) {
  const ids = subscriptions.map(({ id }) => id);
  const plans = sql.rows<{ id: string; name: string; config: Record<string, unknown> | null }>(
    `select p.id, p.name, (select value from setting where environment_id = $1 and key = 'invoice_config' and status = 'published') as config
     from plan p where p.environment_id = $1 and p.id = any($2)`,
    [environmentId, [...new Set(subscriptions.map(({ planId }) => planId))]],
    'billing-context',
  );
  const [rows, terms] = await Promise.all([plans, readInvoiceTerms(sql, environmentId, ids)]);
  return {
    terms,
    config: invoiceConfig(rows[0]?.config ?? null),
    planNames: new Map(rows.map((row) => [row.id, row.name])),
  };
}
