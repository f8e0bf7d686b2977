/** Members of Chargebee's objects that are read here, by its published pages and the types of the SDK 3.33.0. Times are in whole seconds. */

export type ChargebeeStatus =
  | 'in_progress'
  | 'success'
  | 'voided'
  | 'failure'
  | 'timeout'
  | 'needs_attention'
  | 'late_failure';

export interface ChargebeePage {
  id: string;
  type: string;
  /** `succeeded` once it was paid, for good; `cancelled` when its payer went back. */
  state: 'created' | 'requested' | 'succeeded' | 'cancelled' | 'acknowledged';
  url: string;
  pass_thru_content?: string;
  created_at: number;
  expires_at: number;
  /** Result, as it was when it succeeded. */
  content?: { invoice?: { linked_payments?: readonly { txn_id: string }[] } };
}

/** An invoice of Chargebee's own: what a page made, or what a charge is prepared as. */
export interface ChargebeeInvoice {
  id: string;
  status: 'paid' | 'posted' | 'payment_due' | 'not_paid' | 'voided' | 'pending';
  total: number;
  currency_code: string;
  linked_payments?: readonly { txn_id: string }[];
  notes?: readonly { note: string }[];
}

/** A card that Chargebee keeps for a customer. */
export interface ChargebeeSource {
  id: string;
  status: 'valid' | 'expiring' | 'expired' | 'invalid' | 'pending_verification';
  deleted: boolean;
  created_at: number;
  card?: { brand?: string; last4?: string };
}

export interface ChargebeeTransaction {
  id: string;
  type: 'authorization' | 'payment' | 'refund' | 'payment_reversal';
  status: ChargebeeStatus;
  /** Hundredths, or units of a currency without smaller ones. */
  amount: number;
  /** Upper case. */
  currency_code: string;
  date: number;
  /** Amount that no invoice took. */
  amount_unused?: number;
  error_code?: string;
  error_detail?: { decline_code?: string };
  linked_invoices?: readonly { invoice_id: string }[];
  linked_refunds?: readonly ChargebeeLinkedRefund[];
}

/** A refund as the payment that it is of shows it. */
export interface ChargebeeLinkedRefund {
  txn_id: string;
  txn_status: ChargebeeStatus;
  txn_date: number;
  txn_amount: number;
}

/** A note at an object, which people see in Chargebee too. */
export interface ChargebeeComment {
  id: string;
  notes: string;
  created_at: number;
}

/** A page of a list; each entry is an object under the name of its kind. */
export interface ChargebeeList<Entry> {
  list: Entry[];
  next_offset?: string;
}
