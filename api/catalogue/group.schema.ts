import { z } from 'zod';
import type { Group } from '../../db/entities/catalogue/group.ts';
import type { GroupFilters, NewGroup } from '../../services/catalogue/group.ts';
import { searchBody } from '../list.ts';
import { idListInput, metadataInput, metadataOutput, recordOutput, viewRecord } from '../scalars.schema.ts';

const groupedType = z.enum(['price', 'feature']);
const text = z.string().max(255);

export const createGroupBody = z
  .object({
    name: text.min(1, 'must not be empty'),
    entity_type: groupedType,
    lookup_key: text.min(1, 'must not be empty'),
    metadata: metadataInput().nullish(),
  })
  .meta({ examples: [{ name: 'Compute', entity_type: 'price', lookup_key: 'compute' }] });

export const groupSearch = searchBody({
  group_ids: idListInput().nullish(),
  name: text.nullish(),
  lookup_key: text.nullish(),
  entity_type: z.union([z.literal(''), groupedType]).nullish(),
});

export const group = z
  .object({
    ...recordOutput,
    name: z.string(),
    entity_type: groupedType,
    lookup_key: z.string(),
    entity_ids: z.array(z.string()).nullable(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'Group' });

export function newGroup(body: z.output<typeof createGroupBody>): NewGroup {
  const { name, entity_type, lookup_key, metadata } = body;
  return { name, entityType: entity_type, lookupKey: lookup_key, metadata: metadata ?? undefined };
}

export function groupFilters(search: z.output<typeof groupSearch>): GroupFilters {
  return {
    groupIds: search?.group_ids,
    name: search?.name,
    lookupKey: search?.lookup_key,
    entityType: search?.entity_type,
  };
}

/** The wire form of a group; beside a member it comes without the ids of all members. spec: catalogue-and-metering §4.6 */
export function viewGroup(row: Group, entityIds: string[] | null = null): z.output<typeof group> {
  return {
    ...viewRecord(row),
    name: row.name,
    entity_type: row.entityType as z.output<typeof groupedType>,
    lookup_key: row.lookupKey,
    entity_ids: entityIds,
    metadata: row.metadata,
  };
}
