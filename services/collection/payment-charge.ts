import { decimalText, instantText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import type { PaymentTransaction } from './payment-row.ts';
import { markerOf, wireToken } from './wire-token.ts';

/** What the gateway is asked to charge for a payment. */
export interface PaymentCharge {
  gateway: string;
  intentToken: string;
  /** Name of `intentToken` on the wire. */
  token: string;
  /** The charge that was prepared at the gateway, once that is stored. */
  providerId: string | null;
  chargeProviderId: string | null;
  /** Real time at which the payment was written down; it was sent no earlier. */
  createdAt: string;
  customerToken: string | null;
  offSession: boolean;
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
    token: wireToken(row.intent_token),
    providerId: row.provider_object_id,
    chargeProviderId: row.gateway_payment_id,
    createdAt: instantText(row.created_at),
    customerToken: row.customer_token,
    offSession: true,
    amount: decimalText(row.amount),
    currency: row.currency,
    paymentMethodToken: row.gateway_token,
    description: purchaseId === null ? description : 'Credits',
    metadata: {
      ...markerOf('payment', row.id, row.environment_id),
      payment_id: row.id,
      ...(isOfInvoice ? { invoice_id: destinationId } : { customer_id: destinationId }),
      ...(purchaseId === null ? {} : { wallet_transaction_id: purchaseId }),
    },
  };
}

/**
 * Keeps the id of a charge that was prepared at its gateway, before it is confirmed; a second one finds the first and answers it, so
 * that one charge is confirmed and no other. design: money-in-checkout §A2
 */
export async function keepPreparedCharge(
  tx: PaymentTransaction,
  paymentId: string,
  providerId: string,
): Promise<string> {
  const [row] = await tx.rows<{ provider_object_id: string }>(
    `update payment set provider_object_id = coalesce(provider_object_id, $3) where environment_id = $1 and id = $2
     returning provider_object_id`,
    [tx.scope.environmentId, paymentId, providerId],
  );
  if (!row) throw missing('payment', paymentId);
  return row.provider_object_id;
}

interface ChargeRow {
  id: string;
  environment_id: string;
  gateway: string;
  intent_token: string;
  amount: string;
  currency: string;
  gateway_token: string;
  destination_type: string;
  customer_token: string | null;
  provider_object_id: string | null;
  gateway_payment_id: string | null;
  created_at: string;
  destination_id: string;
  purchase_id: string | null;
  invoice_number: string | null;
}

// The method may have been archived since: a charge that was sent is still asked about.
const chargesText = `
select p.id, p.environment_id, m.gateway, m.gateway_token, m.customer_token, p.intent_token, p.provider_object_id, p.gateway_payment_id, p.created_at,
  p.amount, p.currency, p.destination_type, p.destination_id, p.purchase_id, i.invoice_number
from payment p join payment_method m on m.id = p.payment_method_id left join invoice i on i.id = p.destination_id
where p.environment_id = $1 and p.id = any($2)`;
