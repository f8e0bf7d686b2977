import { defineEntity, p } from '@mikro-orm/core';
import { metadata, recordColumns } from '../../rows/columns.ts';

/** Who buys. spec: platform §10.1 */
const schema = defineEntity({
  name: 'Customer',
  tableName: 'customer',
  properties: {
    ...recordColumns,
    /** Short key of the customer in the usage tables. */
    number: p.bigint('string').unique().autoincrement(),
    externalId: p.text(),
    name: p.text(),
    email: p.text().nullable(),
    contact: p.text().nullable(),
    timezone: p.text().default('UTC'),
    addressLine1: p.text().nullable(),
    addressLine2: p.text().nullable(),
    addressCity: p.text().nullable(),
    addressState: p.text().nullable(),
    addressPostalCode: p.text().nullable(),
    addressCountry: p.text().nullable(),
    metadata: metadata(),
    taxTreatment: p.text().default('taxable'),
    parentCustomerId: p.text().nullable(),
    /** The clock whose time is this customer's "now"; null for real time. */
    testClockId: p.text().nullable(),
  },
  uniques: [
    {
      name: 'customer_external_id_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.externalId}) where ${c.status} = 'published'`,
    },
  ],
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['testClockId'] },
    { properties: ['environmentId', 'externalId'] },
  ],
});
export class Customer extends schema.class {}
schema.setClass(Customer);
