/** Members of Whop's objects that are read here, by the types of the SDK 0.0.42. Amounts are in units of the currency. */

export interface WhopPlan {
  id: string;
  metadata?: Record<string, unknown> | null;
}

export interface WhopConfiguration {
  id: string;
  account_id: string;
  created_at: string;
  purchase_url?: string | null;
  metadata?: Record<string, unknown> | null;
  plan?: { id: string } | null;
}

export interface WhopPayment {
  id: string;
  status: 'draft' | 'open' | 'paid' | 'pending' | 'uncollectible' | 'unresolved' | 'void' | null;
  substatus: string;
  checkout_configuration_id: string | null;
  plan: { id: string } | null;
  /** Lower case. */
  currency: string;
  settlement_currency: string;
  /** Everything that its payer was charged; absent in lists. */
  settlement_amount?: number;
  created_at: string;
  updated_at: string;
  /** Null until the money was collected. */
  paid_at: string | null;
  next_payment_attempt: string | null;
  failure_message: string | null;
  metadata: Record<string, unknown> | null;
}

export interface WhopRefund {
  id: string;
  status: 'pending' | 'requires_action' | 'succeeded' | 'failed' | 'canceled';
  amount: number;
  currency: string;
  created_at: string;
  payment: { id: string } | null;
}

/** A page of a list. */
export interface WhopPage<T> {
  data: T[];
  page_info: { end_cursor: string | null; has_next_page: boolean };
}
