import type { PaymentGateway, Refunds } from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { type RazorpayOptions, razorpayClient } from './client.ts';
import { razorpayLinks } from './link.ts';
import { razorpayRefunds } from './refund.ts';

export interface RazorpayGateway extends PaymentGateway {
  readonly links: PaymentLinks;
  readonly refunds: Refunds;
}

/**
 * Razorpay over the account of one connection: payment links and refunds. A link keeps no card, so nothing can be charged without its payer.
 * It keeps nothing open. docs: providers.md
 */
export function openRazorpayGateway(options: RazorpayOptions): RazorpayGateway {
  const client = razorpayClient(options);
  return { name: 'razorpay', links: razorpayLinks(client), refunds: razorpayRefunds(client) };
}
