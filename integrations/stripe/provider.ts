import { z } from 'zod';
import { bothWays, outbound, type Provider } from '../provider.ts';
import { optionalSecret, requiredSecret, webhookSecret } from '../provider-secret.ts';
import { stripeAdapter } from './adapter.ts';

/** Stripe. docs: providers.md */
export const stripe: Provider = {
  name: 'stripe',
  title: 'Stripe',
  secrets: z.object({
    publishable_key: requiredSecret(),
    secret_key: requiredSecret(),
    ...webhookSecret(),
    account_id: optionalSecret(),
  }),
  tellsMode: [{ member: 'secret_key', test: /^(sk|rk)_test_/, live: /^(sk|rk)_live_/ }],
  exchanges: { customer: bothWays, invoice: outbound },
  adapter: stripeAdapter,
};
