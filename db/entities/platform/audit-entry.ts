import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/** Who changed what, in the same transaction as the change; append-only. design: architecture §5, invariant I15 */
const schema = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  properties: {
    id: p.bigint('string').primary().autoincrement(),
    tenantId: p.text(),
    environmentId: p.text(),
    objectType: p.text(),
    objectId: p.text(),
    version: p.integer().nullable(),
    action: p.text(),
    actor: p.text(),
    requestId: p.text().default(''),
    /** When it happened on the object's clock. */
    occurredAt: instant(),
    recordedAt: instant(),
    detail: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
  },
  indexes: [{ properties: ['environmentId', 'objectId', 'id'] }],
});
export class AuditEntry extends schema.class {}
schema.setClass(AuditEntry);
