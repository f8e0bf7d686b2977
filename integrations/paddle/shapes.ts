/** Members of Paddle's objects that are read here, by the types of the SDK 3.10.0. */

export type PaddleAttemptStatus =
  | 'authorized'
  | 'authorized_flagged'
  | 'canceled'
  | 'captured'
  | 'error'
  | 'action_required'
  | 'pending_no_action_required'
  | 'created'
  | 'unknown'
  | 'dropped';

/** An attempt to pay a transaction. */
export interface PaddleAttempt {
  payment_attempt_id: string;
  /** Smallest units of the transaction's currency. */
  amount: string;
  status: PaddleAttemptStatus;
  error_code?: string | null;
  created_at: string;
  captured_at?: string | null;
}

export interface PaddleTransaction {
  id: string;
  /** `paid` is captured, and `completed` a moment later, when Paddle has booked it too. */
  status: 'draft' | 'ready' | 'billed' | 'paid' | 'completed' | 'canceled' | 'past_due';
  /** Upper case. */
  currency_code: string;
  custom_data?: Record<string, unknown> | null;
  created_at: string;
  payments: readonly PaddleAttempt[];
  details?: {
    totals?: { grand_total: string } | null;
    line_items: readonly { id: string }[];
  } | null;
}

export interface PaddleAdjustment {
  id: string;
  action: string;
  transaction_id: string;
  reason: string;
  /** Upper case. */
  currency_code: string;
  status: 'pending_approval' | 'approved' | 'rejected' | 'reversed';
  totals: { total: string };
  created_at: string;
}

export interface PaddleEvent {
  event_id: string;
  event_type: string;
  occurred_at: string;
  data: Record<string, unknown>;
}
