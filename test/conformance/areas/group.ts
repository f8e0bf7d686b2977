import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Groups of prices and features. */
export function groupCalls({ client }: Conversation): Record<string, AreaCalls> {
  let groupId = '';
  return {
    groups: {
      async createGroup() {
        const group = await client.groups.createGroup({ name: 'Compute', entityType: 'price', lookupKey: 'compute' });
        expect(group).toMatchObject({ name: 'Compute', entityType: 'price', lookupKey: 'compute', entityIds: [] });
        groupId = present(group.id);
      },
      async queryGroup() {
        const found = await client.groups.queryGroup({ lookupKey: 'compute' });
        expect(found).toMatchObject({ items: [{ id: groupId }], pagination: { total: 1 } });
      },
      async getGroup() {
        expect(await client.groups.getGroup(groupId)).toMatchObject({ id: groupId, entityIds: [] });
      },
      async deleteGroup() {
        await client.groups.deleteGroup(groupId);
        expect(await client.groups.getGroup(groupId)).toMatchObject({ status: 'archived' });
      },
    },
  };
}
