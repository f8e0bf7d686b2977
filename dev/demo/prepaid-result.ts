import type { BoughtTokens } from './prepaid-customers.ts';
import type { DemoInvoice } from './result.ts';

/** A customer of the prepaid demo, as the API tells of it afterwards. Decimals are strings. */
export interface PrepaidCustomer extends BoughtTokens {
  wallet: {
    credit_balance: string;
    auto_topup_standing: { state: string; reason: string | null; until: string | null };
  };
  attempts: {
    number: number;
    opened_at: string;
    credits: string;
    amount: string;
    outcome: string | null;
    wallet_transaction_id: string;
    invoice_id: string | null;
    payment_id: string | null;
  }[];
  /** Oldest entry first. */
  ledger: {
    id: string;
    type: 'credit' | 'debit';
    transaction_status: string;
    transaction_reason: string;
    credit_amount: string;
    credit_balance_before: string;
    credit_balance_after: string;
  }[];
  /** Invoices of the subscription. */
  invoices: DemoInvoice[];
  topUpInvoices: DemoInvoice[];
  /** Of the attempts, in their order. */
  payments: { id: string; payment_status: string; amount: string }[];
  alerts: { alert_type: string; alert_status: string }[];
}

export interface PrepaidResult {
  wallets: PrepaidCustomer[];
  events: number;
  seconds: number;
}
