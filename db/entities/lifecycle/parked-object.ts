import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/** An object whose workflow stopped at a failure that a person must look at; `retry` removes it. design: architecture §3 */
const schema = defineEntity({
  name: 'ParkedObject',
  tableName: 'parked_object',
  properties: {
    environmentId: p.text().primary(),
    tenantId: p.text(),
    objectType: p.text().primary(),
    objectId: p.text().primary(),
    step: p.text(),
    reason: p.text(),
    parkedAt: instant(),
  },
});
export class ParkedObject extends schema.class {}
schema.setClass(ParkedObject);
