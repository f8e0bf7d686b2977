import { z } from 'zod';
import { bothWays, type Provider } from '../provider.ts';
import { optionalSecret, requiredSecret, webhookSecret } from '../provider-secret.ts';
import { paddleAdapter } from './adapter.ts';

/** Paddle. docs: providers.md */
export const paddle: Provider = {
  name: 'paddle',
  title: 'Paddle',
  secrets: z.object({ api_key: requiredSecret(), ...webhookSecret(), client_side_token: optionalSecret() }),
  tellsMode: [{ member: 'api_key', test: /^pdl_sdbx_/, live: /^pdl_live_/ }],
  exchanges: { customer: bothWays, invoice: bothWays },
  adapter: paddleAdapter,
};
