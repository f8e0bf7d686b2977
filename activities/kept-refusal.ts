import { refusalIn, refuse } from '../billing/refusal.ts';
import type { Database } from '../db/orm.ts';
import { workflowScope } from '../db/scope.ts';
import { inSqlTransaction } from '../db/transaction.ts';
import { keepRefusal } from '../services/lifecycle/kept-command.ts';
import type { KeptCommand } from '../workflows/lifecycle.messages.ts';

interface Commanded {
  tenantId: string;
  environmentId: string;
  command: KeptCommand;
}

/**
 * The same activities, each of which carries a command out: why it is refused is kept beside its content, for the caller, and the workflow
 * is told the code. A refusal names amounts, and texts that people chose, which no history holds. design: architecture §3 Ids only
 */
export function keepingRefusals<Activities extends Record<string, (input: never) => Promise<unknown>>>(
  database: Database,
  activities: Activities,
): Activities {
  const kept = Object.entries(activities).map(([name, activity]) => {
    const carryOut = activity as (input: Commanded) => Promise<unknown>;
    return [name, (input: Commanded) => carryOut(input).catch((error) => refuseByCode(database, input, error))];
  });
  return Object.fromEntries(kept) as Activities;
}

async function refuseByCode(database: Database, { command, ...owner }: Commanded, error: unknown): Promise<never> {
  const refusal = refusalIn(error);
  if (!refusal) throw error;
  const { commandId } = command;
  await inSqlTransaction(database, workflowScope(owner), (tx) => keepRefusal(tx, tx.scope, commandId, refusal));
  throw refuse(refusal.code, `the command ${commandId} was refused`);
}
