import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';

/**
 * Keeps what is asked of a subscription under the id its command carries. The same request, which makes the same id, is kept
 * once. design: architecture §3 Ids only
 */
export async function keepSubscriptionCommand(
  sql: Sql,
  scope: Scope,
  { id, subscriptionId, content }: { id: string; subscriptionId: string; content: object },
): Promise<void> {
  await sql.send(
    `insert into subscription_command (id, tenant_id, environment_id, subscription_id, created_at, created_by, content)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing`,
    [
      id,
      scope.tenantId,
      scope.environmentId,
      subscriptionId,
      new Date().toISOString(),
      scope.actor,
      JSON.stringify(content),
    ],
    'subscription-command-keep',
  );
}

/** What a command asks for; its shape is that which was kept. Throws `not_found`. */
export async function readSubscriptionCommand<Content extends object>(
  sql: Sql,
  scope: Scope,
  id: string,
): Promise<Content> {
  const [row] = await sql.rows<{ content: string }>(
    'select content from subscription_command where environment_id = $1 and id = $2',
    [scope.environmentId, id],
    'subscription-command',
  );
  if (!row) throw missing('command', id);
  return JSON.parse(row.content) as Content;
}

/** Forgets what was asked by a command that was refused or did not arrive: it leaves nothing. */
export async function dropSubscriptionCommand(sql: Sql, scope: Scope, id: string): Promise<void> {
  await sql.send('delete from subscription_command where environment_id = $1 and id = $2', [scope.environmentId, id]);
}
