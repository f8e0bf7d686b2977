import type { ProviderAdapter } from '../provider-adapter.ts';
import { stripeAccount } from './account.ts';
import { stripeClient } from './client.ts';
import { openStripeGateway } from './gateway.ts';
import { listStripeEvents, stripeNotifications } from './notification.ts';

/** Stripe as a provider; `baseUrl` is another address than its own: that of a fake. */
export function stripeAdapter(baseUrl?: string): ProviderAdapter {
  return {
    name: 'stripe',
    refunds: true,
    links: true,
    savesMethods: true,
    open: ({ secret_key = '', account_id = null }) =>
      openStripeGateway({ secretKey: secret_key, accountId: account_id, baseUrl }),
    account: (secrets) => stripeAccount(secrets, baseUrl),
    notifications: stripeNotifications,
    events: ({ secret_key = '', account_id = null }, since) =>
      listStripeEvents(stripeClient({ secretKey: secret_key, accountId: account_id, baseUrl }), since),
  };
}
