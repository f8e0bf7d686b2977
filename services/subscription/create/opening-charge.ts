import { refuse } from '../../../billing/refusal.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import type { PaymentCharge } from '../../collection/payment-charge.ts';
import { markerOf, wireToken } from '../../collection/wire-token.ts';
import type { RecordedOpening } from './paid-opening.ts';

/** What must be paid before a subscription may be made. */
export interface AskedOpening {
  /** Of the payment that the opening invoice gets. */
  id: string;
  subscriptionId: string;
  customerId: string;
  at: string;
  paymentMethodId: string;
  paymentGateway: string;
  intentToken: string;
  amount: string;
  currency: string;
  testClockId: string | null;
}

/** Ends a transaction that may be committed only after a payment: all it wrote is taken back, and done again once it is paid. */
export class OpeningToPay extends Error {
  override readonly name = 'OpeningToPay';
  readonly charge: AskedOpening;

  constructor(charge: AskedOpening) {
    super(`subscription ${charge.subscriptionId} is made once its opening invoice is paid`);
    this.charge = charge;
  }
}

interface OpenedRow {
  remains: boolean;
  id: string | null;
  customer_id: string;
  payment_method_id: string;
  payment_gateway: string;
  intent_token: string;
  amount: string;
  currency: string;
}

/**
 * Sees to the payment of an opening invoice that is paid inside the creation or activation. Without `paid` it throws
 * `OpeningToPay`, or `invalid_operation` when there is no method to charge; with it the payment is recorded, and an invoice
 * that amounts to something else by now throws `version_conflict`. Nothing to pay needs nothing.
 * spec: subscriptions-and-invoicing §2.3.4
 */
export async function payOpening(
  sql: Sql,
  scope: Scope,
  opening: { row: SubscriptionRow; invoiceId: string; paymentId: string; at: string; paid: RecordedOpening | null },
): Promise<void> {
  const { row, at, paid, paymentId } = opening;
  const [opened] = await sql.rows<OpenedRow & Record<string, unknown>>(openedText, [
    scope.environmentId,
    opening.invoiceId,
    paymentId,
  ]);
  if (paid) {
    if (!opened?.id || !(await isPaidBy(sql, scope, opened, paid.chargeId))) throw changedMeanwhile();
    await paid.record({ ...sql, scope }, { paymentId, outcome: paid.outcome, at });
    return dropOpeningCharge(sql, scope, paid.chargeId);
  }
  if (!opened?.remains) return;
  if (opened.id === null) {
    throw refuse(
      'invalid_operation',
      'payment_behavior error_if_incomplete needs a saved payment method that may be charged this amount and the invoiced customer has none; save one, name it in gateway_payment_method_id, or use another payment_behavior',
      { fields: { payment_behavior: 'needs a saved payment method' }, rolled_back: true },
    );
  }
  throw new OpeningToPay({
    id: paymentId,
    subscriptionId: row.id,
    customerId: opened.customer_id,
    at,
    paymentMethodId: opened.payment_method_id,
    paymentGateway: opened.payment_gateway,
    intentToken: opened.intent_token,
    amount: decimalText(opened.amount),
    currency: opened.currency,
    testClockId: row.testClockId,
  });
}

function changedMeanwhile() {
  return refuse(
    'version_conflict',
    'what the opening invoice amounts to changed while it was being paid; nothing was kept and the money was given back, so send it again',
    { rolled_back: true },
  );
}

async function isPaidBy(sql: Sql, scope: Scope, opened: OpenedRow, chargeId: string): Promise<boolean> {
  const rows = await sql.rows(
    `select id from opening_charge where environment_id = $1 and id = $2 and charge_status = 'open'
       and amount = $3 and currency = $4 and payment_method_id = $5 and customer_id = $6`,
    [scope.environmentId, chargeId, opened.amount, opened.currency, opened.payment_method_id, opened.customer_id],
  );
  return rows.length > 0;
}

// The payment is there when the invoice has something due and a method to charge it.
const openedText = `
select i.amount_remaining > 0 and i.invoice_status = 'FINALIZED' as remains, p.id, p.customer_id, p.payment_method_id,
  p.payment_gateway, p.intent_token, p.amount, p.currency
from invoice i left join payment p on p.environment_id = i.environment_id and p.id = $3 and p.destination_id = i.id
where i.environment_id = $1 and i.id = $2`;

/**
 * Keeps what is going to be charged and answers its id. What is open already for the subscription, because a task was repeated
 * or a worker was lost, is asked for again instead: one subscription is never charged twice for one opening.
 */
export async function keepOpeningCharge(sql: Sql, scope: Scope, charge: AskedOpening): Promise<string> {
  await sql.rows(
    `insert into opening_charge (id, tenant_id, environment_id, subscription_id, customer_id, created_at, created_by, at,
       payment_method_id, payment_gateway, intent_token, amount, currency, test_clock_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     on conflict (environment_id, subscription_id) where charge_status = 'open' do nothing`,
    [
      charge.id,
      scope.tenantId,
      scope.environmentId,
      charge.subscriptionId,
      charge.customerId,
      new Date().toISOString(),
      scope.actor,
      charge.at,
      charge.paymentMethodId,
      charge.paymentGateway,
      charge.intentToken,
      charge.amount,
      charge.currency,
      charge.testClockId,
    ],
  );
  const open = await findOpenCharge(sql, scope, charge.subscriptionId);
  if (!open) throw missing('opening charge', charge.id);
  return open.id;
}

/** The charge that is under way for a subscription; null when there is none. */
export async function findOpenCharge(
  sql: Sql,
  scope: Scope,
  subscriptionId: string,
): Promise<{ id: string; at: string; parkedStep: string | null } | null> {
  const [open] = await sql.rows<{ id: string; at: string; parkedStep: string | null }>(
    `select c.id, c.at, (select o.step from parked_object o where o.environment_id = c.environment_id
       and o.object_type = 'subscription' and o.object_id = c.subscription_id) as "parkedStep"
     from opening_charge c where c.environment_id = $1 and c.subscription_id = $2 and c.charge_status = 'open'`,
    [scope.environmentId, subscriptionId],
  );
  return open ?? null;
}

/** What the gateway is asked for, the same every time; null once it is not open any more. */
export async function chargeOfOpening(sql: Sql, scope: Scope, chargeId: string): Promise<PaymentCharge | null> {
  const [row] = await sql.rows<{
    gateway: string;
    gateway_token: string;
    customer_token: string | null;
    intent_token: string;
    provider_object_id: string | null;
    created_at: string;
    amount: string;
    currency: string;
    subscription_id: string;
  }>(
    `select c.payment_gateway as gateway, m.gateway_token, m.customer_token, c.intent_token, c.provider_object_id, c.created_at, c.amount,
       c.currency, c.subscription_id
     from opening_charge c join payment_method m on m.id = c.payment_method_id
     where c.environment_id = $1 and c.id = $2 and c.charge_status = 'open'`,
    [scope.environmentId, chargeId],
  );
  if (!row) return null;
  return {
    gateway: row.gateway,
    intentToken: row.intent_token,
    token: wireToken(row.intent_token),
    providerId: row.provider_object_id,
    chargeProviderId: null,
    createdAt: instantText(row.created_at),
    customerToken: row.customer_token,
    offSession: true,
    amount: decimalText(row.amount),
    currency: row.currency,
    paymentMethodToken: row.gateway_token,
    description: `Subscription ${row.subscription_id}`,
    // Its payment is made with the subscription; until then whoever opened it asks.
    metadata: {
      ...markerOf('payment', chargeId, scope.environmentId),
      payment_id: chargeId,
      subscription_id: row.subscription_id,
    },
  };
}

/** Keeps the id of a charge that was prepared at its gateway; a second one finds the first and answers it. */
export async function keepPreparedOpening(
  sql: Sql,
  scope: Scope,
  chargeId: string,
  providerId: string,
): Promise<string> {
  const [row] = await sql.rows<{ provider_object_id: string }>(
    `update opening_charge set provider_object_id = coalesce(provider_object_id, $3) where environment_id = $1 and id = $2
     returning provider_object_id`,
    [scope.environmentId, chargeId, providerId],
  );
  if (!row) throw missing('opening charge', chargeId);
  return row.provider_object_id;
}

/** Forgets a charge of which nothing was captured, or whose payment is recorded now. */
export async function dropOpeningCharge(sql: Sql, scope: Scope, chargeId: string): Promise<void> {
  await sql.rows(`delete from opening_charge where environment_id = $1 and id = $2 and charge_status = 'open'`, [
    scope.environmentId,
    chargeId,
  ]);
}

/** Writes down what became of money that was captured for nothing: it stays as evidence of both movements. */
export async function closeOpeningCharge(
  sql: Sql,
  scope: Scope,
  { chargeId, status }: { chargeId: string; status: 'returned' | 'kept' },
): Promise<void> {
  await sql.rows(
    `update opening_charge set charge_status = $3 where environment_id = $1 and id = $2 and charge_status = 'open'`,
    [scope.environmentId, chargeId, status],
  );
}
