import type { LinkDecline } from '../payment-link.ts';
import { amountOfRazorpay } from './amount.ts';
import { objectOf, type RazorpayClient } from './client.ts';
import { declineClassOfRazorpay } from './decline.ts';
import type { RazorpayCollection, RazorpayPayment } from './shapes.ts';

const longestNote = 255;

/** Our names of an object, kept at it, so that a notification of it finds its way. Razorpay copies a link's notes to its payments. */
export function notesOf(metadata: Record<string, string>, ours: Record<string, string>): Record<string, string> {
  const entries = Object.entries({ ...metadata, ...ours });
  return Object.fromEntries(entries.map(([name, value]) => [name, value.slice(0, longestNote)]));
}

/** A number that is none would have the whole link refused, and the page of a payment asks for it anyway. */
export function isTelephone(contact: string | null): contact is string {
  return contact !== null && /^\+?\d{8,14}$/.test(contact);
}

export async function readPayment(client: RazorpayClient, id: string): Promise<RazorpayPayment> {
  return objectOf(await client.get<RazorpayPayment>(`/payments/${id}`), `show ${id}`);
}

/** All attempts to pay an order; what is only reserved of them is captured at once. spec: README decision 33 */
export async function paymentsOfOrder(client: RazorpayClient, orderId: string): Promise<RazorpayPayment[]> {
  const answer = await client.get<RazorpayCollection<RazorpayPayment>>(`/orders/${orderId}/payments`);
  const payments: RazorpayPayment[] = [];
  for (const payment of objectOf(answer, `list the payments of ${orderId}`).items) {
    payments.push(await captured(client, payment));
  }
  return payments.toSorted((a, b) => a.created_at - b.created_at);
}

/** A payment whose money is captured where it was only reserved. spec: README decision 33 */
export async function captured(client: RazorpayClient, payment: RazorpayPayment): Promise<RazorpayPayment> {
  if (payment.status !== 'authorized') return payment;
  const { id, amount, currency } = payment;
  const answer = await client.post<RazorpayPayment>(`/payments/${id}/capture`, { amount, currency });
  // Refused where Razorpay captured it by itself meanwhile.
  return answer.error === null ? answer.object : readPayment(client, id);
}

/** Money that was captured and went back was captured all the same; what went back uncaptured was not. */
export function isCaptured({ status, captured: wasCaptured }: RazorpayPayment): boolean {
  return status === 'captured' || (status === 'refunded' && wasCaptured);
}

/** True while an attempt waits for its bank. */
export function isUndecided({ status }: RazorpayPayment): boolean {
  return status === 'created' || status === 'authorized';
}

/** The code of an attempt that failed. */
export function codeOf({ error_reason, error_code }: RazorpayPayment): string {
  return error_reason ?? error_code ?? 'payment_failed';
}

export function declineOf(payment: RazorpayPayment): LinkDecline[] {
  if (payment.status !== 'failed') return [];
  const code = codeOf(payment);
  return [{ chargeProviderId: payment.id, code, class: declineClassOfRazorpay(code) }];
}

export function captureOf({ id, amount, currency, created_at }: RazorpayPayment) {
  return {
    chargeProviderId: id,
    amount: amountOfRazorpay(amount, currency),
    currency: currency.toLowerCase(),
    capturedAt: instantOf(created_at),
  };
}

export function instantOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
