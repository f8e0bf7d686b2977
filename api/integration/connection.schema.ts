import { z } from 'zod';
import type { Connection } from '../../db/entities/integration/connection.ts';
import type { SyncConfig } from '../../db/entities/integration/sync-config.ts';
import type { ListPage } from '../../db/list.ts';
import { badField } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import { providerNamed, providerNames } from '../../integrations/providers.ts';
import type { DecideChange, NewConnection } from '../../services/integration/connection.ts';
import { syncConfig } from '../../services/integration/connection-config.ts';
import type { ConnectionSecrets } from '../../services/integration/connection-secret.ts';
import { listQuery, searchBody } from '../list.ts';
import {
  idListInput,
  idListQuery,
  metadataInput,
  metadataOutput,
  recordOutput,
  timestampOutput,
  viewRecord,
  wholeSeconds,
} from '../scalars.schema.ts';
import { changedSecrets, readSecrets, secretsInput } from './connection-secret.schema.ts';
import { readSyncConfig, syncConfigInput, syncConfigOutput, viewSyncConfig } from './sync-config.schema.ts';

const name = z.string().trim().min(1, 'must not be empty').max(255);
export const providerType = z.enum(providerNames);
const secretsNote =
  'What the provider is called with, flat or under the name of the provider. Kept encrypted; no answer ever shows it.';

export const createConnectionBody = z
  .object({
    name,
    provider_type: providerType,
    encrypted_secret_data: secretsInput().nullish().describe(secretsNote),
    metadata: metadataInput().nullish(),
    sync_config: syncConfigInput,
  })
  .meta({
    examples: [
      {
        name: 'Stripe',
        provider_type: 'stripe',
        encrypted_secret_data: { publishable_key: 'pk_test_…', secret_key: 'sk_test_…', webhook_secret: 'whsec_…' },
        sync_config: { customer: { inbound: false, outbound: true }, invoice: { outbound: true } },
      },
    ],
  });

export const updateConnectionBody = z
  .object({
    name: name.nullish(),
    encrypted_secret_data: secretsInput()
      .nullish()
      .describe(
        `${secretsNote} Where only members that verify webhooks are sent, the others stay; else all are replaced.`,
      ),
    metadata: metadataInput().nullish(),
    sync_config: syncConfigInput.describe('Replaces the former one as a whole; null switches everything off.'),
  })
  .meta({ examples: [{ encrypted_secret_data: { webhook_secret: 'whsec_…' } }] });

export const connectionListQuery = listQuery({
  connection_ids: idListQuery().optional(),
  provider_type: providerType.optional(),
});
export const connectionSearch = searchBody({
  connection_ids: idListInput().nullish(),
  provider_type: providerType.nullish(),
});

/** Own: how the provider answered when it was last asked for its events. design: money-in-checkout §A13 */
const health = z
  .object({
    status: z.enum(['healthy', 'unhealthy', 'unknown']),
    checked_at: timestampOutput().nullable(),
    problem: z.string().nullable(),
  })
  .meta({ id: 'ConnectionHealth' });

/** Never with secrets, not even masked ones. spec: platform §13 */
export const connection = z
  .object({
    ...recordOutput,
    name: z.string(),
    provider_type: providerType,
    metadata: metadataOutput(),
    sync_config: syncConfigOutput,
    health,
  })
  .meta({ id: 'Connection' });

/** A flat list. spec: platform §1.5 */
export const connectionList = z
  .object({ connections: z.array(connection), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'ListConnectionsResponse' });

export const integrationConfig = z
  .object({
    integrations: z.array(
      z.object({ provider: z.string(), base_config: syncConfigOutput, current_config: syncConfigOutput }),
    ),
  })
  .meta({ id: 'IntegrationConfigResponse' });

/**
 * A new connection as it was sent; `field` is where its secrets were. Throws `validation_error` for its secrets and its
 * configuration. spec: platform §13
 */
export function newConnection(
  body: z.output<typeof createConnectionBody>,
  scope: Scope,
  field = 'encrypted_secret_data',
): NewConnection {
  const { name, provider_type: provider, encrypted_secret_data, metadata, sync_config } = body;
  const config = readSyncConfig(provider, sync_config, scope);
  return {
    name,
    providerType: provider,
    secrets: isManaged(provider, config) ? null : readSecrets(provider, encrypted_secret_data, field),
    metadata: metadata ?? {},
    syncConfig: config,
  };
}

/** What an update changes, told what is there. spec: platform §13 PUT */
export function connectionChange(body: z.output<typeof updateConnectionBody>, scope: Scope): DecideChange {
  const { name, encrypted_secret_data: data, metadata, sync_config } = body;
  return (current) => {
    const provider = current.providerType;
    const config = sync_config === undefined ? undefined : readSyncConfig(provider, sync_config, scope);
    return {
      ...(name ? { name } : {}),
      ...(metadata ? { metadata } : {}),
      ...(config ? { syncConfig: config } : {}),
      ...secretsAfter(current, data, config),
    };
  };
}

function secretsAfter(
  current: Parameters<DecideChange>[0],
  data: Record<string, unknown> | null | undefined,
  config: SyncConfig | undefined,
): { secrets?: ConnectionSecrets | null } {
  const provider = current.providerType;
  if (isManaged(provider, config ?? current.syncConfig)) return current.hasSecrets ? { secrets: null } : {};
  if (data) return { secrets: changedSecrets(provider, data, () => current.secrets()) };
  if (current.hasSecrets) return {};
  throw badField('encrypted_secret_data', 'is required when the bucket is not platform managed any more');
}

/** The platform's own bucket is written to with the platform's own credentials. */
function isManaged(provider: string, config: SyncConfig): boolean {
  return provider === 's3' && (config.s3?.is_platform_managed ?? false);
}

export function viewConnection(row: Connection): z.output<typeof connection> {
  const record = viewRecord(row);
  return {
    ...record,
    created_at: wholeSeconds(record.created_at),
    updated_at: wholeSeconds(record.updated_at),
    name: row.name,
    provider_type: row.providerType,
    metadata: row.metadata,
    sync_config: viewSyncConfig(row.syncConfig),
    health: viewHealth(row),
  };
}

function viewHealth({ eventsAskedAt, eventsProblem }: Connection): z.output<typeof health> {
  const problem = eventsProblem ?? null;
  if (!eventsAskedAt) return { status: 'unknown', checked_at: null, problem: null };
  return { status: problem === null ? 'healthy' : 'unhealthy', checked_at: eventsAskedAt, problem };
}

export function viewConnections({ rows, total, limit, offset }: ListPage<Connection>): z.output<typeof connectionList> {
  return { connections: rows.map(viewConnection), total, limit, offset };
}

/** What each connected provider can exchange, and what is switched on. spec: platform §13 GET /integrations/config */
export function viewIntegrationConfig(rows: readonly Connection[]): z.output<typeof integrationConfig> {
  return {
    integrations: rows.map((row) => ({
      provider: row.providerType,
      base_config: viewSyncConfig(syncConfig(providerNamed(row.providerType).exchanges)),
      current_config: viewSyncConfig(row.syncConfig),
    })),
  };
}
