import type { PaymentGateway, Refunds } from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { type MoyasarOptions, moyasarClient } from './client.ts';
import { moyasarLinks } from './link.ts';
import { moyasarRefunds } from './refund.ts';

export interface MoyasarGateway extends PaymentGateway {
  readonly links: PaymentLinks;
  readonly refunds: Refunds;
}

/** Time after which a request that was sent cannot arrive any more. */
const settledMs = 10 * 60_000;

/**
 * Moyasar over the account of one connection: pages of its invoices, and refunds. Methods are neither saved nor charged. It keeps
 * nothing open. docs: providers.md
 */
export function openMoyasarGateway(options: MoyasarOptions & { settledMs?: number }): MoyasarGateway {
  const client = moyasarClient(options);
  return {
    name: 'moyasar',
    links: moyasarLinks(client),
    refunds: moyasarRefunds(client, options.settledMs ?? settledMs),
  };
}
