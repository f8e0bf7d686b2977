import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * Something time will bring to an object: written by the transaction that changes the object, read by test clocks,
 * operators and reconcile, never polled but for lost signals of top-ups. design: architecture §4
 */
const schema = defineEntity({
  name: 'AgendaEntry',
  tableName: 'agenda_entry',
  properties: {
    environmentId: p.text().primary(),
    tenantId: p.text(),
    objectType: p.text().primary(),
    objectId: p.text().primary(),
    kind: p.text().primary(),
    ref: p.text().primary().default(''),
    dueAt: instant(),
    customerId: p.text(),
    testClockId: p.text().nullable(),
  },
  indexes: [
    { properties: ['testClockId', 'dueAt'] },
    { properties: ['environmentId', 'dueAt'] },
    {
      name: 'agenda_entry_lot_index',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.customerId}) where ${c.objectType} = 'wallet'`,
    },
    {
      name: 'agenda_entry_top_up_index',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.dueAt}) where ${c.objectType} = 'auto_top_up' and ${c.testClockId} is null`,
    },
  ],
});
export class AgendaEntry extends schema.class {}
schema.setClass(AgendaEntry);
