import type { Group } from '../../../db/entities/catalogue/group.ts';
import type { Meter } from '../../../db/entities/catalogue/meter.ts';
import type { Price } from '../../../db/entities/catalogue/price.ts';
import type { PriceUnit } from '../../../db/entities/catalogue/price-unit.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { groupsById } from '../group.ts';
import { metersById } from '../meter.ts';
import { priceUnitsById } from './price-unit.ts';

/** What may be read beside prices. */
export interface PriceParts {
  meters: boolean;
  groups: boolean;
  priceUnits: boolean;
}
export const wholePrice: PriceParts = { meters: true, groups: true, priceUnits: true };

/** A price with what it names; null for what was not asked for. */
export interface PriceContent {
  price: Price;
  meter: Meter | null;
  group: Group | null;
  pricingUnit: PriceUnit | null;
  /** The custom currency, whose symbol every view of the price needs. */
  unit: PriceUnit | null;
}

/** Prices with the parts that are asked for, in as many statements for a hundred as for one. */
export async function priceContents(
  tx: Transaction,
  prices: readonly Price[],
  parts: PriceParts = wholePrice,
): Promise<PriceContent[]> {
  const meters = await metersById(tx, parts.meters ? prices.map((price) => price.meterId ?? null) : []);
  const groups = await groupsById(tx, parts.groups ? prices.map((price) => price.groupId) : []);
  const units = await priceUnitsById(
    tx,
    prices.map((price) => price.priceUnitId),
  );
  return prices.map((price) => ({
    price,
    meter: meters.get(price.meterId ?? '') ?? null,
    group: groups.get(price.groupId ?? '') ?? null,
    pricingUnit: parts.priceUnits ? (units.get(price.priceUnitId ?? '') ?? null) : null,
    unit: units.get(price.priceUnitId ?? '') ?? null,
  }));
}
