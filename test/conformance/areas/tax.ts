import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Taxes. A rate of 0 % stays linked to the customer on the test clock, so that its invoices have tax rows to parse. */
export function taxCalls({ client, made }: Conversation): Record<string, AreaCalls> {
  let rateId = '';
  let associationId = '';
  const taxes: AreaCalls = {
    async createTaxRate() {
      const rate = await client.taxRates.createTaxRate({ name: 'Zero', code: 'zero', percentageValue: '0' });
      expect(rate).toMatchObject({ code: 'zero', percentageValue: '0', scope: 'INTERNAL', taxRateStatus: 'ACTIVE' });
      rateId = present(rate.id);
    },
    async getTaxRate() {
      expect(await client.taxRates.getTaxRate(rateId)).toMatchObject({ id: rateId, code: 'zero' });
    },
    async updateTaxRate() {
      const rate = await client.taxRates.updateTaxRate(rateId, { description: 'Nothing at all' });
      expect(rate).toMatchObject({ id: rateId, description: 'Nothing at all' });
    },
    async getTaxRates() {
      expect(await client.taxRates.getTaxRates({ taxrateCodes: ['zero'] })).toMatchObject([{ id: rateId }]);
    },
    async deleteTaxRate() {
      const rate = await client.taxRates.createTaxRate({ name: 'Gone', code: 'gone', percentageValue: '5' });
      await client.taxRates.deleteTaxRate(present(rate.id));
      expect(await client.taxRates.getTaxRates({ taxrateCodes: ['gone'] })).toEqual([]);
    },
    async createTaxAssociation() {
      const entity = { entityType: 'customer', entityId: made.customerId } as const;
      const association = await client.taxAssociations.createTaxAssociation({
        ...entity,
        taxRateCode: 'zero',
        priority: 3,
      });
      expect(association).toMatchObject({ ...entity, priority: 3, autoApply: true, taxRate: { id: rateId } });
      associationId = present(association.id);
    },
    async getTaxAssociation() {
      expect(await client.taxAssociations.getTaxAssociation(associationId)).toMatchObject({ id: associationId });
    },
    async updateTaxAssociation() {
      const association = await client.taxAssociations.updateTaxAssociation(associationId, { priority: 4 });
      expect(association).toMatchObject({ id: associationId, priority: 4 });
    },
    async listTaxAssociations() {
      const found = await client.taxAssociations.listTaxAssociations('customer', made.customerId);
      expect(found).toMatchObject({ items: [{ id: associationId }], pagination: { total: 1 } });
    },
    async deleteTaxAssociation() {
      const association = await client.taxAssociations.createTaxAssociation({
        entityType: 'tenant',
        taxRateCode: 'zero',
      });
      const deleted = await client.taxAssociations.deleteTaxAssociation(present(association.id));
      expect(deleted).toMatchObject({ id: association.id, status: 'archived' });
    },
  };
  return { taxes };
}
