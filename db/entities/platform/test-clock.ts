import { defineEntity, p } from '@mikro-orm/core';
import { instant, recordColumns } from '../../rows/columns.ts';

/** A time of its own for some customers. `targetTime` is set while it advances. design: architecture §4 */
const schema = defineEntity({
  name: 'TestClock',
  tableName: 'test_clock',
  properties: {
    ...recordColumns,
    name: p.text().default(''),
    frozenTime: instant(),
    targetTime: instant().nullable(),
    advanceStartedAt: instant().nullable(),
  },
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class TestClock extends schema.class {}
schema.setClass(TestClock);
