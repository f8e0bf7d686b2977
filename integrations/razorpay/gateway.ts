import type { PaymentGateway, Refunds, SavedMethods, TwoStepCharges } from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { razorpayCharges } from './charge.ts';
import { type RazorpayOptions, razorpayClient } from './client.ts';
import { razorpayLinks } from './link.ts';
import { razorpayRefunds } from './refund.ts';

export interface RazorpayGateway extends PaymentGateway {
  readonly charges: TwoStepCharges;
  readonly links: PaymentLinks;
  readonly methods: SavedMethods;
  readonly refunds: Refunds;
}

/** Never: a charge that was sent is not sent again, since nothing of Razorpay's proves that it cannot arrive any more. design: money-in-checkout §A2 */
const settledMs = Number.POSITIVE_INFINITY;

/**
 * Razorpay over the account of one connection: payment links, mandates that are charged without their payer, and refunds. Mandates are made
 * on Razorpay's own page alone. It keeps nothing open. docs: providers.md
 */
export function openRazorpayGateway(options: RazorpayOptions & { settledMs?: number }): RazorpayGateway {
  const client = razorpayClient(options);
  return {
    name: 'razorpay',
    charges: razorpayCharges(client, options.settledMs ?? settledMs),
    links: razorpayLinks(client),
    methods: {},
    refunds: razorpayRefunds(client),
  };
}
