/** Members of Moyasar's objects that are read here, by its published pages. */

export interface MoyasarPayment {
  id: string;
  status: 'initiated' | 'paid' | 'authorized' | 'failed' | 'refunded' | 'captured' | 'voided' | 'verified';
  /** In the smallest unit of the currency, as `captured` and `refunded`. */
  amount: number;
  /** Upper case. */
  currency: string;
  captured: number;
  /** Everything that was given back so far. */
  refunded: number;
  captured_at: string | null;
  created_at: string;
  updated_at: string;
  invoice_id: string | null;
  metadata: Record<string, string> | null;
  source: {
    message?: string | null;
    response_code?: string | null;
    /** Page on which the payer confirms at its bank. */
    transaction_url?: string | null;
  } | null;
}

/** A card that Moyasar keeps. */
export interface MoyasarToken {
  id: string;
  /** `initiated` waits for its payer to confirm at its bank; only an `active` one can be charged. */
  status: 'initiated' | 'active' | 'inactive' | 'expired';
  brand: string;
  last_four: string;
  created_at: string;
  metadata: Record<string, string> | null;
  message: string | null;
}

/** A page of payments, the newest first. */
export interface MoyasarPayments {
  payments: MoyasarPayment[];
  meta: { next_page: number | null };
}

export interface MoyasarInvoice {
  id: string;
  status: 'initiated' | 'paid' | 'failed' | 'refunded' | 'canceled' | 'on_hold' | 'expired' | 'voided';
  url: string;
  expired_at: string | null;
  created_at: string;
  metadata: Record<string, string> | null;
  /** Absent in lists. */
  payments?: MoyasarPayment[] | null;
}
