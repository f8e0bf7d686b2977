import { z } from 'zod';
import { Group } from '../../../db/entities/catalogue/group.ts';
import { badField } from '../../../db/rows/record.ts';
import { archiveGroup, createGroup } from '../../../services/catalogue/group.ts';
import { createGroupBody, newGroup } from '../group.schema.ts';
import type { CatalogueNoun, Entry } from './noun.ts';

const { name, entity_type, lookup_key, metadata } = createGroupBody.shape;

/** Groups of prices or of features. A group cannot be changed, only made and archived. spec: catalogue-and-metering §4.6 */
export const groupNoun: CatalogueNoun = {
  noun: 'group',
  section: 'groups',
  permission: 'group:write',
  identity: 'key',
  fields: { lookup_key: 'key' },
  schema: z.strictObject({ key: lookup_key, name, entity_type, metadata }),
  defaults: () => ({ key: '', name: '', entity_type: '', metadata: {} }),
  async read(tx, context) {
    const where = { environmentId: tx.scope.environmentId, status: 'published' };
    const rows = await tx.em.find(Group, where, { orderBy: { createdAt: 'asc', id: 'asc' } });
    for (const row of rows) context.groups.set(`${row.entityType} ${row.lookupKey}`, row.id);
    return rows.map((row) => ({
      id: row.id,
      key: row.lookupKey,
      entry: { key: row.lookupKey, name: row.name, entity_type: row.entityType, metadata: row.metadata },
    }));
  },
  async create(tx, entry) {
    return (await createGroup(tx, newGroup(bodyOf(entry)))).group.id;
  },
  learn({ id, key, entry }, context) {
    context.groups.set(`${entry.entity_type} ${key}`, id);
  },
  async update(_tx, { key }, _entry, [member = 'name']) {
    throw badField(member, `of group ${key} cannot be changed; make another group and archive this one`);
  },
  remove: (tx, { id }) => archiveGroup(tx, id),
};

function bodyOf({ key, ...members }: Entry): z.output<typeof createGroupBody> {
  return { ...members, lookup_key: key } as z.output<typeof createGroupBody>;
}
