import { newId } from '../../../db/id.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';

/** Keeps what is asked of an invoice and returns the id its command carries. design: architecture §3 Ids only */
export async function keepInvoiceCommand(sql: Sql, scope: Scope, invoiceId: string, content: object): Promise<string> {
  const id = newId('inv_cmd');
  await sql.rows(
    `insert into invoice_command (id, tenant_id, environment_id, invoice_id, created_at, created_by, content)
     values ($1, $2, $3, $4, $5, $6, $7::jsonb)`,
    [
      id,
      scope.tenantId,
      scope.environmentId,
      invoiceId,
      new Date().toISOString(),
      scope.actor,
      JSON.stringify(content),
    ],
  );
  return id;
}

/** What a command asks for; its shape is that which was kept. Throws `not_found`. */
export async function readInvoiceCommand<Content extends object>(sql: Sql, scope: Scope, id: string): Promise<Content> {
  const [row] = await sql.rows<{ content: Content }>(
    'select content from invoice_command where environment_id = $1 and id = $2',
    [scope.environmentId, id],
  );
  if (!row) throw missing('command', id);
  return row.content;
}
