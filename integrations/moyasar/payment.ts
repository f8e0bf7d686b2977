import type { MoyasarPayment } from './shapes.ts';

/** Time that a payer has to confirm at its bank; an attempt that is older was given up. */
export const confirmationMs = 30 * 60_000;

const captured = new Set<MoyasarPayment['status']>(['paid', 'captured', 'refunded']);

/** Money that was taken, and went back since, was taken all the same. */
export function isCaptured({ status }: Pick<MoyasarPayment, 'status'>): boolean {
  return captured.has(status);
}

/** True of an attempt or saving whose payer may still be at its bank. */
export function isRecent({ created_at }: { created_at: string }): boolean {
  return Date.now() - Date.parse(created_at) < confirmationMs;
}

/** Waits for its payer's bank, or for its capture. */
export function isUndecided(payment: MoyasarPayment): boolean {
  return payment.status === 'authorized' || (payment.status === 'initiated' && isRecent(payment));
}
