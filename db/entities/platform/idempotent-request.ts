import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/** The answer already given to an `Idempotency-Key`. design: architecture §5 */
const schema = defineEntity({
  name: 'IdempotentRequest',
  tableName: 'idempotent_request',
  properties: {
    environmentId: p.text().primary(),
    key: p.text().primary(),
    requestHash: p.text(),
    statusCode: p.integer(),
    body: p.text(),
    createdAt: instant(),
  },
});
export class IdempotentRequest extends schema.class {}
schema.setClass(IdempotentRequest);
