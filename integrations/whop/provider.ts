import { z } from 'zod';
import { outbound, type Provider } from '../provider.ts';
import { optionalSecret, requiredSecret, webhookSecret } from '../provider-secret.ts';
import { whopAdapter } from './adapter.ts';

/** Whop. docs: providers.md */
export const whop: Provider = {
  name: 'whop',
  title: 'Whop',
  secrets: z.object({
    api_key: requiredSecret(),
    company_id: requiredSecret(),
    product_id: optionalSecret(),
    ...webhookSecret(),
  }),
  exchanges: { customer: outbound, invoice: outbound },
  adapter: whopAdapter,
};
