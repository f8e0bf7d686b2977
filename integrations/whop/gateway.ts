import type { PaymentGateway, Refunds } from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { type WhopOptions, whopClient } from './client.ts';
import { whopLinks } from './link.ts';
import { whopRefunds } from './refund.ts';

export interface WhopGateway extends PaymentGateway {
  readonly links: PaymentLinks;
  readonly refunds: Refunds;
}

/** A refund that was sent is not sent again: nothing of Whop's proves that it cannot arrive any more. design: money-in-checkout §A2 */
const settledMs = Number.POSITIVE_INFINITY;

/**
 * Whop over the account of one connection: pages of its checkout configurations, and refunds. Methods are neither saved nor charged. It
 * keeps nothing open. docs: providers.md
 */
export function openWhopGateway(options: WhopOptions & { settledMs?: number }): WhopGateway {
  const client = whopClient(options);
  return { name: 'whop', links: whopLinks(client), refunds: whopRefunds(client, options.settledMs ?? settledMs) };
}
