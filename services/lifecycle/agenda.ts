import type { AgendaItem } from '../../billing/agenda.ts';
import { anyOf, insertText, writeRows } from '../../db/rows/bulk.ts';
import { workflowScope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { markCustomers } from '../usage-mark.ts';

/** An object whose agenda is written down. */
export interface AgendaOwner {
  tenantId: string;
  environmentId: string;
  objectType: string;
  objectId: string;
  customerId: string;
  testClockId: string | null;
  items: readonly AgendaItem[];
}

const insertEntries = insertText('agenda_entry', {
  tenantId: 'text',
  environmentId: 'text',
  objectType: 'text',
  objectId: 'text',
  kind: 'text',
  ref: 'text',
  dueAt: 'timestamptz',
  customerId: 'text',
  testClockId: 'text',
});

/**
 * Replaces the agendas of some objects of one environment, in the transaction that changed them. The table orders a test
 * clock's advance and tells operators and reconcile what is due; nothing polls it. Whatever changed them may have moved balances too, so
 * their customers are marked. design: architecture §4, money-in §1 The trigger
 */
export async function replaceAgendas(sql: Sql, owners: readonly AgendaOwner[]): Promise<void> {
  if (owners.length === 0) return;
  // Two kinds of object may share an id, as a wallet and its top-ups do.
  for (const [objectType, own] of Map.groupBy(owners, (owner) => owner.objectType)) {
    const ids = own.map((owner) => owner.objectId).sort();
    await sql.send(
      `delete from agenda_entry where environment_id = $1 and object_type = $2 and object_id = ${anyOf('$3')}`,
      [owners[0]?.environmentId, objectType, ids],
      'agenda-delete',
    );
  }
  const entries = owners.flatMap(({ items, ...owner }) =>
    items.map((item) => ({ ...owner, kind: item.kind, ref: item.ref, dueAt: item.at })),
  );
  await writeRows(sql, insertEntries, entries);
  if (sql.end) markMoved(sql, owners);
}

function markMoved(sql: Sql, owners: readonly AgendaOwner[]): void {
  const customerIds = owners.map(({ customerId }) => customerId).filter((id) => id !== '');
  markCustomers(sql, workflowScope(owners[0]!), customerIds);
}
