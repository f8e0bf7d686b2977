import { z } from 'zod';
import type { Environment } from '../../db/entities/platform/environment.ts';
import type { ListPage } from '../../db/list.ts';
import { listQuery } from '../list.ts';
import { timestampOutput, wholeSeconds } from '../scalars.schema.ts';

const type = z.enum(['development', 'production']);

export const createEnvironmentBody = z
  .object({ name: z.string().trim().min(1).max(255), type })
  .meta({ examples: [{ name: 'Staging', type: 'development' }] });

export const updateEnvironmentBody = z.object({
  name: z.string().trim().min(1).max(255).nullish(),
  type: type.nullish(),
});

export const environment = z
  .object({
    id: z.string(),
    name: z.string(),
    type,
    created_at: timestampOutput(),
    updated_at: timestampOutput(),
  })
  .meta({ id: 'Environment' });

/** `expand` is accepted and ignored. spec: platform §1.5 expand */
export const environmentListQuery = listQuery({ expand: z.string().optional() });

export const environmentList = z
  .object({ environments: z.array(environment), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'ListEnvironmentsResponse' });

export function viewEnvironment(row: Environment): z.output<typeof environment> {
  return {
    id: row.id,
    name: row.name,
    type: row.type as z.output<typeof type>,
    created_at: wholeSeconds(row.createdAt),
    updated_at: wholeSeconds(row.updatedAt),
  };
}

export function viewEnvironments(page: ListPage<Environment>): z.output<typeof environmentList> {
  return {
    environments: page.rows.map(viewEnvironment),
    total: page.total,
    limit: page.limit,
    offset: page.offset,
  };
}
