import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Cost sheets. What the analytics ask afterwards is kept; the rest is deleted again. */
export function costsheetCalls({ client }: Conversation): Record<string, AreaCalls> {
  let id = '';
  const costsheets: AreaCalls = {
    async createCostsheet() {
      const { costsheet } = await client.costs.createCostsheet({
        name: 'Cloud',
        lookupKey: 'cloud',
        metadata: { a: 'b' },
      });
      expect(costsheet).toMatchObject({ name: 'Cloud', lookupKey: 'cloud', status: 'published', metadata: { a: 'b' } });
      id = present(costsheet?.id);
    },
    async getCostsheet() {
      const { costsheet } = await client.costs.getCostsheet(id);
      expect(costsheet).toMatchObject({ id, name: 'Cloud' });
    },
    async getActiveCostsheet() {
      expect(await client.costs.getActiveCostsheet()).toMatchObject({ id, name: 'Cloud' });
    },
    async updateCostsheet() {
      const { costsheet } = await client.costs.updateCostsheet(id, { description: 'What the cloud costs' });
      expect(costsheet).toMatchObject({ id, description: 'What the cloud costs', lookupKey: 'cloud' });
    },
    async queryCostsheet() {
      const found = await client.costs.queryCostsheet({
        costsheetIDs: [id],
        lookupKey: 'cloud',
        queryFilter: { limit: 5, order: 'asc' },
      });
      expect(found).toMatchObject({ items: [{ id, name: 'Cloud' }], pagination: { total: 1, limit: 5, offset: 0 } });
    },
    async deleteCostsheet() {
      const { costsheet } = await client.costs.createCostsheet({ name: 'Unused' });
      const deleted = await client.costs.deleteCostsheet(present(costsheet?.id));
      expect(deleted).toMatchObject({ id: costsheet?.id });
    },
  };
  return { costsheets };
}
