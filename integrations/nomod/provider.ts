import { z } from 'zod';
import { outbound, type Provider } from '../provider.ts';
import { requiredSecret, webhookSecret } from '../provider-secret.ts';
import { nomodAdapter } from './adapter.ts';

/** Nomod. docs: providers.md */
export const nomod: Provider = {
  name: 'nomod',
  title: 'Nomod',
  secrets: z.object({ api_key: requiredSecret(), ...webhookSecret() }),
  exchanges: { customer: outbound, invoice: outbound },
  adapter: nomodAdapter,
};
