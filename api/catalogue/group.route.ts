import {
  archiveGroup,
  createGroup,
  findGroup,
  type GroupWithMembers,
  listGroups,
} from '../../services/catalogue/group.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { listOf, toListQuery, viewList } from '../list.ts';
import { idParams, noContent, optionalBody } from '../scalars.schema.ts';
import { createGroupBody, group, groupFilters, groupSearch, newGroup, viewGroup } from './group.schema.ts';

/** Groups of prices and of features. spec: catalogue-and-metering §4.6 */
export async function groupRoutes(app: Api): Promise<void> {
  const tags = ['Groups'];

  app.post('/groups', {
    schema: {
      operationId: 'createGroup',
      tags,
      summary: 'Create a group of prices or of features',
      body: createGroupBody,
      response: { 201: group, ...errorResponses },
    },
    config: { permission: 'group:write' },
    handler: async ({ body, transaction }) => transaction(async (tx) => view(await createGroup(tx, newGroup(body)))),
  });

  app.post('/groups/search', {
    schema: {
      operationId: 'queryGroup',
      tags,
      summary: 'Search groups',
      body: groupSearch,
      response: { 200: listOf(group, 'ListGroupsResponse'), ...errorResponses },
    },
    config: { permission: 'group:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => viewList(await listGroups(tx, toListQuery(body), groupFilters(body)), view, 'next')),
  });

  app.get('/groups/:id', {
    schema: {
      operationId: 'getGroup',
      tags,
      summary: 'Get a group with the ids of its members',
      params: idParams,
      response: { 200: group, ...errorResponses },
    },
    config: { permission: 'group:read' },
    handler: async ({ params, transaction }) => transaction(async (tx) => view(await findGroup(tx, params.id))),
  });

  app.delete('/groups/:id', {
    schema: {
      operationId: 'deleteGroup',
      tags,
      summary: 'Archive a group and let its members go',
      params: idParams,
      body: optionalBody,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'group:write' },
    handler: async ({ params, transaction }) => transaction((tx) => archiveGroup(tx, params.id)),
  });
}

function view({ group: row, entityIds }: GroupWithMembers) {
  return viewGroup(row, entityIds);
}
