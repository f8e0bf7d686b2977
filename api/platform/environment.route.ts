import {
  createEnvironment,
  findEnvironment,
  listEnvironments,
  updateEnvironment,
} from '../../services/platform/environment.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery } from '../list.ts';
import { idParams } from '../scalars.schema.ts';
import {
  createEnvironmentBody,
  environment,
  environmentList,
  environmentListQuery,
  updateEnvironmentBody,
  viewEnvironment,
  viewEnvironments,
} from './environment.schema.ts';

const tags = ['Environments'];

/** Environments of the caller's tenant. spec: platform §9 */
export async function environmentRoutes(app: Api): Promise<void> {
  app.get('/environments', {
    schema: {
      operationId: 'listEnvironments',
      tags,
      summary: 'List environments',
      querystring: environmentListQuery,
      response: { 200: environmentList, ...errorResponses },
    },
    // Always allowed for a valid credential. spec: platform §4.1
    config: { permission: 'authenticated' },
    handler: async (request) => {
      const query = toListQuery(request.query);
      return request.transaction(async (tx) => viewEnvironments(await listEnvironments(tx, query)));
    },
  });

  app.get('/environments/:id', {
    schema: {
      operationId: 'getEnvironment',
      tags,
      summary: 'Get an environment',
      params: idParams,
      response: { 200: environment, ...errorResponses },
    },
    config: { permission: 'environment:read' },
    handler: async (request) =>
      request.transaction(async (tx) => viewEnvironment(await findEnvironment(tx, request.params.id))),
  });

  app.post('/environments', {
    schema: {
      operationId: 'createEnvironment',
      tags,
      summary: 'Create an environment',
      body: createEnvironmentBody,
      response: { 201: environment, ...errorResponses },
    },
    config: { permission: 'environment:write' },
    handler: async (request) =>
      request.transaction(async (tx) => viewEnvironment(await createEnvironment(tx, request.body))),
  });

  app.put('/environments/:id', {
    schema: {
      operationId: 'updateEnvironment',
      tags,
      summary: 'Rename an environment',
      params: idParams,
      body: updateEnvironmentBody,
      response: { 200: environment, ...errorResponses },
    },
    config: { permission: 'environment:write' },
    handler: async (request) => {
      const { id } = request.params;
      return request.transaction(async (tx) => viewEnvironment(await updateEnvironment(tx, id, request.body)));
    },
  });
}
