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
  /** Sum that went back. */
  amount_refunded?: number | null;
  /** The mandate that a payment has made, and whose it is. */
  token_id?: string | null;
  customer_id?: string | null;
}

/** A registration link, which Razorpay keeps among its invoices. */
export interface RazorpayRegistration {
  id: string;
  status: 'draft' | 'issued' | 'partially_paid' | 'paid' | 'cancelled' | 'expired' | 'deleted';
  short_url: string;
  expire_by: number | null;
  receipt: string | null;
  order_id: string | null;
  notes: RazorpayNotes;
}

/** A mandate. Its limit is in the smallest unit of the rupee. */
export interface RazorpayToken {
  id: string;
  method: string;
  card?: { last4?: string | null; network?: string | null } | null;
  vpa?: { username?: string | null; handle?: string | null } | null;
  recurring_details: { status: string; failure_reason: string | null } | null;
  max_amount?: number | null;
}

export interface RazorpayOrder {
  id: string;
  amount: number;
  currency: string;
  receipt: string | null;
  notes: RazorpayNotes;
}

export interface RazorpayCustomer {
  id: string;
  email: string | null;
  contact: string | null;
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
