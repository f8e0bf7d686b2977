/** Members of Whop's objects that are read here, by the types of the SDK 0.0.42. Amounts are in units of the currency. */

export interface WhopPlan {
  id: string;
  /** Amount and currency, in lower case, that a payment of it is asked for. */
  initial_price: number;
  currency: string;
  metadata?: Record<string, unknown> | null;
}

export interface WhopConfiguration {
  id: string;
  account_id: string;
  mode: 'payment' | 'setup';
  created_at: string;
  purchase_url?: string | null;
  metadata?: Record<string, unknown> | null;
  /** Null in setup mode. */
  plan?: { id: string } | null;
}

/** A way to pay that Whop keeps. Only that of a card is told further. */
export interface WhopMethod {
  id: string;
  card?: { brand: string | null; last4: string | null } | null;
}

/** The saving of a method on a page in setup mode. */
export interface WhopSetup {
  id: string;
  status: 'processing' | 'succeeded' | 'canceled' | 'requires_action';
  checkout_configuration: { id: string } | null;
  created_at: string;
  error_message: string | null;
  /** The payer as the account knows it, to whom the method belongs. */
  member: { id: string } | null;
  payment_method: WhopMethod | null;
  metadata: Record<string, unknown> | null;
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
  member?: { id: string } | null;
  payment_method?: WhopMethod | null;
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
