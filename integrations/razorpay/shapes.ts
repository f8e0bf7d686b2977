/** Members of Razorpay's objects that are read here, by its published pages and the types of the SDK 2.9.8. */

/** Notes of an object; an empty list where it has none. */
export type RazorpayNotes = Record<string, unknown> | readonly unknown[] | null;

export interface RazorpayLink {
  id: string;
  status: 'created' | 'partially_paid' | 'expired' | 'cancelled' | 'paid';
  short_url: string;
  /** 0 where it has no end. */
  expire_by: number;
  reference_id: string;
  /** The order that its attempts belong to; absent until the page was opened. */
  order_id?: string | null;
  /** Payments made by the link. */
  payments: readonly { payment_id: string }[] | null;
}

export interface RazorpayPayment {
  id: string;
  status: 'created' | 'authorized' | 'captured' | 'refunded' | 'failed';
  amount: number;
  currency: string;
  /** False for money that went back without having been captured. */
  captured: boolean;
  created_at: number;
  error_code: string | null;
  error_reason: string | null;
}

export interface RazorpayRefund {
  id: string;
  status: 'pending' | 'processed' | 'failed';
  amount: number;
  currency: string;
  payment_id: string;
  created_at: number;
  notes: RazorpayNotes;
}

/** A page of a list. */
export interface RazorpayCollection<T> {
  items: T[];
}

/** A note by its name; null where the object has none of it. */
export function noteOf(notes: RazorpayNotes, name: string): string | null {
  const value = notes !== null && !Array.isArray(notes) ? (notes as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : null;
}
