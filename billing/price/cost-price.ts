import { earlier, type Interval, later } from '../time/calendar.ts';

/** A usage price of a cost sheet, as far as it decides which usage it prices. Instants are UTC with milliseconds. */
export interface CostPrice {
  id: string;
  meterId: string;
  filterValues: Record<string, string[]> | null;
  startDate: string;
  endDate: string | null;
  createdAt: string;
}

/**
 * For which part of an interval each price of a sheet prices its usage: while it is in force. The one that starts first on its
 * meter and filters also prices what was used before, unless it was made to start later than it was made: a sheet written today
 * can be asked about last month, while a superseded price and its successor never price the same usage. Prices without a part
 * are left out. spec: catalogue-and-metering §10.2; how far a sheet reaches back is decided here
 */
export function costPriceParts<Price extends CostPrice>(
  prices: readonly Price[],
  interval: Interval,
): { price: Price; part: Interval }[] {
  const first = new Map<string, CostPrice>();
  for (const price of prices) {
    const known = first.get(subjectOf(price));
    if (!known || price.startDate < known.startDate) first.set(subjectOf(price), price);
  }
  return prices.flatMap((price) => {
    const reachesBack = first.get(subjectOf(price)) === price && price.startDate <= price.createdAt;
    const start = reachesBack ? interval.start : later(interval.start, price.startDate);
    const end = price.endDate === null ? interval.end : earlier(interval.end, price.endDate);
    return start < end ? [{ price, part: { start, end } }] : [];
  });
}

function subjectOf({ meterId, filterValues }: CostPrice): string {
  const filters = Object.entries(filterValues ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([meterId, filters]);
}
