import { refuse } from '../../billing/refusal.ts';
import { findTenant } from '../../db/stores/tenant.ts';
import { findUser, updateUser } from '../../db/stores/user.ts';
import type { Api } from '../app.ts';
import { errorResponses } from '../errors.ts';
import { updateMeBody, user, viewUser } from '../schemas/user.ts';

const tags = ['Users'];

/** The caller's own account. spec: platform §6 */
export async function userRoutes(app: Api): Promise<void> {
  app.get('/users/me', {
    schema: {
      operationId: 'getUserInfo',
      tags,
      summary: 'Get the account behind the credential',
      response: { 200: user, ...errorResponses },
    },
    config: { permission: 'authenticated' },
    handler: async (request) =>
      request.transaction(async (tx) => viewUser(await findUser(tx, request.caller.userId), await findTenant(tx))),
  });

  app.put('/users/me', {
    schema: {
      operationId: 'updateUser',
      tags,
      summary: 'Change the own name and metadata',
      body: updateMeBody,
      response: { 200: user, ...errorResponses },
    },
    config: { permission: 'authenticated' },
    handler: async (request) => {
      if (request.caller.userType !== 'user') {
        throw refuse('permission_denied', 'A service account cannot change itself.');
      }
      return request.transaction(async (tx) =>
        viewUser(await updateUser(tx, request.caller.userId, request.body), await findTenant(tx)),
      );
    },
  });
}
