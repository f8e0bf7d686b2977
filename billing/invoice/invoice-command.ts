import type { LineEdit } from './invoice-edit.ts';
import type { NewInvoiceLine } from './invoice-line-request.ts';
import type { NewInvoiceCoupon, NewInvoiceTax } from './invoice-request.ts';

/** Content a draft is computed with in place of its own; null members, and lists without members, leave that. */
export interface GivenToCompute {
  lines: NewInvoiceLine[] | null;
  /** Coupons on the whole invoice. */
  invoiceCoupons: NewInvoiceCoupon[] | null;
  lineCoupons: NewInvoiceCoupon[] | null;
  taxes: NewInvoiceTax[] | null;
  description: string | null;
  dueDate: string | null;
  /** Amounts that the caller expects of the computation. */
  subtotal: string | null;
  total: string | null;
  amountDue: string | null;
}

/** Computation of a draft. spec: subscriptions-and-invoicing §2.15.2 */
export interface ComputationOrder {
  /** Null: what the draft has. */
  given: GivenToCompute | null;
}

/** Edit of an invoice, held to a preview where there is a digest. spec: subscriptions-and-invoicing §2.15.8 */
export interface EditOrder {
  /** Null: its coupons are taken anew and its lines stay. */
  edit: LineEdit | null;
  previewDigest: string | null;
}

/** Recalculation of a draft in place. spec: subscriptions-and-invoicing §2.15.6 */
export interface RecalculationOrder {
  /** Issues the draft then. */
  finalize: boolean;
}

/** Payment of an invoice that a person writes down. spec: subscriptions-and-invoicing §2.15.12 */
export interface NotedPayment {
  paymentStatus: string;
  /** Null: what is due. */
  amount: string | null;
}

/** Voiding of an invoice. spec: subscriptions-and-invoicing §2.15.7 */
export interface VoidOrder {
  /** Added to the invoice's; null: nothing. */
  metadata: Record<string, string> | null;
}
