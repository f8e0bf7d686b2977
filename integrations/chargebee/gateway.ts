import type { PaymentGateway, Refunds } from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { type ChargebeeOptions, chargebeeClient } from './client.ts';
import { chargebeeLinks } from './link.ts';
import { chargebeeRefunds } from './refund.ts';

export interface ChargebeeGateway extends PaymentGateway {
  readonly links: PaymentLinks;
  readonly refunds: Refunds;
}

/**
 * Chargebee over the site of one connection: its pages for one payment, and refunds. Methods are neither saved nor charged. It keeps
 * nothing open. docs: providers.md
 */
export function openChargebeeGateway(options: ChargebeeOptions): ChargebeeGateway {
  const client = chargebeeClient(options);
  return { name: 'chargebee', links: chargebeeLinks(client), refunds: chargebeeRefunds(client) };
}
