import type { RefundElsewhere } from '../../billing/payment/refund.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import { markerOf } from '../notification-json.ts';
import {
  GatewayOutcomeUnknown,
  type GatewayRefund,
  type GatewayRefundLookUp,
  type RefundRequest,
  type Refunds,
} from '../payment-gateway.ts';
import type { NotificationMarker } from '../provider-notification.ts';
import { amountOfPaddle, paddleAmount } from './amount.ts';
import type { PaddleClient } from './client.ts';
import { readTransaction } from './link.ts';
import type { PaddleAdjustment, PaddleTransaction } from './shapes.ts';

const minuteMs = 60_000;
/** A try is sent within so long of its first question, once. */
const sentWithinMs = 5 * minuteMs;
/** A try that is not there after so long never arrived: nothing that was sent can still be on its way. */
const arrivedWithinMs = 15 * minuteMs;
/** People at Paddle approve refunds; no longest time is published. */
const approvedWithinMs = 14 * 24 * 60 * minuteMs;
/** Codes of refusals that say to wait: another refund is not approved yet, or the payment not booked. */
const asksToWait = /^adjustment_(pending_refund_request|transaction_invalid_status_for_refund)\b/;

/**
 * Refunds of Paddle, which are adjustments of a transaction, approved or rejected later by people there and one at a time. They have no
 * idempotency key: our token is in the reason, by which they are found. A try is sent once and never again; one that did not arrive has
 * failed, after which the next try has another token. So a lost answer never gives back twice. design: money-in-checkout §A11, §C paddle
 */
export function paddleRefunds(client: PaddleClient): Refunds {
  return {
    resend: 'never',
    refund: (request) => refund(client, request),
    lookUp: (request) => lookUp(client, request),
    madeElsewhere: (charge) => madeElsewhere(client, charge),
  };
}

async function lookUp(client: PaddleClient, request: RefundRequest): Promise<GatewayRefundLookUp> {
  const adjustments = await refundsOf(client, request);
  const ours = adjustments.find(({ reason }) => tokenOf(reason) === request.token);
  // A refund that was made at Paddle has no token; it is known by its id alone.
  const elsewhere = adjustments.find((each) => tokenOf(each.reason) === null && each.id === request.providerId);
  const found = ours ?? elsewhere ?? adjustments.find((each) => isOfEarlierTry(each, request));
  if (found) return wireRefund(found);
  const { providerId } = request;
  // The id may be that of a try before, which was refused; one that is not there at all was there once.
  if (providerId !== null && !adjustments.some(({ id }) => id === providerId)) {
    throw new GatewayOutcomeUnknown(`paddle does not list ${providerId} any more`);
  }
  if (await hasToWait(client, request, adjustments)) return waiting(request);
  const hasFailed = Date.now() - Date.parse(request.createdAt) > arrivedWithinMs;
  return hasFailed ? failed(request, 'it never arrived at paddle') : { status: 'not_found' };
}

/** A try of the same refund that was given up for lost and arrived after all: its money counts for this one, which is not sent. */
function isOfEarlierTry({ reason, status }: PaddleAdjustment, { metadata }: RefundRequest): boolean {
  const marker = markerOfReason(reason);
  const isSame = marker !== null && marker.id === metadata.id && marker.environment === metadata.environment;
  return isSame && (status === 'pending_approval' || status === 'approved');
}

async function refund(client: PaddleClient, request: RefundRequest): Promise<GatewayRefund> {
  const transaction = await readTransaction(client, chargeOf(request));
  if (transaction.currency_code.toLowerCase() !== request.currency.toLowerCase()) {
    return failed(request, `the payment is in ${transaction.currency_code.toLowerCase()}`);
  }
  const known = await lookUp(client, request);
  if (known.status !== 'not_found') return known;
  if (Date.now() - Date.parse(request.createdAt) > sentWithinMs) {
    throw new GatewayOutcomeUnknown('the refund was asked for too long ago to be sent: paddle has no idempotency keys');
  }
  const answer = await client.post<PaddleAdjustment>('/adjustments', adjustmentOf(transaction, request));
  if (answer.refusal === null) return wireRefund(answer.object);
  return asksToWait.test(answer.refusal) ? waiting(request) : failed(request, answer.refusal);
}

/** Part of the one item of a transaction, its tax inside. */
function adjustmentOf(transaction: PaddleTransaction, request: RefundRequest): object {
  const item = transaction.details?.line_items[0];
  if (!item) throw new GatewayOutcomeUnknown(`paddle shows no item of ${transaction.id} that could be refunded`);
  return {
    action: 'refund',
    type: 'partial',
    tax_mode: 'internal',
    transaction_id: transaction.id,
    reason: reasonOf(request),
    items: [{ item_id: item.id, type: 'partial', amount: paddleAmount(request.amount, request.currency) }],
  };
}

/** Whether Paddle takes no refund of the payment now: another one is not approved yet, or the payment is not booked. */
async function hasToWait(
  client: PaddleClient,
  request: RefundRequest,
  adjustments: readonly PaddleAdjustment[],
): Promise<boolean> {
  if (adjustments.some(({ status }) => status === 'pending_approval')) return true;
  return (await readTransaction(client, chargeOf(request))).status !== 'completed';
}

async function madeElsewhere(client: PaddleClient, charge: GatewayReference): Promise<RefundElsewhere[]> {
  const adjustments = await refundsOf(client, charge);
  return adjustments
    .filter(({ reason }) => tokenOf(reason) === null)
    .map((adjustment) => {
      const { status, amount, currency } = wireRefund(adjustment);
      return { status, gatewayRefundId: adjustment.id, amount, currency };
    });
}

/** The refunds of a payment; chargebacks and credits are adjustments too, and are none. */
async function refundsOf(client: PaddleClient, charge: GatewayReference): Promise<PaddleAdjustment[]> {
  const query = { transaction_id: chargeOf(charge), action: 'refund', order_by: 'id[ASC]', per_page: '50' };
  const adjustments = await client.list<PaddleAdjustment>('/adjustments', query);
  return adjustments.filter(({ action }) => action === 'refund');
}

function chargeOf({ chargeProviderId }: GatewayReference): string {
  if (chargeProviderId !== null) return chargeProviderId;
  throw new GatewayOutcomeUnknown('the payment has no id at paddle yet, by which it could be refunded');
}

/** The reason of a refund: text is all that an adjustment keeps of ours. */
function reasonOf({ token, metadata }: RefundRequest): string {
  const { environment = '', kind = '', id = '' } = metadata;
  return id === '' ? token : `${kind} ${id} of ${environment}: ${token}`;
}

function tokenOf(reason: string): string | null {
  return /\bpn_[a-z2-7]{26}$/.exec(reason)?.[0] ?? null;
}

/** Our name of the refund whose reason this is; null where it is none of ours. */
export function markerOfReason(reason: string): NotificationMarker | null {
  const [, kind, id, environment] = /^(\w+) (\w+) of (\w+): pn_[a-z2-7]{26}$/.exec(reason) ?? [];
  return markerOf({ environment, kind, id });
}

function wireRefund(adjustment: PaddleAdjustment): GatewayRefund {
  const { id, status, totals, currency_code: currency, created_at } = adjustment;
  const isOver = status === 'rejected' || status === 'reversed';
  return {
    status: isOver ? 'failed' : status === 'approved' ? 'succeeded' : 'processing',
    gatewayRefundId: id,
    amount: amountOfPaddle(totals.total, currency),
    currency: currency.toLowerCase(),
    failureReason: isOver ? status : null,
    ...(status === 'pending_approval' ? { expectedBy: later(Date.parse(created_at), approvedWithinMs) } : {}),
  };
}

/** Nothing was sent: its turn comes when what is under way at Paddle is decided. */
function waiting({ amount, currency, createdAt }: RefundRequest): GatewayRefund {
  const expectedBy = later(Date.parse(createdAt), approvedWithinMs);
  return { status: 'processing', gatewayRefundId: null, amount, currency, failureReason: null, expectedBy };
}

function failed({ amount, currency }: RefundRequest, failureReason: string): GatewayRefund {
  return { status: 'failed', gatewayRefundId: null, amount, currency, failureReason };
}

function later(fromMs: number, ms: number): string {
  return new Date(fromMs + ms).toISOString();
}
