import type { PaymentGateway, Refunds, SavedMethods, TwoStepCharges } from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { chargebeeCharges } from './charge.ts';
import { type ChargebeeOptions, chargebeeClient } from './client.ts';
import { chargebeeLinks } from './link.ts';
import { chargebeeRefunds } from './refund.ts';

export interface ChargebeeGateway extends PaymentGateway {
  readonly charges: TwoStepCharges;
  readonly links: PaymentLinks;
  readonly methods: SavedMethods;
  readonly refunds: Refunds;
}

/**
 * Chargebee over the site of one connection: its pages for one payment or for a card, cards charged without their payer, and refunds. It
 * keeps nothing open. docs: providers.md
 */
export function openChargebeeGateway(options: ChargebeeOptions): ChargebeeGateway {
  const client = chargebeeClient(options);
  return {
    name: 'chargebee',
    charges: chargebeeCharges(client),
    links: chargebeeLinks(client),
    methods: {},
    refunds: chargebeeRefunds(client),
  };
}
