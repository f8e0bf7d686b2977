import { refuseGated } from '../../../billing/invoice/gated-invoice.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';

interface GateRow {
  invoice_status: string;
  source_type: string;
  checkout_session_id: string | null;
  [column: string]: unknown;
}

/**
 * Refuses (invalid_operation) what others do to an invoice that waits for its checkout session, naming the session; an unknown invoice is
 * left to the command. spec: wallets-and-payments §2.18
 */
export async function refuseGatedInvoice(sql: Sql, scope: Scope, invoiceId: string, verb: string): Promise<void> {
  const [row] = await sql.rows<GateRow>(
    'select invoice_status, source_type, checkout_session_id from invoice where environment_id = $1 and id = $2',
    [scope.environmentId, invoiceId],
  );
  if (!row) return;
  refuseGated(
    { invoiceStatus: row.invoice_status, sourceType: row.source_type, checkoutSessionId: row.checkout_session_id },
    verb,
  );
}
