import { refuse } from '../../billing/refusal.ts';
import { findTenant, updateTenant } from '../../services/platform/tenant.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { idParams } from '../scalars.schema.ts';
import { tenant, tenantChangeOf, updateTenantBody, viewTenant } from './tenant.schema.ts';

const tags = ['Tenants'];

/** The caller's own tenant; no other can be seen. spec: platform §8 */
export async function tenantRoutes(app: Api): Promise<void> {
  app.get('/tenants/:id', {
    schema: {
      operationId: 'getTenantById',
      tags,
      summary: "Get the caller's tenant",
      params: idParams,
      response: { 200: tenant, ...errorResponses },
    },
    config: { permission: 'authenticated' },
    handler: async (request) => {
      if (request.params.id !== request.scope.tenantId) {
        throw refuse('permission_denied', 'Only the own tenant can be read.');
      }
      return request.transaction(async (tx) => viewTenant(await findTenant(tx)));
    },
  });

  app.put('/tenants/update', {
    schema: {
      operationId: 'updateTenant',
      tags,
      summary: "Update the caller's tenant",
      body: updateTenantBody,
      response: { 200: tenant, ...errorResponses },
    },
    config: { permission: 'tenant:write' },
    handler: async (request) => {
      const change = tenantChangeOf(request.body);
      return request.transaction(async (tx) => viewTenant(await updateTenant(tx, change)));
    },
  });
}
