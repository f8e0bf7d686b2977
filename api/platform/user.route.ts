import { refuse } from '../../billing/refusal.ts';
import {
  createServiceAccount,
  deleteServiceAccount,
  listAccounts,
  updateServiceAccount,
} from '../../services/platform/service-account.ts';
import { findTenant } from '../../services/platform/tenant.ts';
import { findUser, updateUser } from '../../services/platform/user.ts';
import type { Api } from '../api.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, noContent } from '../scalars.schema.ts';
import {
  createdUser,
  createUserBody,
  serviceAccountOf,
  updateMeBody,
  updateUserBody,
  user,
  userList,
  userSearchBody,
  viewUser,
} from './user.schema.ts';

const tags = ['Users'];

/** The caller's own account, and the service accounts of the tenant. spec: platform §6 */
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

  serviceAccountRoutes(app);
}

function serviceAccountRoutes(app: Api): void {
  app.post('/users', {
    schema: {
      operationId: 'createUser',
      tags,
      summary: 'Create a service account',
      body: createUserBody,
      response: { 201: createdUser, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'user:write' },
    handler: async (request) => {
      const input = serviceAccountOf(request.body);
      return request.transaction(async (tx) => {
        const account = await createServiceAccount(tx, request.caller.permissions, input);
        return { ...viewUser(account, await findTenant(tx)), password: null };
      });
    },
  });

  app.post('/users/search', {
    schema: {
      operationId: 'queryUser',
      tags,
      summary: 'Search users and service accounts',
      body: userSearchBody,
      response: { 200: userList, ...errorResponses },
    },
    config: { permission: 'user:read' },
    handler: async (request) => {
      const query = toListQuery(request.body);
      const filters = { userIds: request.body?.user_ids, type: request.body?.type, roles: request.body?.roles };
      return request.transaction(async (tx) => {
        const owner = await findTenant(tx);
        return viewList(await listAccounts(tx, query, filters), (row) => viewUser(row, owner), 'next');
      });
    },
  });

  app.put('/users/:id', {
    schema: {
      operationId: 'updateServiceAccount',
      tags,
      summary: 'Change a service account',
      params: idParams,
      body: updateUserBody,
      response: { 200: user, ...errorResponses },
    },
    config: { permission: 'user:write' },
    handler: async (request) => {
      const { id } = request.params;
      return request.transaction(async (tx) =>
        viewUser(await updateServiceAccount(tx, id, request.body), await findTenant(tx)),
      );
    },
  });

  app.delete('/users/:id', {
    schema: {
      operationId: 'deleteServiceAccount',
      tags,
      summary: 'Archive a service account without active keys',
      params: idParams,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'user:write' },
    handler: async (request) => request.transaction(async (tx) => deleteServiceAccount(tx, request.params.id)),
  });
}
