import { customerNow } from '../../db/clock.ts';
import type { Transaction } from '../../db/transaction.ts';
import { subscriptionOwner } from '../../services/subscription/read/subscription-read.ts';

/** A subscription as the object of a command, on its customer's clock. Throws `not_found`. */
export async function subscriptionObject(tx: Transaction, id: string) {
  const { customerId, testClockId } = await subscriptionOwner(tx, id);
  return { kind: 'subscription' as const, id, customerId, testClockId, at: await customerNow(tx, customerId) };
}
