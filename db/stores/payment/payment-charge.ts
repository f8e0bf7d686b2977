import { decimalText } from '../../columns.ts';
import { missing } from '../../record.ts';
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
  const charge = (await chargesOfPayments(tx, [paymentId])).get(paymentId);
  if (!charge) throw missing('payment', paymentId);
  return charge;
}

/** As above of several payments, by their ids; one that is not of this environment, or asks no gateway, is absent. */
export async function chargesOfPayments(
  tx: PaymentTransaction,
  paymentIds: readonly string[],
): Promise<Map<string, PaymentCharge>> {
  if (paymentIds.length === 0) return new Map();
  const rows = await tx.rows<ChargeRow>(chargesText, [tx.scope.environmentId, paymentIds], 'payment-charges');
  return new Map(rows.map((row) => [row.id, chargeOf(row)]));
}

function chargeOf(row: ChargeRow): PaymentCharge {
  const { destination_id: destinationId, purchase_id: purchaseId } = row;
  const isOfInvoice = row.destination_type === 'INVOICE';
  const description = isOfInvoice ? `Invoice ${row.invoice_number ?? destinationId}` : `Payment ${row.id}`;
  return {
    gateway: row.gateway,
    intentToken: row.intent_token,
    amount: decimalText(row.amount),
    currency: row.currency,
    paymentMethodToken: row.gateway_token,
    description: purchaseId === null ? description : 'Credits',
    metadata: {
      payment_id: row.id,
      ...(isOfInvoice ? { invoice_id: destinationId } : { customer_id: destinationId }),
      ...(purchaseId === null ? {} : { wallet_transaction_id: purchaseId }),
    },
  };
}

interface ChargeRow {
  id: string;
  gateway: string;
  intent_token: string;
  amount: string;
  currency: string;
  gateway_token: string;
  destination_type: string;
  destination_id: string;
  purchase_id: string | null;
  invoice_number: string | null;
}

// The method may have been archived since: a charge that was sent is still asked about.
const chargesText = `
select p.id, m.gateway, m.gateway_token, p.intent_token, p.amount, p.currency, p.destination_type, p.destination_id, p.purchase_id,
  i.invoice_number
from payment p join payment_method m on m.id = p.payment_method_id left join invoice i on i.id = p.destination_id
where p.environment_id = $1 and p.id = any($2)`;
