import { z } from 'zod';
import type { CheckoutSession } from '../../db/entities/payment/checkout-session.ts';
import type { PaymentMethod } from '../../db/entities/payment/payment-method.ts';
import { metadataInput } from '../scalars.schema.ts';
import { returnUrl } from './checkout.schema.ts';

const provider = z.string().min(1).max(50);

/** spec: wallets-and-payments §1.5 Setup intent */
export const setupIntentBody = z
  .object({
    provider,
    usage: z.enum(['off_session', 'on_session']).nullish(),
    payment_method_types: z
      .array(z.literal('card', { error: 'must be card' }))
      .max(1)
      .nullish(),
    success_url: returnUrl.nullish(),
    cancel_url: returnUrl.nullish(),
    set_default: z.boolean().nullish(),
    metadata: metadataInput().nullish(),
  })
  .meta({ examples: [{ provider: 'sandbox', success_url: 'https://shop.example/cards' }] });

const seconds = z.int().describe('Unix seconds.');

export const setupIntent = z
  .object({
    setup_intent_id: z.string(),
    checkout_session_id: z.string(),
    checkout_url: z.string().nullable(),
    client_secret: z.null().describe('Always null: methods are saved on a payment page.'),
    status: z.enum(['requires_payment_method', 'succeeded', 'canceled']),
    usage: z.string(),
    customer_id: z.string(),
    created_at: seconds,
    expires_at: seconds,
  })
  .meta({ id: 'SetupIntentResponse' });

/** A setup session as the setup intent it is. */
export function viewSetupIntent(row: CheckoutSession, url: string | null): z.output<typeof setupIntent> {
  return {
    setup_intent_id: row.providerSessionId ?? row.id,
    checkout_session_id: row.id,
    checkout_url: url,
    client_secret: null,
    status: statuses[row.checkoutStatus] ?? 'canceled',
    usage: row.providerConfig.usage ?? 'off_session',
    customer_id: row.customerId,
    created_at: secondsOf(row.openedAt),
    expires_at: secondsOf(row.expiresAt),
  };
}

const statuses: Record<string, 'requires_payment_method' | 'succeeded'> = {
  initiated: 'requires_payment_method',
  pending: 'requires_payment_method',
  completed: 'succeeded',
};

function secondsOf(instant: string): number {
  return Math.floor(Date.parse(instant) / 1000);
}

export const savedMethodsQuery = z.object({
  provider: provider.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  starting_after: z.string().min(1).max(255).optional().describe('Id of a method: the page begins after it.'),
  ending_before: z.string().min(1).max(255).optional().describe('Id of a method: the page ends before it.'),
});

export const savedMethod = z.object({
  id: z.string(),
  provider: z.string(),
  type: z.string(),
  status: z.enum(['ACTIVE', 'INACTIVE', 'EXPIRED']),
  card: z.object({
    brand: z.string(),
    last4: z.string(),
    exp_month: z.int().nullable(),
    exp_year: z.int().nullable(),
  }),
  is_default: z.boolean(),
  can_auto_charge: z.boolean().describe('Whether it may be charged without its payer.'),
});

const savedMethodPage = z.object({ data: z.array(savedMethod), has_more: z.boolean(), total_count: z.int() });

/** A page of methods by the name of its provider. spec: wallets-and-payments §1.5 */
export const savedMethods = z.record(z.string(), savedMethodPage).meta({ id: 'CustomerPaymentMethodsResponse' });

/** A method as its customer sees it: never the provider's token. An INACTIVE one was detached. */
export function viewSavedMethod(row: PaymentMethod): z.output<typeof savedMethod> {
  const isActive = row.status === 'published';
  return {
    id: row.id,
    provider: row.gateway,
    type: row.type,
    status: isActive ? 'ACTIVE' : 'INACTIVE',
    card: { brand: row.brand, last4: row.lastFour, exp_month: null, exp_year: null },
    is_default: row.isDefault,
    can_auto_charge: isActive && row.usage === 'off_session',
  };
}
