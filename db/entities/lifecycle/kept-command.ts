import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * Content of a command on an object that has a workflow, with its amounts and texts, so that the history of the workflow holds the id of
 * this row only. It stays, beside the audit of what was done, and goes with a command that was refused. design: architecture §3 Ids only
 */
const schema = defineEntity({
  name: 'KeptCommand',
  tableName: 'kept_command',
  properties: {
    id: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    objectType: p.text(),
    objectId: p.text(),
    /** Name of the update that carries the command. */
    command: p.text(),
    /** JSON, as text: it is compared with what was previewed, so its order is kept. */
    content: p.text(),
    /** Refusal of the command as JSON, until its caller is told. */
    refusal: p.text().nullable(),
    createdAt: instant(),
    createdBy: p.text().default(''),
  },
  indexes: [{ properties: ['environmentId', 'objectId'] }],
});
export class KeptCommand extends schema.class {}
schema.setClass(KeptCommand);
