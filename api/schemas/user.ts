import { z } from 'zod';
import type { Tenant } from '../../db/entities/tenant.ts';
import type { UserAccount } from '../../db/entities/user-account.ts';
import { metadataInput, metadataOutput, timestampOutput } from './scalars.ts';
import { tenant, viewTenant } from './tenant.ts';

export const updateMeBody = z.object({
  name: z.string().trim().max(255).nullish(),
  metadata: metadataInput().nullish(),
});

export const user = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    type: z.enum(['user', 'service_account']),
    roles: z.array(z.string()),
    metadata: metadataOutput(),
    tenant,
    status: z.string(),
    created_at: timestampOutput(),
    created_by: z.string(),
    updated_at: timestampOutput(),
    updated_by: z.string(),
  })
  .meta({ id: 'User' });

export function viewUser(row: UserAccount, owner: Tenant): z.output<typeof user> {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    type: row.type as 'user' | 'service_account',
    roles: row.roles,
    metadata: row.metadata,
    tenant: viewTenant(owner),
    status: row.status,
    created_at: row.createdAt,
    created_by: row.createdBy,
    updated_at: row.updatedAt,
    updated_by: row.updatedBy,
  };
}
