import type { PaymentGateway, Refunds } from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { type NomodOptions, nomodClient } from './client.ts';
import { nomodLinks } from './link.ts';
import { nomodRefunds } from './refund.ts';

export interface NomodGateway extends PaymentGateway {
  readonly links: PaymentLinks;
  readonly refunds: Refunds;
}

/**
 * Nomod over the account of one connection: pages of its Hosted Checkout, and refunds. Methods are neither saved nor charged. It keeps
 * nothing open. docs: providers.md
 */
export function openNomodGateway(options: NomodOptions): NomodGateway {
  const client = nomodClient(options);
  return { name: 'nomod', links: nomodLinks(client), refunds: nomodRefunds(client) };
}
