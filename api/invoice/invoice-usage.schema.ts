import { z } from 'zod';
import type { GroupedUsage } from '../../services/invoice/read/invoice-usage-share.ts';
import { decimalOutput } from '../scalars.schema.ts';
import { groupKey } from '../usage/usage-analytics.schema.ts';

const share = {
  usage: decimalOutput(),
  event_count: z.int(),
  percentage: decimalOutput().describe("Of the line's usage, to 2 decimals."),
  cost: decimalOutput().describe("Its share of the line's amount; the shares add up to it."),
};

export const sourceUsage = z.object({ source: z.string(), ...share }).meta({ id: 'SourceUsageItem' });
export const usageBreakdown = z
  .object({ grouped_by: z.record(z.string(), z.string()), ...share })
  .meta({ id: 'UsageBreakdownItem' });

/** Usage of lines by source, and by what was asked for, each by line id; null where it was not asked for. */
export interface InvoiceUsage {
  bySource: ReadonlyMap<string, GroupedUsage[]> | null;
  byGroup: ReadonlyMap<string, GroupedUsage[]> | null;
}

/** Repeated in the query, or one text with commas. */
export const usageGroups = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [...new Set([given].flat().flatMap((text) => text.split(',')))].filter((name) => name !== ''))
  .pipe(z.array(groupKey).max(10));

/** What an invoice line shows of its usage. spec: subscriptions-and-invoicing §1.11.3 */
export function viewLineUsage(lineId: string, usage: InvoiceUsage | null) {
  const bySource = usage?.bySource?.get(lineId) ?? null;
  const byGroup = usage?.byGroup?.get(lineId) ?? null;
  return {
    usage_analytics: bySource?.map((each) => ({ source: each.groupedBy.source ?? '', ...viewShare(each) })) ?? null,
    usage_breakdown: byGroup?.map((each) => ({ grouped_by: each.groupedBy, ...viewShare(each) })) ?? null,
  };
}

function viewShare({ usage, eventCount, percentage, cost }: GroupedUsage) {
  return { usage, event_count: eventCount, percentage, cost };
}
