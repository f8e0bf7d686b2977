import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { lockSubscriptions } from '../../charging/subscription-row.ts';
import { type AttendedSubscription, one, readAgendas } from '../../charging/subscription-snapshot.ts';
import { findChange, nothingMade } from '../plan-change/subscription-change.ts';

/** A command of a caller, under the id that its request made. */
export interface IdentifiedCommand {
  subscriptionId: string;
  changeId: string;
  at: string;
}

/**
 * Carries a command out once, whatever happens to the task that asked for it: a repeat finds the record that the first
 * execution wrote in its own transaction, and is answered with the subscription as it is. A refusal leaves no record.
 * Throws `not_found`. design: architecture §3
 */
export async function once(
  sql: Sql,
  scope: Scope,
  command: IdentifiedCommand,
  kind: string,
  change: () => Promise<AttendedSubscription>,
): Promise<AttendedSubscription> {
  const { subscriptionId, changeId, at } = command;
  const row = (await lockSubscriptions(sql, scope.environmentId, [subscriptionId])).get(subscriptionId);
  if (!row) throw missing('subscription', subscriptionId);
  if (await findChange(sql, scope.environmentId, changeId)) {
    return one(await readAgendas(sql, scope.environmentId, [row]));
  }
  const changed = await change();
  await sql.rows(
    `insert into subscription_change (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, subscription_id, kind,
       effective_at, outcome) values ($1, $2, $3, $4, $5, $4, $5, $6, $7, $8, $9)`,
    [
      changeId,
      scope.tenantId,
      scope.environmentId,
      new Date().toISOString(),
      scope.actor,
      subscriptionId,
      kind,
      at,
      JSON.stringify(nothingMade()),
    ],
  );
  return changed;
}
