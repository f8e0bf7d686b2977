import { type AgendaItem, sortAgenda } from '../../../billing/agenda.ts';
import {
  type PaymentStatus,
  paymentAgendaOrder,
  reportUnansweredAt,
  unansweredPaymentAgenda,
  unansweredSince,
} from '../../../billing/payment.ts';
import { instantText } from '../../columns.ts';
import { missing } from '../../record.ts';
import { type AgendaOwner, replaceAgendas } from '../lifecycle/agenda.ts';
import { unparkObject } from '../lifecycle/parked-object.ts';
import { lockPaymentWithInvoice, type PaymentRow, type PaymentTransaction } from './payment-row.ts';

/** A payment as its workflow sees it between two activities. */
export interface PaymentState {
  paymentId: string;
  version: number;
  paymentStatus: PaymentStatus;
  invoiceId: string;
  subscriptionId: string | null;
  agenda: AgendaItem[];
  /** Where the payer confirms; null when the gateway asks nothing of it. */
  actionUrl: string | null;
  /** Why it is parked; null when it is not. */
  blockedOn: string | null;
}

type OwnedPayment = Pick<PaymentRow, 'id' | 'environment_id' | 'tenant_id' | 'customer_id' | 'test_clock_id'>;

/** The state of a payment for its workflow at `at`. Throws `not_found`. design: architecture §3 */
export async function loadPaymentState(tx: PaymentTransaction, paymentId: string, at: string): Promise<PaymentState> {
  const [row] = await tx.rows<PaymentStateRow>(stateText, [tx.scope.environmentId, paymentId]);
  if (!row) throw missing('payment', paymentId);
  const stored = row.agenda.map((item) => ({ at: instantText(item.at), kind: item.kind, ref: '' }));
  // A payment that was sent but of which nothing was recorded is asked about at once.
  const agenda =
    row.payment_status === 'PROCESSING' && stored.length === 0 ? [{ at, kind: 'pollGateway', ref: '' }] : stored;
  return {
    paymentId,
    version: row.version,
    paymentStatus: row.payment_status,
    invoiceId: row.destination_id,
    subscriptionId: row.subscription_id,
    agenda: sortAgenda(agenda, paymentAgendaOrder),
    actionUrl: row.payment_url,
    blockedOn: row.blocked_on,
  };
}

/**
 * Hands a payment whose outcome is open to its own workflow: from now on its agenda is its own. Doing it again changes
 * nothing. spec: wallets-and-payments §2.19 Unknown outcome
 */
export async function attendPayment(tx: PaymentTransaction, paymentId: string, at: string): Promise<void> {
  const [row] = await tx.rows<OwnedPayment>(
    `update payment set attended = true where id = $1 and environment_id = $2 and payment_status = 'PROCESSING' and not attended
     returning id, environment_id, tenant_id, customer_id, test_clock_id`,
    [paymentId, tx.scope.environmentId],
  );
  if (row) await writeUnansweredAgenda(tx, row, at);
}

/** Writes when the gateway is asked next and when an operator hears of it; the time of waiting counts from the first call. */
export async function writeUnansweredAgenda(tx: PaymentTransaction, payment: OwnedPayment, at: string): Promise<void> {
  const [report] = await tx.rows<{ due_at: string }>(
    `select due_at from agenda_entry
     where environment_id = $1 and object_type = 'payment' and object_id = $2 and kind = 'reportUnanswered'`,
    [payment.environment_id, payment.id],
  );
  const since = report ? unansweredSince(instantText(report.due_at)) : at;
  await replaceAgendas(tx, [agendaOwner(payment, unansweredPaymentAgenda(since, at))]);
}

/** Continues a parked payment: the gateway is asked at once, and its 24 hours begin anew. Throws `not_found`. */
export async function restartPayment(tx: PaymentTransaction, input: { paymentId: string; at: string }): Promise<void> {
  const { payment } = await lockPaymentWithInvoice(tx, input.paymentId);
  await unparkObject(tx, tx.scope, { objectType: 'payment', objectId: payment.id });
  const items = [
    { at: input.at, kind: 'pollGateway', ref: '' },
    { at: reportUnansweredAt(input.at), kind: 'reportUnanswered', ref: '' },
  ];
  await replaceAgendas(tx, [agendaOwner(payment, payment.payment_status === 'PROCESSING' ? items : [])]);
}

/** Removes what time would bring to a payment that is settled, and its mark when it was parked. */
export async function dropPaymentAgenda(tx: PaymentTransaction, payment: OwnedPayment): Promise<void> {
  await replaceAgendas(tx, [agendaOwner(payment, [])]);
  await tx.rows(`delete from parked_object where environment_id = $1 and object_type = 'payment' and object_id = $2`, [
    payment.environment_id,
    payment.id,
  ]);
}

function agendaOwner(payment: OwnedPayment, items: readonly AgendaItem[]): AgendaOwner {
  return {
    tenantId: payment.tenant_id,
    environmentId: payment.environment_id,
    objectType: 'payment',
    objectId: payment.id,
    customerId: payment.customer_id,
    testClockId: payment.test_clock_id,
    items,
  };
}

interface PaymentStateRow {
  version: number;
  payment_status: PaymentStatus;
  destination_id: string;
  payment_url: string | null;
  subscription_id: string | null;
  blocked_on: string | null;
  agenda: { at: string; kind: string }[];
}

const stateText = `
select p.version, p.payment_status, p.destination_id, p.payment_url,
  (select subscription_id from invoice where id = p.destination_id) as subscription_id,
  (select step from parked_object o
   where o.environment_id = $1 and o.object_type = 'payment' and o.object_id = p.id) as blocked_on,
  coalesce((select jsonb_agg(jsonb_build_object('kind', kind, 'at', due_at::text)) from agenda_entry a
   where a.environment_id = $1 and a.object_type = 'payment' and a.object_id = p.id), '[]') as agenda
from payment p where p.environment_id = $1 and p.id = $2 and p.status = 'published'`;
