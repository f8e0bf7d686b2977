import type { PaymentGateway, Refunds } from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { type PaddleOptions, paddleClient } from './client.ts';
import { paddleLinks } from './link.ts';
import { paddleRefunds } from './refund.ts';

export interface PaddleGateway extends PaymentGateway {
  readonly links: PaymentLinks;
  readonly refunds: Refunds;
}

/**
 * Paddle over the account of one connection: transactions that are paid on our page by Paddle's script, and refunds. Methods are neither
 * saved nor charged. It keeps nothing open. docs: providers.md
 */
export function openPaddleGateway(options: PaddleOptions & { clientToken: string | null }): PaddleGateway {
  const client = paddleClient(options);
  return { name: 'paddle', links: paddleLinks(client, options), refunds: paddleRefunds(client) };
}
