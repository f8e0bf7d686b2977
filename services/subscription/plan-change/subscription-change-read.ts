import type { Preview } from '../../../billing/line/binding-preview.ts';
import type { Sql } from '../../../db/transaction.ts';
import { lockChildren } from '../../charging/subscription-family.ts';
import { lockSubscriptions, type SubscriptionRow } from '../../charging/subscription-row.ts';
import { childrenRead, pricesDigest } from '../../lifecycle/preview-digest.ts';

/** What a change looks at besides its own subscription and the children of it. */
export interface Beside {
  /** The subscription that the changed one joins or leaves; locked. */
  parent?: SubscriptionRow;
  /** Subscriptions that join or leave the changed one. */
  childIds?: readonly string[];
}

/**
 * The versions of what a change reads: the subscription, which is locked, its children, inherited and invoiced with it, whoever joins or
 * leaves, and the prices of them all and of the plan it goes to. docs: previews.md
 */
export async function changeRead(
  sql: Sql,
  environmentId: string,
  before: SubscriptionRow,
  { parent, childIds = [] }: Beside = {},
  targetPlanId?: string,
): Promise<Preview['read']> {
  const parentIds = before.inHierarchy ? [before.id] : [];
  const inherited = await lockChildren(sql, environmentId, parentIds, 'inherited');
  const grouped = await lockChildren(sql, environmentId, parentIds, 'grouped_invoicing');
  const own = new Map([...inherited, ...grouped].map((row) => [row.id, row]));
  const named = childIds.filter((id) => !own.has(id));
  const joining = named.length === 0 ? [] : (await lockSubscriptions(sql, environmentId, named)).values();
  const children = [...own.values(), ...joining];
  const ids = [before, ...children, ...(parent ? [parent] : [])].map(({ id }) => id);
  return {
    subscription: before.version,
    prices: await pricesDigest(sql, environmentId, ids, targetPlanId ? [targetPlanId] : []),
    ...childrenRead(children),
    ...(parent ? { parent: parent.version } : {}),
  };
}
