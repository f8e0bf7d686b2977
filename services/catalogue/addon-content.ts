import type { Addon } from '../../db/entities/catalogue/addon.ts';
import { Entitlement } from '../../db/entities/catalogue/entitlement.ts';
import { Price } from '../../db/entities/catalogue/price.ts';
import type { CreditGrant } from '../../db/entities/wallet/credit-grant.ts';
import type { Transaction } from '../../db/transaction.ts';
import { grantsOf } from '../ledger/grant-record.ts';
import { type EntitlementWithFeature, entitlementsWithParts } from './plan/plan-content.ts';
import { type PriceContent, priceContents } from './price/price-parts.ts';

/** An add-on with what hangs on it; null for what was not asked for. */
export interface AddonContent {
  addon: Addon;
  prices: PriceContent[] | null;
  entitlements: EntitlementWithFeature[] | null;
  creditGrants: CreditGrant[] | null;
}

/** What to read beside add-ons. */
export interface AddonParts {
  prices: boolean;
  entitlements: boolean;
  creditGrants: boolean;
}
export const wholeAddon: AddonParts = { prices: true, entitlements: true, creditGrants: true };

/** Add-ons with their prices (ended ones too) and published entitlements, in as many statements for a hundred as for one. */
export async function addonContents(
  tx: Transaction,
  addons: readonly Addon[],
  parts: AddonParts,
): Promise<AddonContent[]> {
  const owned = {
    environmentId: tx.scope.environmentId,
    status: 'published',
    entityType: 'ADDON',
    entityId: { $in: addons.map((addon) => addon.id) },
  };
  const oldestFirst = { orderBy: { createdAt: 'asc', id: 'asc' } } as const;
  const prices = parts.prices ? await tx.em.find(Price, owned, oldestFirst) : [];
  const entitlements = parts.entitlements ? await tx.em.find(Entitlement, owned, oldestFirst) : [];
  const priced = Map.groupBy(await priceContents(tx, prices), ({ price }) => price.entityId);
  const granted = Map.groupBy(
    await entitlementsWithParts(tx, entitlements, { features: true, plans: false, addons: false }),
    ({ entitlement }) => entitlement.entityId,
  );
  const ids = addons.map((addon) => addon.id);
  const grants = parts.creditGrants ? await grantsOf(tx, 'addonId', ids) : new Map<string, CreditGrant[]>();
  return addons.map((addon) => ({
    addon,
    prices: parts.prices ? (priced.get(addon.id) ?? []) : null,
    entitlements: parts.entitlements ? (granted.get(addon.id) ?? []) : null,
    creditGrants: parts.creditGrants ? (grants.get(addon.id) ?? []) : null,
  }));
}
