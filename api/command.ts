import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { refuse } from '../billing/refusal.ts';
import type { Database } from '../db/orm.ts';
import type { Scope } from '../db/scope.ts';
import { inSqlTransaction } from '../db/transaction.ts';
import { dropCommand, keepCommand, readRefusal } from '../services/lifecycle/kept-command.ts';
import type { CommandDefinition } from '../workflows/lifecycle.messages.ts';
import { type LifecycleObject, updateObject } from './lifecycle.ts';

/** Part of a request by which commands are sent. */
export interface Commander {
  server: { dependencies: { database: Database } };
  temporal: Client;
  scope: Scope;
  log: { warn(fields: object, message: string): void };
}

/**
 * Has the workflow of an object carry out a command. `content` is kept as the row `id`, which is all that the history of the workflow
 * tells of it; the row of a command that was refused is dropped. Answers and throws as `updateObject`; a refusal comes by the row as well.
 * design: architecture §3 Ids only
 */
export async function sendCommand<Answer, Content extends object>(
  request: Commander,
  object: LifecycleObject,
  update: CommandDefinition<Answer, Content>,
  { id, content }: { id: string; content: NoInfer<Content> },
  answerWithinMs?: number,
): Promise<Answer> {
  const { database } = request.server.dependencies;
  const kept = { id, objectType: object.kind, objectId: object.id, command: update.name, content };
  await inSqlTransaction(database, request.scope, (tx) => keepCommand(tx, tx.scope, kept));
  try {
    return await updateObject(request, object, update, { commandId: id }, answerWithinMs);
  } catch (error) {
    // A command without an answer may still be carried out, or be under way: its content stays, so that a repeated task finds it.
    throw error instanceof WorkflowUpdateFailedError ? ((await refusalOf(request, id)) ?? error) : error;
  }
}

/** Refusal of a command in its own words, after which nothing is left of it; null where none is kept. */
async function refusalOf(request: Commander, id: string): Promise<ApplicationFailure | null> {
  const { database } = request.server.dependencies;
  try {
    return await inSqlTransaction(database, request.scope, async (tx) => {
      const refusal = await readRefusal(tx, tx.scope, id);
      await dropCommand(tx, tx.scope, id);
      return refusal && refuse(refusal.code, refusal.message, refusal.details);
    });
  } catch (err) {
    request.log.warn({ err, commandId: id }, 'why a command was refused was not read');
    return null;
  }
}
