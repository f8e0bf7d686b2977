import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** A period of a grant and what became of it. spec: wallets-and-payments §1.2 Application object, §2.15 */
const schema = defineEntity({
  name: 'CreditGrantApplication',
  tableName: 'credit_grant_application',
  properties: {
    ...recordColumns,
    creditGrantId: p.text(),
    subscriptionId: p.text(),
    scheduledFor: instant(),
    appliedAt: instant().nullable(),
    periodStart: instant(),
    periodEnd: instant().nullable(),
    applicationStatus: p.text(),
    applicationReason: p.text(),
    subscriptionStatusAtApplication: p.text().nullable(),
    credits: numeric(),
    retryCount: p.integer().default(0),
    failureReason: p.text().nullable(),
    idempotencyKey: p.text(),
    metadata: metadata(),
  },
  uniques: [{ name: 'credit_grant_application_key_unique', properties: ['environmentId', 'idempotencyKey'] }],
  indexes: [{ properties: ['environmentId', 'subscriptionId'] }, { properties: ['environmentId', 'creditGrantId'] }],
});
export class CreditGrantApplication extends schema.class {}
schema.setClass(CreditGrantApplication);
