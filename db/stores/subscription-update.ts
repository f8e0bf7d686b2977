import { writeAudit } from '../audit.ts';
import { writeRows } from '../bulk.ts';
import { writeEvents } from '../outbox.ts';
import { missing } from '../record.ts';
import type { Scope } from '../scope.ts';
import type { Sql } from '../transaction.ts';
import { subscriptionEvent } from './subscription-event.ts';
import { lockSubscriptions, subscriptionRecord, updateSubscriptions } from './subscription-row.ts';
import { type AttendedSubscription, one, readAgendas, refreshAgendas } from './subscription-snapshot.ts';

/** Replaces the metadata map; a map equal to the stored one changes nothing and emits nothing. spec: subscriptions-and-invoicing §1.4 */
export async function updateMetadata(
  sql: Sql,
  scope: Scope,
  input: { subscriptionId: string; at: string; metadata: Record<string, string> },
): Promise<AttendedSubscription> {
  const before = (await lockSubscriptions(sql, scope.environmentId, [input.subscriptionId])).get(input.subscriptionId);
  if (!before) throw missing('subscription', input.subscriptionId);
  if (sameMap(before.metadata, input.metadata)) return one(await readAgendas(sql, scope.environmentId, [before]));
  const row = { ...before, metadata: input.metadata, version: before.version + 1 };
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
  await writeEvents(sql, scope, [subscriptionEvent('subscription.updated', row, input.at)]);
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: row.id,
      action: 'metadata replaced',
      version: row.version,
      occurredAt: input.at,
    },
  ]);
  return one(await refreshAgendas(sql, scope.environmentId, [row]));
}

function sameMap(a: Record<string, string>, b: Record<string, string>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
