import { GatewayOutcomeUnknown } from '../payment-gateway.ts';

/** Members of Nomod's objects that are read here, by the published pages of its Hosted Checkout. */

/** An attempt to pay a checkout. */
export interface NomodCharge {
  id: string;
  /** Whole units of the checkout's currency. */
  amount: number | string;
  payment_time: string | null;
  /** `authorised`, `paid` and what Nomod does not list. */
  status: string;
}

export interface NomodCheckout {
  id: string;
  url: string;
  /** `created`, `cancelled`, `expired` or `paid`. */
  status: string;
  /** Upper case. */
  currency: string;
  created_at: string;
  charges: NomodCharge[] | null;
}

/** A charge by Nomod's Charges interface, which says what went back of it. */
export interface NomodChargeDetail {
  id: string;
  /** `refunded`, `partially_refunded` and others. */
  status: string;
  /** Whole units of its currency. */
  refund_total: number | string | null;
  /** Absent where one charge is shown. */
  refunds?: { created: string }[] | null;
}

/** A page of charges. */
export interface NomodCharges {
  results: NomodChargeDetail[];
  next: string | null;
}

export interface NomodRefund {
  refund_id: string;
  charge_id: string;
  /** `pending`, `completed` or `failed`. */
  status: string;
}

/** Throws `GatewayOutcomeUnknown` for an answer that lacks what a checkout is known by. */
export function complete(checkout: NomodCheckout): NomodCheckout {
  const { id, url, status, currency, created_at, charges } = checkout;
  const isWhole =
    [id, url, status, currency].every((text) => typeof text === 'string' && text !== '') &&
    !Number.isNaN(Date.parse(created_at)) &&
    (charges ?? []).every((charge) => typeof charge.id === 'string' && /^\d+(\.\d+)?$/.test(String(charge.amount)));
  if (!isWhole) throw new GatewayOutcomeUnknown('nomod answered with a checkout that is not whole');
  return checkout;
}

/** Sum that went back of a charge. Throws `GatewayOutcomeUnknown` for an answer that does not tell it. */
export function refundTotalOf({ id, refund_total }: NomodChargeDetail): string {
  const total = String(refund_total ?? 0);
  if (!/^\d+(\.\d+)?$/.test(total)) throw new GatewayOutcomeUnknown(`nomod does not say what went back of ${id}`);
  return total;
}

/**
 * The name of a charge by which it is refunded, because Nomod refunds by the checkout: the ids of both. Unique in an account.
 */
export function chargeNameOf(checkoutId: string, chargeId: string): string {
  return `${checkoutId}/${chargeId}`;
}

/** The ids that a name of a charge has; null for another text. */
export function idsInName(name: string): { checkoutId: string; chargeId: string } | null {
  const [checkoutId, chargeId, ...rest] = name.split('/');
  return checkoutId && chargeId && rest.length === 0 ? { checkoutId, chargeId } : null;
}
