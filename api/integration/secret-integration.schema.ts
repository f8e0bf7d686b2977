import { z } from 'zod';
import type { Connection } from '../../db/entities/integration/connection.ts';
import { badField } from '../../db/rows/record.ts';
import { providerNames } from '../../integrations/providers.ts';
import type { DecideChange } from '../../services/integration/connection.ts';
import { timestampOutput, wholeSeconds } from '../scalars.schema.ts';
import { createConnectionBody, newConnection, providerType } from './connection.schema.ts';
import { readSecrets } from './connection-secret.schema.ts';

export const providerParams = z.object({ provider: z.string().min(1).max(255) });

export const createIntegrationBody = z
  .object({
    name: createConnectionBody.shape.name,
    provider: z.string().min(1).max(255),
    credentials: z.record(z.string(), z.unknown()).describe('The secret members of the provider.'),
  })
  .meta({
    examples: [{ name: 'Nomod', provider: 'nomod', credentials: { api_key: 'sk_…', webhook_secret: 'wh_…' } }],
  });

/** A connection in the form of a secret. Nothing in it comes from its secrets. spec: platform §7 */
export const integrationSecret = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.literal('integration'),
    provider: providerType,
    display_id: z.literal('***'),
    roles: z.array(z.string()),
    user_type: z.string().nullable(),
    user_id: z.string().nullable(),
    service_account_name: z.string().nullable(),
    expires_at: timestampOutput().nullable(),
    last_used_at: timestampOutput().nullable(),
    status: z.string(),
    created_at: timestampOutput(),
    updated_at: timestampOutput(),
  })
  .meta({ id: 'IntegrationSecret' });

export const linkedIntegrations = z
  .object({ providers: z.array(z.string()) })
  .meta({ id: 'LinkedIntegrationsResponse' });

/** The provider of path and body. Throws `validation_error` when they differ or there is no such provider. spec: platform §7 */
export function agreedProvider(path: string, body: string): string {
  if (!providerNames.includes(path)) throw badField('provider', `must be one of ${providerNames.join(', ')}`);
  if (body !== path) throw badField('provider', `must be ${path}, as in the path`);
  return path;
}

type IntegrationBody = z.output<typeof createIntegrationBody>;

/** The connection that credentials make: nothing is exchanged until its configuration says so. */
export function newIntegration(provider: string, { name, credentials }: IntegrationBody, scope: Scope) {
  if (provider === 'aws_marketplace') {
    throw badField('provider', 'needs a region too; create this connection with POST /connections');
  }
  return newConnection({ name, provider_type: provider, encrypted_secret_data: credentials }, scope, 'credentials');
}

type Scope = Parameters<typeof newConnection>[1];

/** New credentials for a connection there is: its name and all its secrets are replaced, what it exchanges stays. */
export function replacedIntegration(provider: string, { name, credentials }: IntegrationBody): DecideChange {
  const secrets = readSecrets(provider, credentials, 'credentials');
  return ({ syncConfig }) => {
    if (!syncConfig.s3?.is_platform_managed || provider !== 's3') return { name, secrets };
    throw badField('credentials', 'are not used by a platform-managed connection; change its sync_config first');
  };
}

export function viewIntegration(row: Connection): z.output<typeof integrationSecret> {
  return {
    id: row.id,
    name: row.name,
    type: 'integration',
    provider: row.providerType,
    display_id: '***',
    roles: [],
    user_type: null,
    user_id: null,
    service_account_name: null,
    expires_at: null,
    last_used_at: null,
    status: row.status,
    created_at: wholeSeconds(row.createdAt),
    updated_at: wholeSeconds(row.updatedAt),
  };
}
