import type { Disputes, PaymentGateway, Refunds, SavedMethods, TwoStepCharges } from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { stripeCharges } from './charge.ts';
import { type StripeOptions, stripeClient } from './client.ts';
import { stripeDisputes } from './dispute.ts';
import { stripeLinks } from './link.ts';
import { stripeRefunds } from './refund.ts';

export interface StripeGateway extends PaymentGateway {
  readonly charges: TwoStepCharges;
  readonly links: PaymentLinks;
  readonly methods: SavedMethods;
  readonly refunds: Refunds;
  readonly disputes: Disputes;
}

/**
 * Stripe over the account of one connection: hosted checkout, cards charged without their payer, refunds. Cards are saved on Stripe's own
 * page alone. It keeps nothing open. docs: providers.md
 */
export function openStripeGateway(options: StripeOptions): StripeGateway {
  const client = stripeClient(options);
  return {
    name: 'stripe',
    charges: stripeCharges(client),
    links: stripeLinks(client),
    methods: {},
    refunds: stripeRefunds(client),
    disputes: stripeDisputes(client),
  };
}
