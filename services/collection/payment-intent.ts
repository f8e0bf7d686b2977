import { intentTokenOf } from '../../billing/payment/payment.ts';
import { anyOf } from '../../db/rows/bulk.ts';
import type { PaymentDestination, PaymentTransaction } from './payment-row.ts';

/** The part of a payment that decides by which token its gateway will know it. */
export interface PaymentIntent {
  id: string;
  destination: PaymentDestination;
  paymentGateway: string | null;
  /** The gateway knows this charge by the payment's id already: it was made before there was an invoice. */
  isChargedAlready: boolean;
  /** Token that the gateway will know the charge by, where the caller has one of its own. */
  intentToken?: string;
}

type Debt = { invoiceId: string; debt: string; charges: number };

/**
 * Tokens by which gateways will know payments, by payment id: the debt of the invoice, and the number of this charge of it. A period that
 * is billed again, from a backup that does not know its payment, meets the charge that was made. An invoice that takes the place of a
 * void one is the same debt; one without a subscription is a debt of its own. A payment that no gateway is asked for, or that has no
 * invoice, has a token of its id, unless its opener brings one, as top-ups do. Call it with the invoices locked. spec: wallets-and-payments §2.19
 */
export async function intentTokens(
  tx: PaymentTransaction,
  payments: readonly PaymentIntent[],
): Promise<Map<string, string>> {
  const charging = payments.filter(
    ({ destination, paymentGateway, isChargedAlready, intentToken }) =>
      destination.type === 'INVOICE' && paymentGateway !== null && !isChargedAlready && intentToken === undefined,
  );
  const debts = new Map((await debtsOf(tx, charging)).map((debt) => [debt.invoiceId, debt]));
  const charged = new Set(charging);
  return new Map(
    payments.map((payment) => {
      const debt = charged.has(payment) && debts.get(payment.destination.id);
      const own = payment.intentToken ?? intentTokenOf(payment.id, 1);
      return [payment.id, debt ? intentTokenOf(debt.debt, debt.charges + 1) : own];
    }),
  );
}

async function debtsOf(tx: PaymentTransaction, charging: readonly PaymentIntent[]): Promise<Debt[]> {
  if (charging.length === 0) return [];
  return tx.rows<Debt>(
    `select i.id as "invoiceId", case when i.subscription_id is null then i.id else i.idempotency_key end as debt, (
       select count(*) from payment p where p.environment_id = $1 and p.payment_gateway is not null and p.destination_id = any(array(
         select i.id union
         select o.id from invoice o where o.environment_id = $1 and o.idempotency_key = i.idempotency_key
           and o.invoice_status = 'VOIDED' and o.subscription_id is not distinct from i.subscription_id and i.subscription_id is not null))
     )::int as charges
     from invoice i where i.environment_id = $1 and i.id = ${anyOf('$2')}`,
    [tx.scope.environmentId, charging.map(({ destination }) => destination.id)],
    'debts-of',
  );
}
