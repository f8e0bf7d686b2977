import { z } from 'zod';
import {
  createMapping,
  deleteLink,
  deleteMapping,
  linkMapping,
  listMappings,
} from '../../services/integration/integration-mapping.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, noContent } from '../scalars.schema.ts';
import {
  createMappingBody,
  deleteLinkBody,
  mapping,
  mappingList,
  mappingListQuery,
  newMapping,
  viewMapping,
} from './integration-mapping.schema.ts';

const tags = ['Integration mappings'];

/** What objects are called at providers. spec: platform §14 */
export async function integrationMappingRoutes(app: Api): Promise<void> {
  app.post('/entity-integration-mappings', {
    schema: {
      operationId: 'createEntityIntegrationMapping',
      tags,
      summary: 'Map an object to its id at a provider',
      body: createMappingBody,
      response: { 201: mapping, ...errorResponses },
    },
    config: { permission: 'integration:write' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => viewMapping(await createMapping(tx, newMapping(body)))),
  });

  app.delete('/entity-integration-mappings/:id', {
    schema: {
      operationId: 'deleteEntityIntegrationMapping',
      tags,
      summary: 'Archive a mapping; the object at the provider stays',
      params: idParams,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'integration:write' },
    handler: async ({ params, transaction }) => transaction((tx) => deleteMapping(tx, params.id)),
  });

  app.get('/integrations/mappings', {
    schema: {
      operationId: 'getEntityIntegrationMappings',
      tags,
      summary: 'List what an object is called at providers',
      querystring: mappingListQuery,
      response: { 200: mappingList, ...errorResponses },
    },
    config: { permission: 'integration:read' },
    handler: async ({ query, transaction }) =>
      transaction(async (tx) => {
        const entity = { entityType: query.entity_type, entityId: query.entity_id };
        return viewList(await listMappings(tx, toListQuery(query), entity), viewMapping, 'next');
      }),
  });

  app.post('/integrations/link', {
    schema: {
      operationId: 'linkIntegrationMapping',
      tags,
      summary: 'Link an object to its id at a connected provider, in place of the one it had',
      body: createMappingBody,
      response: { 200: z.object({ mapping }), ...errorResponses },
    },
    config: { permission: 'integration:write' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => ({ mapping: viewMapping(await linkMapping(tx, newMapping(body))) })),
  });

  app.delete('/integrations/link', {
    schema: {
      operationId: 'delinkIntegrationMapping',
      tags,
      summary: 'Archive the mapping of an object to a provider',
      body: deleteLinkBody,
      response: { 200: z.object({ message: z.string() }), ...errorResponses },
    },
    config: { permission: 'integration:write' },
    handler: async ({ body, transaction }) => {
      const { entity_type: entityType, entity_id: entityId, provider_type: providerType } = body;
      await transaction((tx) => deleteLink(tx, { entityType, entityId, providerType }));
      return { message: `${entityType} ${entityId} is not mapped to ${providerType} any more` };
    },
  });
}
