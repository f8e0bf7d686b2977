import type { FastifyRequest } from 'fastify';
import type { NewSubscription } from '../../billing/subscription/new-subscription.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import {
  draftChangeCheckout,
  draftSubscriptionCheckout,
  NothingToPay,
  type OrderedChange,
} from '../../services/payment/checkout/checkout-draft.ts';
import type { CheckoutRequest } from '../../services/payment/checkout/checkout-insert.ts';
import type { CheckoutOwner } from '../../services/payment/checkout/checkout-owner.ts';
import type { CheckoutInput } from '../payment/checkout.schema.ts';
import { checkoutRequestOf, openAtProvider } from '../payment/checkout-workflow.ts';
import { subscriptionObject } from './subscription-object.ts';

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

/**
 * Drafts a change of a subscription with the session that pays it, and opens that; gives the session's id. Null when nothing is to be
 * paid at once: nothing was made then, and the change is to be made without a session. spec: wallets-and-payments §2.17 Gating
 */
export async function openChangeCheckout(
  request: FastifyRequest,
  checkout: CheckoutInput,
  input: { subscriptionId: string; change: OrderedChange; configuration: Record<string, unknown> },
): Promise<string | null> {
  const session = await checkoutRequestOf(
    request,
    checkout,
    input.change.action === 'add_addon' ? 'if_automatic' : 'never',
  );
  const readUsage = usageReader(request.server.dependencies.metering);
  const owner = await request.transaction((tx) => subscriptionObject(tx, input.subscriptionId));
  const { customerId, testClockId, at } = owner;
  const order = { ...input, owner: { customerId, testClockId, at } };
  try {
    await request.transaction((tx) => draftChangeCheckout(tx, session, order, readUsage));
  } catch (error) {
    if (error instanceof NothingToPay) return null;
    throw error;
  }
  await openAtProvider(request, session.sessionId, order.owner);
  return session.sessionId;
}
