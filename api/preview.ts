import type { FastifyRequest } from 'fastify';
import { missing } from '../db/rows/record.ts';
import type { Transaction } from '../db/transaction.ts';
import type { AttendedSubscription } from '../services/charging/subscription-snapshot.ts';
import type { ChangeOrder, ChangeOutcome } from '../services/subscription/plan-change/subscription-change.ts';
import { findChange } from '../services/subscription/plan-change/subscription-change.ts';
import { rehearse } from './rehearsal.ts';

/** A change that is previewed: carried out, shown, and undone. */
export async function previewChange<View>(
  request: Pick<FastifyRequest, 'transaction' | 'newId'>,
  { id, at }: { id: string; at: string },
  change: (tx: Transaction, order: ChangeOrder) => Promise<AttendedSubscription>,
  view: (tx: Transaction, outcome: ChangeOutcome & { effectiveAt: string }) => Promise<View>,
): Promise<View> {
  return rehearse(request, async (tx) => {
    const order = { changeId: request.newId('subs_change'), subscriptionId: id, at, previews: true };
    await change(tx, order);
    return view(tx, await outcomeOf(tx, order.changeId));
  });
}

/** What a change made that was just carried out. */
export async function outcomeOf(tx: Transaction, changeId: string) {
  const outcome = await findChange(tx, tx.scope.environmentId, changeId);
  if (!outcome) throw missing('change', changeId);
  return outcome;
}
