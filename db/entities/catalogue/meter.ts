import { defineEntity, p } from '@mikro-orm/core';
import { recordColumns } from '../../rows/columns.ts';

export interface MeterAggregation {
  type: string;
  field: string | null;
  expression: string | null;
  multiplier: string | null;
  bucket_size: string | null;
  group_by: string | null;
}
export interface MeterFilter {
  key: string;
  values: string[];
}

/** How events become a quantity. `number` and `version` are its keys in the usage tables. spec: catalogue-and-metering §5.2 */
const schema = defineEntity({
  name: 'Meter',
  tableName: 'meter',
  properties: {
    ...recordColumns,
    number: p.integer().unique().autoincrement(),
    version: p.integer().default(1),
    name: p.text(),
    eventName: p.text(),
    aggregation: p.json<MeterAggregation>(),
    /** The steps of `aggregation.expression`, written when metering begins (metering/begin-metering.ts). */
    expressionProgram: p.json<string[]>().nullable(),
    filters: p.json<MeterFilter[]>().defaultRaw(`'[]'`),
    resetUsage: p.text(),
    /** The meter of another environment that this one was copied from with a feature or a plan. spec: platform §9 */
    sourceEnvironmentMeterId: p.text().nullable(),
  },
  indexes: [{ properties: ['environmentId', 'eventName'] }, { properties: ['environmentId', 'createdAt', 'id'] }],
});
export class Meter extends schema.class {}
schema.setClass(Meter);
