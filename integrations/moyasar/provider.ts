import { z } from 'zod';
import { outbound, type Provider } from '../provider.ts';
import { optionalSecret, requiredSecret, webhookSecret } from '../provider-secret.ts';
import { moyasarAdapter } from './adapter.ts';

/** Moyasar. docs: providers.md */
export const moyasar: Provider = {
  name: 'moyasar',
  title: 'Moyasar',
  secrets: z.object({ secret_key: requiredSecret(), publishable_key: optionalSecret(), ...webhookSecret() }),
  tellsMode: [{ member: 'secret_key', test: /^sk_test_/, live: /^sk_live_/ }],
  exchanges: { invoice: outbound },
  adapter: moyasarAdapter,
};
