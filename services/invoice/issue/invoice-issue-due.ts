import { invoiceConfig } from '../../../billing/invoice/invoice-config.ts';
import { instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { type IssueRequest, issueInvoices } from './invoice-issue.ts';

interface WaitingRow {
  id: string;
  last_computed_at: string;
  config: Record<string, unknown> | null;
  [column: string]: unknown;
}

/**
 * Issues those drafts whose window is over. One that was computed again or edited by hand after its timer was set is left:
 * it has another entry on the agenda, or waits for a person. spec: subscriptions-and-invoicing §2.15.2, §2.15.4
 */
export async function issueDueInvoices(
  sql: Sql,
  scope: Scope,
  requests: readonly IssueRequest[],
  readUsage: UsageReader,
): Promise<void> {
  const rows = await sql.rows<WaitingRow>(
    `select id, last_computed_at, (select value from setting where environment_id = $1 and key = 'invoice_config'
       and status = 'published') as config
     from invoice where environment_id = $1 and id = any($2) and invoice_status = 'DRAFT' and not is_manually_edited
     order by id for update`,
    [scope.environmentId, requests.map(({ invoiceId }) => invoiceId)],
    'invoices-waiting',
  );
  const delayMs = invoiceConfig(rows[0]?.config ?? null).finalizationDelaySeconds * 1000;
  const dueAt = new Map(rows.map((row) => [row.id, Date.parse(instantText(row.last_computed_at)) + delayMs]));
  const due = requests.filter(
    ({ invoiceId, at }) => (dueAt.get(invoiceId) ?? Number.POSITIVE_INFINITY) <= Date.parse(at),
  );
  await issueInvoices(sql, scope, due, readUsage);
}
