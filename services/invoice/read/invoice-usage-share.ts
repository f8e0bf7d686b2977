import { type UsageShare, usageShares } from '../../../billing/invoice/usage-share.ts';
import { decimal, decimalString, sum } from '../../../billing/money/money.ts';
import type { Derivation } from '../../../billing/price/derivation.ts';
import { compareText } from '../../../billing/text-order.ts';
import { Feature } from '../../../db/entities/catalogue/feature.ts';
import { InvoiceLineItem } from '../../../db/entities/invoice/invoice-line-item.ts';
import type { Transaction } from '../../../db/transaction.ts';
import type { UsagePart, UsagePartQuestion, UsagePartReader } from '../../usage-part-reader.ts';
import type { InheritedUsage } from '../../usage-reader.ts';
import { filtersOfPrices, inheritedByInvoice } from '../issue/invoice-late-usage.ts';
import type { InvoiceContent } from './invoice-read.ts';

/** How the usage of lines is taken apart; empty for not at all. */
export interface UsageSplit {
  /** Of `source`, `feature_id`, `meter_id` and `properties.<name>`. */
  groupBy: readonly string[];
}

/** A group of a line's usage, by the names that were grouped by. */
export interface GroupedUsage extends UsageShare {
  groupedBy: Record<string, string>;
}

const propertyName = /^properties\.(.+)$/;

/**
 * What each usage line of an invoice was used for, with its share of the line's amount, by line id. Usage is what is known
 * now of the times the line billed: what came after the invoice was final is in it, and the amount stays the line's. Lines
 * that measure nothing are left out. Throws `validation_error` for too many groups. spec: subscriptions-and-invoicing §1.11
 */
export async function invoiceUsageShares(
  tx: Transaction,
  { row, lines: shown }: InvoiceContent,
  { groupBy }: UsageSplit,
  readParts: UsagePartReader,
): Promise<Map<string, GroupedUsage[]>> {
  const { environmentId } = tx.scope;
  const ids = shown.filter((line) => line.meterId && line.priceType === 'USAGE').map((line) => line.id);
  const lines = await tx.em.find(InvoiceLineItem, { environmentId, id: { $in: ids } });
  const filters = await filtersOfPrices(tx, lines);
  const subscriber = { customerId: row.subscriptionCustomerId ?? row.customerId, from: '', to: null };
  const users = [subscriber, ...(await inheritedByInvoice(tx, row))];
  const asked = lines.flatMap((line) => questionsOf(line, users, filters.get(line.priceId ?? '') ?? null));
  if (asked.length === 0) return new Map();
  const answers = await readParts(tx, tx.scope, asked, {
    interval: { from: least(asked.map(({ from }) => from)), to: greatest(asked.map(({ to }) => to)) },
    window: null,
    bySource: groupBy.includes('source'),
    byProperties: groupBy.flatMap((name) => propertyName.exec(name)?.[1] ?? []),
    sources: [],
    listSources: false,
  });
  const features = await featureByMeter(tx, lines);
  return new Map(
    lines.map((line) => {
      const own = asked.flatMap(({ key }) => (key.startsWith(`${line.id} `) ? (answers.get(key) ?? []) : []));
      const known = { meter_id: line.meterId ?? '', feature_id: features.get(line.meterId ?? '') ?? '' };
      return [line.id, usageShares(grouped(own, groupBy, known), line.amount, line.currency)];
    }),
  );
}

/** A question for each time the line billed and each customer whose usage counted then. */
function questionsOf(
  line: InvoiceLineItem,
  users: readonly InheritedUsage[],
  filters: Record<string, string[]> | null,
): UsagePartQuestion[] {
  const parts = (line.derivation as Derivation | null | undefined)?.parts ?? [];
  return parts.flatMap(({ usage }, part) => {
    if (!usage) return [];
    const { meterId, bucketing = null } = usage;
    return users.flatMap((user): UsagePartQuestion[] => {
      const from = user.from > usage.from ? user.from : usage.from;
      const to = user.to !== null && user.to < usage.to ? user.to : usage.to;
      if (from >= to) return [];
      const common = { key: `${line.id} ${part} ${user.customerId} ${from}`, meterId, customerIds: [user.customerId] };
      return [{ ...common, from, to, startOfHistory: from, bucketing, filters: filters ? [filters] : [] }];
    });
  });
}

/** The groups with events, those of several times together, the most used first. */
function grouped(
  parts: readonly UsagePart[],
  groupBy: readonly string[],
  known: { meter_id: string; feature_id: string },
) {
  const named = parts
    .filter(({ eventCount }) => eventCount > 0)
    .map((part) => ({
      part,
      groupedBy: Object.fromEntries(groupBy.map((name) => [name, valueBy(name, part, known)])),
    }));
  return [...Map.groupBy(named, ({ groupedBy }) => JSON.stringify(groupedBy))]
    .map(([name, same]) => ({
      name,
      groupedBy: same[0]!.groupedBy,
      usage: decimalString(sum(same.map(({ part }) => decimal(part.usage)))),
      eventCount: same.reduce((count, { part }) => count + part.eventCount, 0),
    }))
    .sort((a, b) => decimal(b.usage).comparedTo(a.usage) || compareText(a.name, b.name));
}

function valueBy(name: string, part: UsagePart, known: { meter_id: string; feature_id: string }): string {
  if (name === 'source') return part.source ?? '';
  if (name === 'meter_id' || name === 'feature_id') return known[name];
  return part.properties[propertyName.exec(name)?.[1] ?? ''] ?? '';
}

/** The oldest published feature of each meter. */
async function featureByMeter(tx: Transaction, lines: readonly InvoiceLineItem[]): Promise<Map<string, string>> {
  const meterIds = lines.flatMap((line) => line.meterId ?? []);
  const features = await tx.em.find(
    Feature,
    { environmentId: tx.scope.environmentId, meterId: { $in: meterIds }, status: 'published' },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
  return new Map(features.map((feature) => [feature.meterId ?? '', feature.id]));
}

function least(instants: readonly string[]): string {
  return instants.reduce((a, b) => (a < b ? a : b));
}

function greatest(instants: readonly string[]): string {
  return instants.reduce((a, b) => (a > b ? a : b));
}
