import { decimalText } from '../columns.ts';
import { missing } from '../record.ts';
import type { PaymentTransaction } from './payment-row.ts';

/** What the gateway is asked to charge for a payment. */
export interface PaymentCharge {
  gateway: string;
  intentToken: string;
  amount: string;
  currency: string;
  paymentMethodToken: string;
  description: string;
  metadata: Record<string, string>;
}

/** The charge of a payment as its gateway is asked for it, the same every time. Throws `not_found`. */
export async function chargeOfPayment(tx: PaymentTransaction, paymentId: string): Promise<PaymentCharge> {
  const [row] = await tx.rows<ChargeRow>(chargeText, [tx.scope.environmentId, paymentId]);
  if (!row) throw missing('payment', paymentId);
  return {
    gateway: row.gateway,
    intentToken: row.intent_token,
    amount: decimalText(row.amount),
    currency: row.currency,
    paymentMethodToken: row.gateway_token,
    description: row.invoice_number ? `Invoice ${row.invoice_number}` : `Invoice ${row.destination_id}`,
    metadata: { payment_id: paymentId, invoice_id: row.destination_id },
  };
}

interface ChargeRow {
  gateway: string;
  intent_token: string;
  amount: string;
  currency: string;
  gateway_token: string;
  destination_id: string;
  invoice_number: string | null;
}

// The method may have been archived since: a charge that was sent is still asked about.
const chargeText = `
select m.gateway, m.gateway_token, p.intent_token, p.amount, p.currency, p.destination_id, i.invoice_number
from payment p join payment_method m on m.id = p.payment_method_id join invoice i on i.id = p.destination_id
where p.environment_id = $1 and p.id = $2`;
