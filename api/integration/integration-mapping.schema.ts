import { z } from 'zod';
import type { IntegrationMapping } from '../../db/entities/integration/integration-mapping.ts';
import { mappedEntities, type NewMapping, type ProviderId } from '../../services/integration/integration-mapping.ts';
import { listOf, listQuery } from '../list.ts';
import { metadataInput, metadataOutput, recordOutput, viewRecord } from '../scalars.schema.ts';

const entityType = z.enum(mappedEntities);
const entityId = z.string().min(1).max(255);
const providerType = z.string().trim().min(1).max(50);
const providerEntityId = z.string().trim().min(1).max(255);

export const createMappingBody = z
  .object({
    entity_type: entityType,
    entity_id: entityId,
    provider_type: providerType,
    provider_entity_id: providerEntityId,
    metadata: metadataInput().nullish(),
  })
  .meta({
    examples: [
      { entity_type: 'customer', entity_id: 'cust_01JD…', provider_type: 'stripe', provider_entity_id: 'cus_N1' },
    ],
  });

export const deleteLinkBody = z.object({
  entity_type: entityType,
  entity_id: entityId,
  provider_type: providerType,
});

export const mappingListQuery = listQuery({ entity_type: entityType, entity_id: entityId });

/** What a customer is called at providers, in either of the two published forms. spec: platform §10.1 */
export const customerMappings = z
  .array(
    z
      .object({
        provider_type: providerType.nullish(),
        provider: providerType.nullish().describe('The same as provider_type.'),
        provider_entity_id: providerEntityId.nullish(),
        id: providerEntityId.nullish().describe('The same as provider_entity_id.'),
        metadata: metadataInput().nullish(),
      })
      .superRefine(({ provider_type, provider, provider_entity_id, id }, context) => {
        const required = (path: string) => context.addIssue({ code: 'custom', path: [path], message: 'is required' });
        if (!provider_type && !provider) required('provider_type');
        if (!provider_entity_id && !id) required('provider_entity_id');
      }),
  )
  .max(50);

export const mapping = z
  .object({
    ...recordOutput,
    entity_type: z.string(),
    entity_id: z.string(),
    provider_type: z.string(),
    provider_entity_id: z.string(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'EntityIntegrationMapping' });

export const mappingList = listOf(mapping, 'ListEntityIntegrationMappingsResponse');

export function newMapping(body: z.output<typeof createMappingBody>): NewMapping {
  return {
    entityType: body.entity_type,
    entityId: body.entity_id,
    providerType: body.provider_type,
    providerEntityId: body.provider_entity_id,
    metadata: body.metadata ?? {},
  };
}

export function providerIdsOf(mappings: z.output<typeof customerMappings>): ProviderId[] {
  return mappings.map(({ provider_type, provider, provider_entity_id, id, metadata }) => ({
    providerType: provider_type ?? provider ?? '',
    providerEntityId: provider_entity_id ?? id ?? '',
    metadata: metadata ?? {},
  }));
}

export function viewMapping(row: IntegrationMapping): z.output<typeof mapping> {
  return {
    ...viewRecord(row),
    entity_type: row.entityType,
    entity_id: row.entityId,
    provider_type: row.providerType,
    provider_entity_id: row.providerEntityId,
    metadata: row.metadata,
  };
}
