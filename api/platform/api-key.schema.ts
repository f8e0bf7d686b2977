import { z } from 'zod';
import type { ApiKey } from '../../db/entities/platform/api-key.ts';
import { listOf, listQuery } from '../list.ts';
import { timestampInput, timestampOutput } from '../scalars.schema.ts';

const keyType = z.enum(['private_key', 'publishable_key']);

export const createApiKeyBody = z
  .object({
    name: z.string().trim().min(1).max(255),
    type: keyType,
    expires_at: timestampInput().nullish(),
    service_account_id: z.string().max(255).nullish(),
  })
  .meta({ examples: [{ name: 'Backend', type: 'private_key', expires_at: '2027-12-31T00:00:00Z' }] });

export const apiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    type: keyType,
    provider: z.literal(['perennial']),
    display_id: z.string(),
    roles: z.array(z.string()),
    user_type: z.string(),
    user_id: z.string(),
    service_account_name: z.string().nullable(),
    expires_at: timestampOutput().nullable(),
    last_used_at: timestampOutput().nullable(),
    status: z.string(),
    created_at: timestampOutput(),
    updated_at: timestampOutput(),
  })
  .meta({ id: 'Secret' });

/** The only answer that shows a key. */
export const createdApiKey = z.object({ secret: apiKey, api_key: z.string() }).meta({ id: 'CreateApiKeyResponse' });

export const apiKeyListQuery = listQuery({
  user_id: z.string().max(255).optional(),
  not_expired_at: timestampInput().optional(),
});

export const apiKeyList = listOf(apiKey, 'ListSecretsResponse');

export function viewApiKey(row: ApiKey, serviceAccountName: string | undefined): z.output<typeof apiKey> {
  return {
    id: row.id,
    name: row.name,
    type: row.type as z.output<typeof keyType>,
    provider: 'perennial',
    display_id: row.displayId,
    roles: row.roles,
    user_type: row.userType,
    user_id: row.userId,
    service_account_name: serviceAccountName ?? null,
    expires_at: row.expiresAt ?? null,
    last_used_at: row.lastUsedAt ?? null,
    status: row.status,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
