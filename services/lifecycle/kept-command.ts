import type { RefusalCode, RefusalDetails } from '../../billing/refusal.ts';
import { missing } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/** A command on an object that has a workflow: `id` is all that the workflow is told of it. */
export interface KeptContent {
  /** Made by the request: the same request makes the same id. */
  id: string;
  objectType: string;
  objectId: string;
  /** Name of the update that carries the command. */
  command: string;
  content: object;
}

/**
 * Keeps the content of a command before the command is sent. The same request, which makes the same id, is kept once, and is open again.
 * design: architecture §3 Ids only
 */
export async function keepCommand(sql: Sql, scope: Scope, kept: KeptContent): Promise<void> {
  await sql.send(
    `insert into kept_command (id, tenant_id, environment_id, object_type, object_id, command, content, created_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (id) do update set refusal = null`,
    [
      kept.id,
      scope.tenantId,
      scope.environmentId,
      kept.objectType,
      kept.objectId,
      kept.command,
      JSON.stringify(kept.content),
      new Date().toISOString(),
      scope.actor,
    ],
    'kept-command-insert',
  );
}

/** Content of the command `id` of the update `command`, in the order in which it was kept. Throws `not_found`. */
export async function readCommand<Content extends object>(
  sql: Sql,
  scope: Scope,
  { id, command }: { id: string; command: string },
): Promise<Content> {
  const [row] = await sql.rows<{ content: string }>(
    'select content from kept_command where environment_id = $1 and id = $2 and command = $3',
    [scope.environmentId, id, command],
    'kept-command',
  );
  if (!row) throw missing('command', id);
  return JSON.parse(row.content) as Content;
}

/** Reason for which a command was refused, as its caller is told it. */
export interface KeptRefusal {
  code: RefusalCode;
  message: string;
  details?: RefusalDetails | undefined;
}

/** Writes down why a command was refused, for its caller: a history is told the code only. Said again it is the same. */
export async function keepRefusal(sql: Sql, scope: Scope, id: string, refusal: KeptRefusal): Promise<void> {
  await sql.send('update kept_command set refusal = $3 where environment_id = $1 and id = $2', [
    scope.environmentId,
    id,
    JSON.stringify(refusal),
  ]);
}

/** Reason for which a command was refused; null where it was not, or where nothing is kept of it. */
export async function readRefusal(sql: Sql, scope: Scope, id: string): Promise<KeptRefusal | null> {
  const [row] = await sql.rows<{ refusal: string | null }>(
    'select refusal from kept_command where environment_id = $1 and id = $2',
    [scope.environmentId, id],
  );
  return row?.refusal ? (JSON.parse(row.refusal) as KeptRefusal) : null;
}

/** Forgets a command that was refused: it leaves nothing. */
export async function dropCommand(sql: Sql, scope: Scope, id: string): Promise<void> {
  await sql.send('delete from kept_command where environment_id = $1 and id = $2', [scope.environmentId, id]);
}
