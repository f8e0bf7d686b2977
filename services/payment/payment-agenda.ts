import { type AgendaItem, sortAgenda } from '../../billing/agenda.ts';
import {
  type PaymentStatus,
  payerAgenda,
  reportUnansweredAt,
  unansweredPaymentAgenda,
  unansweredSince,
} from '../../billing/payment/payment.ts';
import { instantText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { lockPaymentWithInvoice, type PaymentRow, type PaymentTransaction } from '../collection/payment-row.ts';
import { type AgendaOwner, replaceAgendas } from '../lifecycle/agenda.ts';
import { unparkObject } from '../lifecycle/parked-object.ts';

/** A payment as its workflow sees it between two activities. */
export interface PaymentState {
  paymentId: string;
  version: number;
  paymentStatus: PaymentStatus;
  /** Null for a payment without an invoice. */
  invoiceId: string | null;
  subscriptionId: string | null;
  agenda: AgendaItem[];
  /** Where the payer confirms; null when the gateway asks nothing of it. */
  actionUrl: string | null;
  /** Since when the payer has to confirm; null when it does not have to, or when the gateway has stopped answering since. */
  awaitsPayerSince: string | null;
  /** The step at which it is parked, and why; null when it is not. */
  blockedOn: string | null;
  blockedReason: string | null;
  /** Reason of its failure. */
  errorMessage: string | null;
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
    invoiceId: row.destination_type === 'INVOICE' ? row.destination_id : null,
    subscriptionId: row.subscription_id,
    agenda: sortAgenda(agenda, lifecycleKinds.payment.agenda),
    actionUrl: row.payment_url,
    awaitsPayerSince: stored.some(({ kind }) => kind === 'reportUnanswered') ? null : textOf(row.awaits_payer_since),
    blockedOn: row.parked?.[0] ?? null,
    blockedReason: row.parked?.[1] ?? null,
    errorMessage: row.error_message,
  };
}

/**
 * Hands a payment whose outcome is open to its own workflow: from now on its agenda is its own. Doing it again changes
 * nothing. spec: wallets-and-payments §2.19 Unknown outcome
 */
export async function attendPayment(tx: PaymentTransaction, paymentId: string, at: string): Promise<void> {
  const [row] = await tx.rows<OwnedPayment & Pick<PaymentRow, 'awaits_payer_since'>>(
    `update payment set attended = true where id = $1 and environment_id = $2 and payment_status = 'PROCESSING' and not attended
     returning id, environment_id, tenant_id, customer_id, test_clock_id, awaits_payer_since`,
    [paymentId, tx.scope.environmentId],
  );
  if (!row) return;
  const since = textOf(row.awaits_payer_since);
  if (since === null) await writeUnansweredAgenda(tx, row, at);
  else await writePayerAgenda(tx, row, since, at);
}

/** The time that the test clock of a payment's customer shows; null on real time. */
export async function clockOfPayment(tx: PaymentTransaction, paymentId: string): Promise<string | null> {
  const [row] = await tx.rows<{ frozen_time: string }>(
    'select c.frozen_time from payment p join test_clock c on c.id = p.test_clock_id where p.environment_id = $1 and p.id = $2',
    [tx.scope.environmentId, paymentId],
  );
  return row ? instantText(row.frozen_time) : null;
}

/** Writes when the gateway is asked next about a payer who has to confirm since `since`; nobody is alarmed for that. */
export async function writePayerAgenda(
  tx: PaymentTransaction,
  payment: OwnedPayment,
  since: string,
  at: string,
): Promise<void> {
  await replaceAgendas(tx, [agendaOwner(payment, payerAgenda(since, at))]);
}

/** Writes when the gateway is asked next and when an operator hears of it; the time of waiting counts from the first call. */
export async function writeUnansweredAgenda(tx: PaymentTransaction, payment: OwnedPayment, at: string): Promise<void> {
  const since = (await gatewaySilentSince(tx, payment)) ?? at;
  await replaceAgendas(tx, [agendaOwner(payment, unansweredPaymentAgenda(since, at))]);
}

/** Since when the gateway has not said what became of a payment; null when nobody waits for that. */
export async function gatewaySilentSince(
  tx: PaymentTransaction,
  payment: Pick<PaymentRow, 'id' | 'environment_id'>,
): Promise<string | null> {
  const [report] = await tx.rows<{ due_at: string }>(
    `select due_at from agenda_entry
     where environment_id = $1 and object_type = 'payment' and object_id = $2 and kind = 'reportUnanswered'`,
    [payment.environment_id, payment.id],
  );
  return report ? unansweredSince(instantText(report.due_at)) : null;
}

function textOf(instant: string | null): string | null {
  return instant === null ? null : instantText(instant);
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
  destination_type: string;
  destination_id: string;
  payment_url: string | null;
  awaits_payer_since: string | null;
  subscription_id: string | null;
  parked: [string, string] | null;
  error_message: string | null;
  agenda: { at: string; kind: string }[];
}

const stateText = `
select p.version, p.payment_status, p.destination_type, p.destination_id, p.payment_url, p.awaits_payer_since, p.error_message,
  (select subscription_id from invoice where id = p.destination_id) as subscription_id,
  (select array[step, reason] from parked_object o
   where o.environment_id = $1 and o.object_type = 'payment' and o.object_id = p.id) as parked,
  coalesce((select jsonb_agg(jsonb_build_object('kind', kind, 'at', due_at::text)) from agenda_entry a
   where a.environment_id = $1 and a.object_type = 'payment' and a.object_id = p.id), '[]') as agenda
from payment p where p.environment_id = $1 and p.id = $2 and p.status = 'published'`;
