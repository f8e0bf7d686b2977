import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, recordColumns } from '../../rows/columns.ts';
import type { SyncConfig } from './sync-config.ts';

/** A connection to a provider. Its secrets are sealed; the three columns are null where it has none. spec: platform §13 */
const schema = defineEntity({
  name: 'Connection',
  tableName: 'connection',
  properties: {
    ...recordColumns,
    name: p.text(),
    providerType: p.text(),
    metadata: metadata(),
    syncConfig: p.json<SyncConfig>(),
    /** The account at the provider that the secrets are of; null where it does not say. */
    providerAccount: p.text().nullable(),
    /** When the events of the provider were last asked for, and up to when they are read. */
    eventsAskedAt: instant().nullable(),
    eventsReadUntil: instant().nullable(),
    /** Why they could not be read, or what they show to be wrong; null where nothing is. */
    eventsProblem: p.text().nullable(),
    secretKeyId: p.text().nullable(),
    secretNonce: p.blob().nullable(),
    secretCiphertext: p.blob().nullable(),
  },
  uniques: [
    {
      name: 'connection_provider_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.providerType}) where ${c.status} = 'published' and ${c.providerType} <> 's3'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class Connection extends schema.class {}
schema.setClass(Connection);
