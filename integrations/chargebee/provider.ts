import { z } from 'zod';
import { outbound, type Provider } from '../provider.ts';
import { requiredSecret } from '../provider-secret.ts';
import { chargebeeAdapter } from './adapter.ts';

/** Chargebee. docs: providers.md */
export const chargebee: Provider = {
  name: 'chargebee',
  title: 'Chargebee',
  secrets: z.object({
    site: requiredSecret().regex(
      /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i,
      'must be the name of the site alone, as acme-test',
    ),
    api_key: requiredSecret(),
    webhook_username: requiredSecret().regex(/^[^:]*$/, 'must have no colon, which ends a user name in HTTP'),
    webhook_password: requiredSecret(),
  }),
  tellsMode: [
    { member: 'api_key', test: /^test_/, live: /^live_/ },
    { member: 'site', test: /-test$/i, live: /(?!)/, kind: 'site' },
  ],
  exchanges: { customer: outbound, invoice: outbound },
  adapter: chargebeeAdapter,
};
