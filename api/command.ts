import { WorkflowUpdateFailedError } from '@temporalio/client';
import type { FastifyRequest } from 'fastify';
import { inSqlTransaction } from '../db/transaction.ts';
import { dropCommand, keepCommand } from '../services/lifecycle/kept-command.ts';
import type { CommandDefinition } from '../workflows/lifecycle.messages.ts';
import { type LifecycleObject, updateObject } from './lifecycle.ts';

/** Part of a request by which commands are sent. */
export type Commander = Pick<FastifyRequest, 'server' | 'temporal' | 'scope' | 'log'>;

/**
 * Has the workflow of an object carry out a command. `content` is kept as the row `id`, which is all that the history of the workflow
 * tells of it; the row of a command that was refused is dropped. Answers and throws as `updateObject`.
 * design: architecture §3 Ids only
 */
export async function sendCommand<Answer, Content extends object>(
  request: Commander,
  object: LifecycleObject,
  update: CommandDefinition<Answer, Content>,
  { id, content }: { id: string; content: NoInfer<Content> },
): Promise<Answer> {
  const { database } = request.server.dependencies;
  const kept = { id, objectType: object.kind, objectId: object.id, command: update.name, content };
  await inSqlTransaction(database, request.scope, (tx) => keepCommand(tx, tx.scope, kept));
  try {
    return await updateObject(request, object, update, { commandId: id });
  } catch (error) {
    // A command without an answer may still be carried out, or be under way: its content stays, so that a repeated task finds it.
    if (error instanceof WorkflowUpdateFailedError) {
      await inSqlTransaction(database, request.scope, (tx) => dropCommand(tx, tx.scope, id)).catch((err: unknown) =>
        request.log.warn({ err, commandId: id }, 'the content of a refused command was not dropped'),
      );
    }
    throw error;
  }
}
