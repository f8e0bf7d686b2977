import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import type { Reference } from './reference.ts';

/** References of what is written down of every object with a lifecycle: its agenda, where it is parked, its audit. */
export const lifecycleReferences: readonly Reference[] = ['agenda_entry', 'parked_object', 'audit_entry'].flatMap(
  (table) =>
    Object.entries(lifecycleKinds).map(([kind, { entity }]) => ({
      table,
      column: 'object_id',
      target: entity,
      where: `t.object_type = '${kind}'`,
    })),
);
