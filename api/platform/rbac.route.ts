import { z } from 'zod';
import { missing } from '../../db/rows/record.ts';
import { type Role, roles } from '../../services/platform/roles.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';

const tags = ['Roles'];

const role = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    permissions: z.record(z.string(), z.array(z.string())),
  })
  .meta({ id: 'Role' });

/** The roles that users and service accounts can have. spec: platform §4.2 */
export async function rbacRoutes(app: Api): Promise<void> {
  app.get('/rbac/roles', {
    schema: {
      operationId: 'listRbacRoles',
      tags,
      summary: 'List roles',
      querystring: z.object({ user_type: z.enum(['user', 'service_account']).optional() }),
      response: { 200: z.object({ roles: z.array(role) }), ...errorResponses },
    },
    config: { permission: 'authenticated' },
    handler: async ({ query }) => ({
      roles: roles.filter((one) => !query.user_type || one.userTypes.includes(query.user_type)).map(viewRole),
    }),
  });

  app.get('/rbac/roles/:id', {
    schema: {
      operationId: 'getRbacRole',
      tags,
      summary: 'Get a role',
      params: z.object({ id: z.string().max(255) }),
      response: { 200: role, ...errorResponses },
    },
    config: { permission: 'authenticated' },
    handler: async ({ params }) => {
      const found = roles.find((one) => one.id === params.id);
      if (!found) throw missing('role', params.id);
      return viewRole(found);
    },
  });
}

function viewRole({ id, name, description, permissions }: Role): z.output<typeof role> {
  const actions = Object.entries(permissions).map(([entity, list]) => [entity, entity === '*' ? ['*'] : [...list]]);
  return { id, name, description, permissions: Object.fromEntries(actions) };
}
