import type { ProrationAction } from '../line/proration.ts';
import { type Decimal, decimal, greatest, least, zero } from '../money/money.ts';

/** The setting `proration_credit_destination` (own). */
export const creditDestinations = ['auto', 'wallet', 'next_invoice'] as const;
export type CreditDestination = (typeof creditDestinations)[number];

/** A change that gives something back, as far as the way of it depends on it. */
export interface CreditedChange {
  action: ProrationAction;
  /** Whether the subscription has a usage charge after the change. */
  hasUsage: boolean;
}

/**
 * Where the credit of a change goes: to the prepaid wallet, whose credits pay for usage, or onto the next invoice as a line below
 * zero. `auto` takes the wallet where there is usage to pay and the next invoice where nothing could use the wallet. An end has no
 * next invoice, and what a pause gives back is wallet credit whatever the setting says.
 * spec: README decision 50; subscriptions-and-invoicing §2.8.3, §2.11, §2.12
 */
export function creditDestination(setting: CreditDestination, change: CreditedChange): 'wallet' | 'next_invoice' {
  if (change.action === 'cancellation' || change.action === 'pause') return 'wallet';
  if (setting !== 'auto') return setting;
  return change.hasUsage ? 'wallet' : 'next_invoice';
}

/**
 * How much of a credit an invoice uses: at most what its other lines come to after their discounts (`nets`), so that the total is
 * not below zero and the rest stays for the invoice after it. All in the invoice's currency, rounded. spec: README decision 50
 */
export function usedCredit(left: string, nets: readonly Decimal[]): Decimal {
  const room = nets.reduce((all, net) => all.plus(net), zero);
  return least(greatest(decimal(left), zero), greatest(room, zero));
}

/** What a change gave back, whichever way, as the audit tells it; nothing where it is zero. */
export function creditedBy({ returned, carried }: { returned: string; carried: string }): { credited?: string } {
  const credited = decimal(returned).plus(carried);
  return credited.isZero() ? {} : { credited: credited.toFixed() };
}
