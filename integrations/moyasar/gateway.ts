import type { PaymentGateway, Refunds, SavedMethods, TwoStepCharges } from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { moyasarCharges } from './charge.ts';
import { type MoyasarOptions, moyasarClient } from './client.ts';
import { moyasarLinks } from './link.ts';
import { moyasarRefunds } from './refund.ts';

export interface MoyasarGateway extends PaymentGateway {
  readonly charges: TwoStepCharges;
  readonly links: PaymentLinks;
  readonly methods: SavedMethods;
  readonly refunds: Refunds;
}

/** Time after which a request that was sent cannot arrive any more. */
const settledMs = 10 * 60_000;

/**
 * Moyasar over the account of one connection: pages of its invoices, cards that are saved on our page, charged without their payer, and
 * refunds. It keeps nothing open. docs: providers.md
 */
export function openMoyasarGateway(
  options: MoyasarOptions & { publishableKey?: string | null; settledMs?: number },
): MoyasarGateway {
  const client = moyasarClient(options);
  return {
    name: 'moyasar',
    charges: moyasarCharges(client),
    links: moyasarLinks(client, options),
    methods: {},
    refunds: moyasarRefunds(client, options.settledMs ?? settledMs),
  };
}
