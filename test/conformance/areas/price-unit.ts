import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Custom currencies. */
export function priceUnitCalls({ client }: Conversation): Record<string, AreaCalls> {
  let unitId = '';
  return {
    'price-units': {
      async createPriceUnit() {
        const unit = await client.priceUnits.createPriceUnit({
          name: 'Token',
          code: 'tok',
          symbol: 'T',
          baseCurrency: 'usd',
          conversionRate: '0.02',
        });
        expect(unit).toMatchObject({ code: 'tok', symbol: 'T', baseCurrency: 'usd', conversionRate: '0.02' });
        unitId = present(unit.id);
      },
      async listPriceUnits() {
        expect(await client.priceUnits.listPriceUnits()).toMatchObject({ items: [{ id: unitId }] });
      },
      async queryPriceUnit() {
        const found = await client.priceUnits.queryPriceUnit({ priceUnitIds: [unitId] });
        expect(found).toMatchObject({ items: [{ id: unitId }], pagination: { total: 1, offset: 0 } });
      },
      async getPriceUnit() {
        expect(await client.priceUnits.getPriceUnit(unitId)).toMatchObject({ id: unitId, code: 'tok' });
      },
      async getPriceUnitByCode() {
        expect(await client.priceUnits.getPriceUnitByCode('tok')).toMatchObject({ id: unitId });
      },
      async updatePriceUnit() {
        const updated = await client.priceUnits.updatePriceUnit(unitId, { name: 'Credits' });
        expect(updated).toMatchObject({ id: unitId, name: 'Credits', conversionRate: '0.02' });
      },
      async deletePriceUnit() {
        await client.priceUnits.deletePriceUnit(unitId);
        expect(await client.priceUnits.getPriceUnit(unitId)).toMatchObject({ status: 'archived' });
      },
    },
  };
}
