import { z } from 'zod';
import { outbound, type Provider } from '../provider.ts';
import { requiredSecret, webhookSecret } from '../provider-secret.ts';
import { razorpayAdapter } from './adapter.ts';

/** Razorpay. docs: providers.md */
export const razorpay: Provider = {
  name: 'razorpay',
  title: 'Razorpay',
  secrets: z.object({ key_id: requiredSecret(), secret_key: requiredSecret(), ...webhookSecret() }),
  tellsMode: [{ member: 'key_id', test: /^rzp_test_/, live: /^rzp_live_/ }],
  exchanges: { customer: outbound, invoice: outbound },
  adapter: razorpayAdapter,
};
