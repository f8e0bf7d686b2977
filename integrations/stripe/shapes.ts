/** Members of Stripe's objects that are read here, by the types of the SDK 23.1.0. */

export interface StripeCharge {
  id: string;
  paid: boolean;
  status: 'succeeded' | 'pending' | 'failed';
  amount_captured: number;
  currency: string;
  created: number;
  failure_code: string | null;
  outcome: { reason: string | null } | null;
}

export interface StripeDispute {
  id: string;
  amount: number;
  currency: string;
  created: number;
  status: string;
  reason: string | null;
  evidence_details: { due_by: number | null } | null;
}

export interface StripeIntentError {
  code?: string;
  decline_code?: string;
  charge?: string;
}

export interface StripeIntent {
  id: string;
  object: 'payment_intent';
  status:
    | 'canceled'
    | 'processing'
    | 'requires_action'
    | 'requires_capture'
    | 'requires_confirmation'
    | 'requires_payment_method'
    | 'succeeded';
  amount: number;
  amount_received: number;
  currency: string;
  created: number;
  metadata: Record<string, string>;
  last_payment_error: StripeIntentError | null;
  latest_charge: string | StripeCharge | null;
  next_action: { redirect_to_url?: { url: string | null } | null } | null;
  payment_method: string | StripeMethod | null;
  setup_future_usage: string | null;
}

export interface StripeMethod {
  id: string;
  card?: { brand: string; last4: string; fingerprint?: string | null } | null;
}

export interface StripeSetup {
  id: string;
  status: string;
  payment_method: string | StripeMethod | null;
  last_setup_error: StripeIntentError | null;
}

export interface StripeSession {
  id: string;
  object: 'checkout.session';
  status: 'open' | 'complete' | 'expired';
  payment_status: 'paid' | 'unpaid' | 'no_payment_required';
  mode: 'payment' | 'setup' | 'subscription';
  url: string | null;
  expires_at: number;
  created: number;
  client_reference_id: string | null;
  customer: string | null;
  metadata: Record<string, string>;
  payment_intent: string | StripeIntent | null;
  setup_intent: string | StripeSetup | null;
}

export interface StripeRefund {
  id: string;
  status: 'pending' | 'requires_action' | 'succeeded' | 'failed' | 'canceled';
  amount: number;
  currency: string;
  failure_reason?: string | null;
  metadata: Record<string, string>;
}
