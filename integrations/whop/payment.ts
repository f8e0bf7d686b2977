import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import type { LinkCapture } from '../payment-link.ts';
import { amountOfWhop } from './amount.ts';
import { objectOf, type WhopClient } from './client.ts';
import type { WhopPayment } from './shapes.ts';

/** Time that a payer has to finish an attempt; one that is older was given up. */
export const confirmationMs = 30 * 60_000;

/** Amount charged to the payer; absent in lists. */
export async function captureOf(client: WhopClient, { id, ...listed }: WhopPayment): Promise<LinkCapture> {
  const payment = await readPayment(client, id);
  if (payment.settlement_amount === undefined) throw new GatewayOutcomeUnknown(`whop does not say how much ${id} took`);
  return {
    chargeProviderId: id,
    amount: amountOfWhop(payment.settlement_amount),
    currency: chargedCurrency(payment),
    capturedAt: instantOf(payment.paid_at ?? listed.created_at),
  };
}

/** The payment of an id. Throws `GatewayOutcomeUnknown` for one that the account does not have. */
export async function readPayment(client: WhopClient, id: string): Promise<WhopPayment> {
  return objectOf(await client.get<WhopPayment>(`/payments/${encodeURIComponent(id)}`), `show ${id}`);
}

/**
 * Currency that a payer was charged in. A payment names two; where they differ, and adaptive pricing was at work although it is switched off, the
 * one that was not asked for counts, so that such a payment is never taken for the order's. design: money-in-checkout §A7
 */
export function chargedCurrency({ currency, settlement_currency, metadata }: WhopPayment): string {
  const asked = metadata?.perennial_currency ?? currency.toLowerCase();
  const charged = [settlement_currency, currency].map((each) => each.toLowerCase());
  return charged.find((each) => each !== asked) ?? currency.toLowerCase();
}

/** Money that was collected, and went back or is disputed, was collected all the same. */
export function isCaptured({ status, paid_at }: WhopPayment): boolean {
  return status === 'paid' || paid_at !== null;
}

/** Waits for its bank or for another try of Whop's, or for its payer, who has half an hour. */
export function isUndecided(payment: WhopPayment): boolean {
  const { status, created_at, next_payment_attempt } = payment;
  if (isCaptured(payment) || isDeclined(payment) || status === 'void' || status === 'uncollectible') return false;
  if (status === 'pending' || status === 'unresolved' || next_payment_attempt !== null) return true;
  return Date.now() - Date.parse(instantOf(created_at)) < confirmationMs;
}

/** An attempt that failed, and that Whop does not try again by itself. */
export function isDeclined(payment: WhopPayment): boolean {
  const { status, substatus, next_payment_attempt } = payment;
  if (isCaptured(payment) || next_payment_attempt !== null) return false;
  return status === 'open' && ['failed', 'price_too_low', 'canceled'].includes(substatus);
}

/** An instant of Whop: ISO 8601, or the seconds of Unix as its pages also say. */
export function instantOf(value: string | number): string {
  return new Date(typeof value === 'number' || /^\d+$/.test(value) ? Number(value) * 1000 : value).toISOString();
}
