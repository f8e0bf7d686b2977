import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Add-ons of the catalogue; one is kept for the subscriptions. */
export function addonCalls({ client, made }: Conversation): Record<string, AreaCalls> {
  return {
    addons: {
      async createAddon() {
        const addon = await client.addons.createAddon({
          name: 'Extra seats',
          lookupKey: 'extra-seats',
          type: 'multiple_instance',
          metadata: { seats: 5, tags: ['a'] },
        });
        expect(addon).toMatchObject({ name: 'Extra seats', type: 'multiple_instance', metadata: { seats: 5 } });
        made.addonId = present(addon.id);
        await client.prices.createPrice({
          entityType: 'ADDON',
          entityId: made.addonId,
          type: 'FIXED',
          billingModel: 'FLAT_FEE',
          billingCadence: 'RECURRING',
          billingPeriod: 'MONTHLY',
          invoiceCadence: 'ADVANCE',
          priceUnitType: 'FIAT',
          currency: 'usd',
          amount: '10',
        });
        await client.entitlements.createEntitlement({
          entityType: 'ADDON',
          entityId: made.addonId,
          featureId: made.featureId,
          featureType: 'metered',
          usageLimit: 25,
          usageResetPeriod: 'MONTHLY',
        });
      },
      async getAddon() {
        expect(await client.addons.getAddon(made.addonId)).toMatchObject({
          id: made.addonId,
          prices: [{ amount: '10', entityType: 'ADDON' }],
          entitlements: [{ usageLimit: 25 }],
        });
      },
      async getAddonByLookupKey() {
        expect(await client.addons.getAddonByLookupKey('extra-seats')).toMatchObject({ id: made.addonId });
      },
      async queryAddon() {
        const found = await client.addons.queryAddon({ lookupKeys: ['extra-seats'] });
        expect(found).toMatchObject({ items: [{ id: made.addonId }], pagination: { total: 1 } });
      },
      async updateAddon() {
        const updated = await client.addons.updateAddon(made.addonId, { description: 'Five more seats' });
        expect(updated).toMatchObject({ id: made.addonId, description: 'Five more seats' });
      },
      async deleteAddon() {
        const unused = await client.addons.createAddon({ name: 'Unused', lookupKey: 'unused', type: 'onetime' });
        await client.addons.deleteAddon(present(unused.id));
        expect(await client.addons.getAddon(present(unused.id))).toMatchObject({ status: 'archived' });
      },
      async getAddonEntitlements() {
        const found = await client.entitlements.getAddonEntitlements(made.addonId);
        expect(found).toMatchObject({ items: [{ featureId: made.featureId, addon: { id: made.addonId } }] });
      },
    },
  };
}
