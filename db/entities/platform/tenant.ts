import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata } from '../../rows/columns.ts';

/** A company that bills with Perennial. `state` decides whether it may write. spec: platform §3.2, §8 */
const schema = defineEntity({
  name: 'Tenant',
  tableName: 'tenant',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    state: p.text().default('active'),
    billingDetails: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
    metadata: metadata(),
    status: p.text().default('published'),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
export class Tenant extends schema.class {}
schema.setClass(Tenant);
