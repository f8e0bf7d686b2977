import { refuse } from '../../billing/refusal.ts';
import type { InheritanceChange } from '../../billing/subscription-change.ts';
import type { Scope } from '../scope.ts';
import type { Sql } from '../transaction.ts';
import type { UsageReader } from '../usage-reader.ts';
import { lockCaughtUp } from './subscription-catch-up.ts';
import { type ChangeOrder, carryOut, type Decided, nothingMade } from './subscription-change.ts';
import { inheritSubscription, removeHeirs } from './subscription-inheritance.ts';
import type { AttendedSubscription } from './subscription-snapshot.ts';

const addedField = 'inheritance_params.external_customer_ids_to_inherit_subscription';
const removedField = 'inheritance_params.external_customer_ids_to_remove';

/**
 * Lets customers inherit a subscription from now on, or no longer from the end of its current period. What is so already changes
 * nothing. Throws what `inheritSubscription` and `removeHeirs` throw. spec: subscriptions-and-invoicing §1.8 inheritance, §2.13
 */
export async function changeInheritance(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder,
  input: InheritanceChange,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  await lockCaughtUp(sql, scope, order, readUsage);
  return carryOut(sql, scope, order, input, async (before, at): Promise<Decided | null> => {
    const adds = input.action === 'add';
    const { externalIds } = input;
    const wanted = { externalIds, at, field: adds ? addedField : removedField, parentField: 'id' };
    if (!adds) refuseEnded(before);
    const change = adds ? inheritSubscription : removeHeirs;
    const ids = await change(sql, scope, before, wanted);
    if (ids.length === 0) return null;
    return {
      ...nothingMade(),
      row: adds ? { ...before, subscriptionType: 'parent', inHierarchy: true } : before,
      kind: 'inheritance_changed',
      action: adds ? 'children added' : 'children removed',
      effectiveAt: adds ? at : before.currentPeriodEnd,
      events: [],
      subscriptionIds: ids,
      detail: { child_subscription_ids: ids },
    };
  });
}

function refuseEnded({ id, status }: { id: string; status: string }): void {
  if (status !== 'cancelled' && status !== 'draft') return;
  const problem = `names subscription ${id}, which is ${status}; children leave one that is running`;
  throw refuse('validation_error', `id ${problem}`, { fields: { id: problem } });
}
