import type { ScopedSql } from '../db/transaction.ts';
import { readCommand } from '../services/lifecycle/kept-command.ts';
import type { CommandDefinition, KeptCommand } from '../workflows/lifecycle.messages.ts';

/** Content of a command as the API kept it for `update`. Throws `not_found` for one that was refused meanwhile. */
export function contentOf<Content extends object>(
  tx: ScopedSql,
  update: CommandDefinition<unknown, Content>,
  { commandId }: Pick<KeptCommand, 'commandId'>,
): Promise<Content> {
  return readCommand<Content>(tx, tx.scope, { id: commandId, command: update.name });
}
