import { type AgendaItem, sortAgenda } from '../../billing/agenda.ts';
import {
  assertRetryable,
  mostRefundAttempts,
  type RefundStatus,
  type RefundTarget,
  refundTokenOf,
} from '../../billing/payment/refund.ts';
import { refuse } from '../../billing/refusal.ts';
import { newId } from '../../db/id.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import type { PaymentTransaction } from '../collection/payment-row.ts';
import { markerOf, wireToken } from '../collection/wire-token.ts';
import { parkObject, unparkObject } from '../lifecycle/parked-object.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { refuseDisputed } from './dispute.ts';
import { hasRoom, noRoom } from './refund-room.ts';
import {
  lockRefund,
  type RefundRow,
  refundAudit,
  refundColumns,
  refundEvent,
  replacedBy,
  writeRefundAgenda,
} from './refund-row.ts';
import { changeRefund, creditRefundToWallet, failRefund } from './refund-settle.ts';

/** A refund as its workflow sees it between two activities. */
export interface RefundState {
  refundId: string;
  version: number;
  refundStatus: RefundStatus;
  agenda: AgendaItem[];
  /** The step at which it is parked, and why; null when it is not. */
  blockedOn: string | null;
  blockedReason: string | null;
}

/** The state of a refund for its workflow. Throws `not_found`. */
export async function loadRefundState(tx: PaymentTransaction, refundId: string): Promise<RefundState> {
  const [row] = await tx.rows<StateRow>(stateText, [tx.scope.environmentId, refundId]);
  if (!row) throw missing('refund', refundId);
  const agenda = row.agenda.map((item) => ({ at: instantText(item.at), kind: item.kind, ref: '' }));
  return {
    refundId,
    version: row.version,
    refundStatus: row.refund_status,
    agenda: sortAgenda(agenda, lifecycleKinds.refund.agenda),
    blockedOn: row.parked?.[0] ?? null,
    blockedReason: row.parked?.[1] ?? null,
  };
}

/** What the gateway is asked to give back, the same for every question of one try. */
export interface RefundOfCharge {
  gateway: string;
  refundToken: string;
  /** Name of `refundToken` on the wire. */
  token: string;
  /** The refund at the gateway, once that told it. */
  providerId: string | null;
  /** The charge whose money goes back, by our name and by the gateway's. */
  intentToken: string;
  chargeProviderId: string | null;
  /** Real time at which the present try was first asked for. */
  createdAt: string;
  /** True when the present try is asked for now and was never sent before. */
  isFirst: boolean;
  amount: string;
  currency: string;
  metadata: Record<string, string>;
}

/**
 * The refund as its gateway is asked for it, which it is from now on: whoever asks the next time must take it for sent. Throws
 * `not_found`. spec: README decision 17
 */
export async function refundOfCharge(tx: PaymentTransaction, refundId: string): Promise<RefundOfCharge> {
  const [row] = await tx.rows<ChargedRow>(askedRefundText, [
    tx.scope.environmentId,
    refundId,
    new Date().toISOString(),
  ]);
  if (!row) throw missing('refund', refundId);
  const refundToken = refundTokenOf(refundId, row.attempt);
  return {
    gateway: row.payment_gateway ?? '',
    refundToken,
    token: wireToken(refundToken),
    providerId: row.gateway_refund_id,
    intentToken: row.intent_token,
    chargeProviderId: row.gateway_payment_id,
    createdAt: instantText(row.requested_at),
    isFirst: row.is_first,
    amount: decimalText(row.amount),
    currency: row.currency,
    metadata: markerOf('refund', refundId, tx.scope.environmentId),
  };
}

/**
 * What time does with a refund that is not sent or has failed: it is handed to its gateway, or after the third failure replaced
 * by one to the wallet. One that is under way or settled stays. spec: subscriptions-and-invoicing §2.20
 */
export async function sendDueRefund(tx: PaymentTransaction, refundId: string, at: string): Promise<void> {
  const row = await lockRefund(tx, refundId);
  const isDue = row.refund_status === 'PENDING' || (row.refund_status === 'FAILED' && replacedBy(row) === null);
  if (!isDue) return;
  if (!(await hasRoom(tx, row))) return parkWithoutRoom(tx, row, at);
  if (row.attempt < mostRefundAttempts) await handToGateway(tx, row, at);
  else if (await isOfUnapplied(tx, row)) await parkRefused(tx, row);
  else await replaceByWallet(tx, row, at);
}

/** A refund whose money left its payment otherwise waits for a person, who may give it to the wallet. */
async function parkWithoutRoom(tx: PaymentTransaction, row: RefundRow, at: string): Promise<void> {
  const reason = await noRoom(tx, row);
  await failRefund(tx, row, { gatewayRefundId: null, reason }, at);
  await parkObject(tx, tx.scope, { objectType: 'refund', objectId: row.id, step: 'retryRefund', reason });
}

/** A refund that goes beyond its payment is attributed to none, and names it. */
async function detach(tx: PaymentTransaction, row: RefundRow, at: string): Promise<RefundRow> {
  const detached = await changeRefund(
    tx,
    row.id,
    `payment_id = null, metadata = metadata || jsonb_build_object('beyond_payment', payment_id)`,
    [],
  );
  await writeAudit(tx, tx.scope, [refundAudit(detached, 'detached', at, { payment_id: row.payment_id })]);
  return detached;
}

/** True of a refund that gives back money that came late, twice or not as asked, which no wallet takes. design: money-in-checkout §A11 */
async function isOfUnapplied(tx: PaymentTransaction, row: RefundRow): Promise<boolean> {
  const [payment] = await tx.rows<{ unapplied: boolean }>(
    'select unapplied from payment where environment_id = $1 and id = $2',
    [tx.scope.environmentId, row.payment_id],
  );
  return payment?.unapplied ?? false;
}

/** A refund that its gateway refused for good waits for a person. */
async function parkRefused(tx: PaymentTransaction, row: RefundRow): Promise<void> {
  const reason = `the gateway refused ${row.attempt} times (${row.failure_reason ?? 'no reason given'}); no wallet takes this money`;
  await parkObject(tx, tx.scope, { objectType: 'refund', objectId: row.id, step: 'retryRefund', reason });
}

/**
 * A person tries a failed refund again: into the wallet, which settles it, or once more through its gateway. Throws `not_found`
 * and `invalid_operation`. spec: wallets-and-payments §2.21
 */
export async function retryRefund(
  tx: PaymentTransaction,
  input: { refundId: string; target: RefundTarget; at: string; refundableGateways: readonly string[] },
): Promise<void> {
  const row = await lockRefund(tx, input.refundId);
  assertRetryable({ refundStatus: row.refund_status, replacedBy: replacedBy(row) });
  await refuseDisputed(tx, { paymentId: row.payment_id });
  const unparkText = `delete from parked_object where environment_id = $1 and object_type = 'refund' and object_id = $2`;
  if (input.target === 'PREPAID_WALLET') {
    if (await isOfUnapplied(tx, row)) {
      throw refuse(
        'invalid_operation',
        'refund_target PREPAID_WALLET: money that came late, twice or not as asked goes to no wallet; BACK_TO_SOURCE is accepted',
        { fields: { refund_target: 'accepted is BACK_TO_SOURCE' } },
      );
    }
    await tx.rows(unparkText, [tx.scope.environmentId, row.id]);
    const given = (await hasRoom(tx, row)) ? row : await detach(tx, row, input.at);
    await creditRefundToWallet(tx, given, { at: input.at, isWholeNote: false });
    return;
  }
  if (!input.refundableGateways.includes(row.payment_gateway ?? '')) {
    throw refuse(
      'invalid_operation',
      `refund_target BACK_TO_SOURCE: ${row.payment_gateway ?? 'no gateway'} gives no money back; PREPAID_WALLET is accepted`,
      { fields: { refund_target: 'accepted is PREPAID_WALLET' } },
    );
  }
  if (!(await hasRoom(tx, row))) {
    throw refuse(
      'invalid_operation',
      `refund_target BACK_TO_SOURCE: ${await noRoom(tx, row)}; PREPAID_WALLET is accepted`,
      {
        fields: { refund_target: 'accepted is PREPAID_WALLET' },
      },
    );
  }
  await tx.rows(unparkText, [tx.scope.environmentId, row.id]);
  await handToGateway(tx, row, input.at);
}

/** Continues a parked refund: its gateway is asked at once, and its 24 hours begin anew. Throws `not_found`. */
export async function restartRefund(tx: PaymentTransaction, refundId: string, at: string): Promise<void> {
  const row = await lockRefund(tx, refundId);
  await unparkObject(tx, tx.scope, { objectType: 'refund', objectId: refundId });
  const waitsForPerson =
    row.refund_status === 'FAILED' && (row.succeeded_at !== null || (await isOfUnapplied(tx, row)));
  if (waitsForPerson) return handToGateway(tx, row, at);
  if (row.refund_status !== 'PROCESSING') return writeRefundAgenda(tx, row, at);
  const restarted = await changeRefund(tx, refundId, 'sent_at = $4', [at]);
  await writeRefundAgenda(tx, restarted, at);
  await writeAudit(tx, tx.scope, [refundAudit(restarted, 'continued', at, {})]);
}

async function handToGateway(tx: PaymentTransaction, row: RefundRow, at: string): Promise<void> {
  const sent = await changeRefund(
    tx,
    row.id,
    `refund_status = 'PROCESSING', sent_at = $4, initiated_at = coalesce(initiated_at, $4), requested_at = null, gateway_tracking_id = $5,
     gateway_refund_id = null`,
    [at, wireToken(refundTokenOf(row.id, row.attempt))],
  );
  await writeRefundAgenda(tx, sent, at);
  await writeAudit(tx, tx.scope, [refundAudit(sent, 'processing', at, { attempt: sent.attempt })]);
}

/** A new refund to the wallet takes the place of one that failed three times. */
async function replaceByWallet(tx: PaymentTransaction, row: RefundRow, at: string): Promise<void> {
  const id = newId('refund');
  const replaced = await changeRefund(
    tx,
    row.id,
    `metadata = metadata || jsonb_build_object('replaced_by', $4::text)`,
    [id],
  );
  await writeRefundAgenda(tx, replaced, at);
  const [made] = await tx.rows<RefundRow & Record<string, unknown>>(replacementText, [
    id,
    row.id,
    new Date().toISOString(),
    tx.scope.actor,
  ]);
  if (!made) throw new Error(`refund ${row.id} is gone under its lock`);
  await writeEvents(tx, tx.scope, [refundEvent('refund.created', made, at)]);
  await writeAudit(tx, tx.scope, [
    refundAudit(replaced, 'replaced', at, { replaced_by: id }),
    refundAudit(made, 'created', at, { replaces: row.id }),
  ]);
  await creditRefundToWallet(tx, made, { at, isWholeNote: false });
}

const replacementText = `
insert into refund (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, payment_id, invoice_id, credit_note_id,
  customer_id, amount, currency, refund_status, refund_reason, refund_target, refund_destination, idempotency_key, test_clock_id, metadata)
select $1, tenant_id, environment_id, $3, $4, $3, $4, payment_id, invoice_id, credit_note_id, customer_id, amount, currency, 'PENDING',
  refund_reason, 'PREPAID_WALLET', 'WALLET', $1, test_clock_id, metadata - 'replaced_by'
from refund where id = $2 returning ${refundColumns}`;

const askedRefundText = `
with before as (
  select id, requested_at from refund where environment_id = $1 and id = $2 for update
)
update refund r set requested_at = coalesce(r.requested_at, $3::timestamptz) from before, payment p
where r.id = before.id and p.id = r.payment_id
returning r.payment_gateway, r.attempt, r.amount, r.currency, r.gateway_refund_id, r.requested_at, before.requested_at is null as is_first,
  p.intent_token, p.gateway_payment_id`;

interface ChargedRow {
  payment_gateway: string | null;
  attempt: number;
  amount: string;
  currency: string;
  requested_at: string;
  is_first: boolean;
  gateway_refund_id: string | null;
  intent_token: string;
  gateway_payment_id: string | null;
  [column: string]: unknown;
}

interface StateRow {
  version: number;
  refund_status: RefundStatus;
  parked: [string, string] | null;
  agenda: { at: string; kind: string }[];
  [column: string]: unknown;
}

const stateText = `
select r.version, r.refund_status,
  (select array[step, reason] from parked_object o
   where o.environment_id = $1 and o.object_type = 'refund' and o.object_id = r.id) as parked,
  coalesce((select jsonb_agg(jsonb_build_object('kind', kind, 'at', due_at::text)) from agenda_entry a
   where a.environment_id = $1 and a.object_type = 'refund' and a.object_id = r.id), '[]') as agenda
from refund r where r.environment_id = $1 and r.id = $2 and r.status = 'published'`;
