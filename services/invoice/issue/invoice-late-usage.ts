import { decimal, decimalString, sum } from '../../../billing/money/money.ts';
import type { Derivation } from '../../../billing/price/derivation.ts';
import { Price } from '../../../db/entities/catalogue/price.ts';
import type { Invoice } from '../../../db/entities/invoice/invoice.ts';
import type { InvoiceLineItem } from '../../../db/entities/invoice/invoice-line-item.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { inheritedUsage, withInherited } from '../../charging/subscription-family.ts';
import { readSubscriptions } from '../../charging/subscription-row.ts';
import type { BilledWindow, InheritedUsage, LateUsage, LateUsageReader } from '../../usage-reader.ts';

/**
 * What arrived too late for each usage line of a final invoice, or was voided too late, by line id: for every time the line billed, what its meter
 * answers now less what it answered at the watermark that the line keeps. Empty while the invoice is not final.
 * spec: README decision 11, catalogue-and-metering §14
 */
export async function readLateUsage(
  tx: Transaction,
  invoice: Invoice,
  lines: readonly InvoiceLineItem[],
  readLate: LateUsageReader,
): Promise<Map<string, LateUsage>> {
  const derivations = lines.map((line) => ({ line, derivation: (line.derivation ?? null) as Derivation | null }));
  const measured = derivations.flatMap(({ line, derivation }) =>
    derivation?.charge === 'usage' ? [{ line, derivation }] : [],
  );
  // What comes after an intermediate invoice is billed by the next one of its period.
  const isIntermediate = invoice.billingReason === 'AUTO_INVOICE_THRESHOLD';
  if (!invoice.finalizedAt || isIntermediate || measured.length === 0) return new Map();
  const customerId = invoice.subscriptionCustomerId ?? invoice.customerId;
  const inherited = await inheritedByInvoice(tx, invoice);
  const filters = await filtersOfPrices(tx, lines);
  const billed = measured.map(({ line, derivation }) => {
    const asked = { customerId, inherited, filters: filters.get(line.priceId ?? '') ?? null };
    return { id: line.id, windows: windowsOf(line.id, derivation, asked) };
  });
  const windows = billed.flatMap((line) => line.windows);
  const answers = windows.length === 0 ? new Map<string, LateUsage>() : await readLate(tx, tx.scope, windows);
  // What retention dropped cannot be told from what came late.
  const known = billed.filter((line) => line.windows.every(({ key }) => answers.has(key)));
  return new Map(known.map((line) => [line.id, lateUsageOf(line.windows, answers)]));
}

/** Whose usage the lines of an invoice billed besides the subscriber's. spec: subscriptions-and-invoicing §2.13 */
export async function inheritedByInvoice(tx: Transaction, { subscriptionId }: Invoice): Promise<InheritedUsage[]> {
  if (!subscriptionId) return [];
  const rows = await readSubscriptions(tx, tx.scope.environmentId, [subscriptionId]);
  return (await inheritedUsage(tx, tx.scope.environmentId, [...rows.values()])).get(subscriptionId) ?? [];
}

/** Conditions of the prices that lines were billed by, by price id. spec: catalogue-and-metering §4.1 */
export async function filtersOfPrices(tx: Transaction, lines: readonly InvoiceLineItem[]) {
  const ids = lines.flatMap((line) => line.priceId ?? []);
  const prices = await tx.em.find(Price, { environmentId: tx.scope.environmentId, id: { $in: ids } });
  return new Map(prices.map((price) => [price.id, price.filterValues ?? null]));
}

/** An empty time asked nothing and has nothing late. */
function windowsOf(
  lineId: string,
  { parts }: Derivation,
  { inherited, ...asked }: Pick<BilledWindow, 'customerId' | 'inherited' | 'filters'>,
): BilledWindow[] {
  return parts.flatMap(({ usage }, part) => {
    if (!usage?.watermark || usage.from >= usage.to) return [];
    const { meterId, from, to, watermark, bucketing = null } = usage;
    const others = withInherited(inherited, { from, to });
    return [{ key: `${lineId} ${part}`, meterId, from, to, watermark, bucketing, ...asked, ...others }];
  });
}

/**
 * The parts of a line together. Times with the same start lie one in the other, as those of a meter that never resets do:
 * the longest of them counts their events.
 */
function lateUsageOf(windows: readonly BilledWindow[], answers: ReadonlyMap<string, LateUsage>): LateUsage {
  const late = windows.flatMap(({ key, from }) => {
    const answer = answers.get(key);
    return answer ? [{ from, ...answer }] : [];
  });
  const nested = [...Map.groupBy(late, ({ from }) => from).values()];
  const countOf = (read: (answer: LateUsage) => number) =>
    nested.reduce((total, answers) => total + Math.max(...answers.map(read)), 0);
  return {
    eventCount: countOf(({ eventCount }) => eventCount),
    voidedCount: countOf(({ voidedCount }) => voidedCount),
    quantity: decimalString(sum(late.map(({ quantity }) => decimal(quantity)))),
  };
}
