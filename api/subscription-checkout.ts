import type { FastifyRequest } from 'fastify';
import type { NewSubscription } from '../billing/new-subscription.ts';
import { type CheckoutOwner, draftSubscriptionCheckout, NothingToPay } from '../db/stores/checkout/checkout-draft.ts';
import type { CheckoutRequest } from '../db/stores/checkout/checkout-insert.ts';
import { usageReader } from '../metering/usage-reader.ts';
import { openAtProvider } from './checkout-workflow.ts';

/**
 * Drafts a subscription with the session that pays it, and opens that. False when nothing is to be paid at once: nothing was made then.
 * spec: wallets-and-payments §2.17 Gating
 */
export async function openSubscriptionCheckout(
  request: FastifyRequest,
  session: CheckoutRequest,
  input: { subscription: NewSubscription; configuration: Record<string, unknown>; owner: CheckoutOwner },
): Promise<boolean> {
  const readUsage = usageReader(request.server.dependencies.metering);
  try {
    await request.transaction((tx) => draftSubscriptionCheckout(tx, session, input, readUsage));
  } catch (error) {
    if (error instanceof NothingToPay) return false;
    throw error;
  }
  await openAtProvider(request, session.sessionId, input.owner);
  return true;
}
