import type { PaymentGateway, Refunds, SavedMethods, TwoStepCharges } from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { whopCharges } from './charge.ts';
import { type WhopOptions, whopClient } from './client.ts';
import { whopLinks } from './link.ts';
import { whopRefunds } from './refund.ts';

export interface WhopGateway extends PaymentGateway {
  readonly charges: TwoStepCharges;
  readonly links: PaymentLinks;
  readonly methods: SavedMethods;
  readonly refunds: Refunds;
}

/** Never: a charge that was sent is not sent again, since nothing of Whop's proves that it cannot arrive any more. design: money-in-checkout §A2 */
const settledMs = Number.POSITIVE_INFINITY;

/**
 * Whop over the account of one connection: pages of its checkout configurations, cards charged without their payer, refunds. Cards are
 * saved on Whop's own page alone. It keeps nothing open. docs: providers.md
 */
export function openWhopGateway(options: WhopOptions & { settledMs?: number }): WhopGateway {
  const client = whopClient(options);
  const sentOnceFor = options.settledMs ?? settledMs;
  return {
    name: 'whop',
    charges: whopCharges(client, sentOnceFor),
    links: whopLinks(client),
    methods: {},
    refunds: whopRefunds(client, sentOnceFor),
  };
}
