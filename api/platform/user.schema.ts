import { z } from 'zod';
import { refuse } from '../../billing/refusal.ts';
import type { Tenant } from '../../db/entities/platform/tenant.ts';
import type { UserAccount } from '../../db/entities/platform/user-account.ts';
import { badField } from '../../db/rows/record.ts';
import type { NewServiceAccount } from '../../services/platform/service-account.ts';
import { listOf, searchBody } from '../list.ts';
import { idListInput, metadataInput, metadataOutput, timestampOutput } from '../scalars.schema.ts';
import { tenant, viewTenant } from './tenant.schema.ts';

export const updateMeBody = z.object({
  name: z.string().trim().max(255).nullish(),
  metadata: metadataInput().nullish(),
});

export const createUserBody = z
  .object({
    type: z.enum(['user', 'service_account']),
    name: z.string().trim().max(255).nullish(),
    email: z.string().nullish(),
    roles: z.array(z.string()).max(20).nullish(),
  })
  .meta({ examples: [{ type: 'service_account', name: 'Metering agent', roles: ['event_ingestor'] }] });

/** Either member alone is enough. spec: platform §6 */
export const updateUserBody = updateMeBody.refine(({ name, metadata }) => name != null || metadata != null, {
  path: ['name'],
  message: 'or metadata is required',
});

export const userSearchBody = searchBody({
  user_ids: idListInput().nullish(),
  type: z.enum(['user', 'service_account']).nullish(),
  roles: z.array(z.string()).nullish(),
});

/**
 * The service account to create. Throws `not_implemented` for a person, who would need a password to log in with, and
 * `validation_error` for an e-mail on a service account.
 */
export function serviceAccountOf(body: z.output<typeof createUserBody>): NewServiceAccount {
  if (body.type === 'user') {
    throw refuse('not_implemented', 'type user is not available yet: there is no login; create a service_account');
  }
  if (body.email) throw badField('email', 'must be empty for a service account');
  return { name: body.name ?? '', roles: body.roles ?? [] };
}

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

/** A person's answer shows the password once; a service account has none. */
export const createdUser = user.extend({ password: z.null() }).meta({ id: 'CreateUserResponse' });

export const userList = listOf(user, 'ListUsersResponse');

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
