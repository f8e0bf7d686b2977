import type { Sql } from '../../../db/transaction.ts';
import type { BilledLine } from '../../charging/subscription-charge.ts';
import { lockChildren } from '../../charging/subscription-family.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import type { InvoiceTerms } from '../terms/invoice-terms.ts';

/** The live children that subscriptions are invoiced with, locked. spec: subscriptions-and-invoicing §2.13 */
export async function groupedChildren(
  sql: Sql,
  environmentId: string,
  parents: readonly SubscriptionRow[],
): Promise<SubscriptionRow[]> {
  const ids = parents.filter(({ inHierarchy }) => inHierarchy).map(({ id }) => id);
  return lockChildren(sql, environmentId, ids, 'grouped_invoicing');
}

/** Lines of a child as they stand on its parent's invoice. spec: subscriptions-and-invoicing §2.6.4 */
export function mergedLines(child: SubscriptionRow, planName: string, lines: readonly BilledLine[]): BilledLine[] {
  return lines.map((line) => mergedLine(child, planName, line));
}

/** A line of a child as it stands on its parent's invoice. spec: subscriptions-and-invoicing §2.6.4 */
export function mergedLine(child: SubscriptionRow, planName: string, line: BilledLine): BilledLine {
  const metadata = { ...line.metadata, child_customer_id: child.customerId };
  return { ...line, child: { subscription: child, planName }, metadata };
}

/** The subscriptions that have lines on the invoice of another one. */
export function childIdsOf(invoice: {
  subscription_id: string | null;
  lines: readonly { subscriptionId?: string | null }[];
}): string[] {
  const { subscription_id: own, lines } = invoice;
  const ids = own === null ? [] : lines.flatMap(({ subscriptionId }) => subscriptionId ?? []);
  return [...new Set(ids)].filter((id) => id !== own);
}

/** The terms of an invoice on which children have lines: their coupons count for those. spec: subscriptions-and-invoicing §2.13 */
export function termsWithChildren(
  terms: ReadonlyMap<string, InvoiceTerms>,
  parentId: string,
  children: readonly Pick<SubscriptionRow, 'id' | 'planId' | 'customerId'>[],
): InvoiceTerms | undefined {
  const own = terms.get(parentId);
  if (!own || children.length === 0) return own;
  return {
    ...own,
    children: children.map(({ id, planId, customerId }) => ({
      subscriptionId: id,
      planId,
      customerId,
      coupons: terms.get(id)?.coupons ?? [],
    })),
  };
}
