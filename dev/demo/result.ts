import type { DemoCatalogue } from './catalogue.ts';

/** What an invoice of the API tells the demo. Decimals are strings. */
export interface DemoInvoice {
  id: string;
  invoice_number: string | null;
  invoice_status: string;
  payment_status: string;
  billing_reason: string;
  /** Counts the invoices of the subscription. */
  billing_sequence: number;
  currency: string;
  period_start: string;
  period_end: string;
  finalized_at: string | null;
  total_discount: string;
  total_tax: string;
  total: string;
  amount_due: string;
  amount_paid: string;
  amount_remaining: string;
  line_items: DemoLine[];
}

export interface DemoLine {
  id: string;
  price_id: string;
  display_name: string;
  quantity: string;
  adjusted_entitlement_quantity: string | null;
  amount: string;
  period_start: string;
  period_end: string;
}

export interface DemoPayment {
  id: string;
  destination_id: string;
  payment_status: string;
  payment_gateway: string | null;
  amount: string;
  attempts: { attempt_number: number; payment_status: string }[];
}

export interface DemoAirport {
  code: string;
  zone: string;
  customerId: string;
  subscriptionId: string;
  /** Declines of its card before it pays. */
  declines: number;
  /** In the order they were billed. */
  invoices: DemoInvoice[];
  payments: DemoPayment[];
}

/** How one line came about, in the words of the API. */
export interface DemoExplanation {
  airport: string;
  invoiceNumber: string | null;
  line: string;
  amount: string;
  sentences: string[];
}

export interface DemoResult {
  catalogue: DemoCatalogue;
  clockId: string;
  events: number;
  /** The busiest first. */
  airports: DemoAirport[];
  explained: DemoExplanation;
  seconds: number;
}
