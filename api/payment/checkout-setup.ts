import type { FastifyRequest } from 'fastify';
import type { CheckoutSession } from '../../db/entities/payment/checkout-session.ts';
import { findCustomer } from '../../services/customer/customer.ts';
import { readCustomerPresent } from '../../services/customer/customer-present.ts';
import { findCheckout } from '../../services/payment/checkout/checkout-read.ts';
import { draftSetup } from '../../services/payment/checkout/checkout-setup.ts';
import { checkoutRequestOf, openAtProvider, pageUrlOf } from './checkout-workflow.ts';

/** Wishes of whoever has a method saved. */
export interface SetupWishes {
  provider: string;
  usage?: 'off_session' | 'on_session' | null | undefined;
  success_url?: string | null | undefined;
  failure_url?: string | null | undefined;
  cancel_url?: string | null | undefined;
  set_default?: boolean | null | undefined;
  metadata?: Record<string, string> | null | undefined;
}

/**
 * Opens a payment page on which a customer saves a method and pays nothing; answers its session and its address. Throws `not_found`,
 * `invalid_operation` for an archived customer and a provider that opens no pages, and what the provider refuses.
 * spec: wallets-and-payments §1.5; design: money-in §3 Setup mode
 */
export async function openSetup(
  request: FastifyRequest,
  customerId: string,
  wishes: SetupWishes,
): Promise<{ row: CheckoutSession; url: string | null }> {
  const { provider, usage, set_default: isDefault, ...rest } = wishes;
  const asked = await checkoutRequestOf(request, { ...rest, payment_provider: provider }, 'alone');
  const session = {
    ...asked,
    providerConfig: {
      ...asked.providerConfig,
      usage: usage ?? 'off_session',
      ...(isDefault ? { set_default: 'true' } : {}),
    },
  };
  const owner = await request.transaction(async (tx) => {
    await findCustomer(tx, customerId);
    const { testClockId, at } = await readCustomerPresent(tx, tx.scope, { customer_id: customerId });
    const owner = { customerId, testClockId, at };
    await draftSetup(tx, session, owner);
    return owner;
  });
  await openAtProvider(request, session.sessionId, owner);
  const row = await request.transaction((tx) => findCheckout(tx, session.sessionId));
  return { row, url: pageUrlOf(request, row) };
}
