import { randomInt } from 'node:crypto';
import type { RefundElsewhere } from '../../billing/payment/refund.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import {
  GatewayOutcomeUnknown,
  type GatewayRefund,
  type GatewayRefundLookUp,
  type RefundRequest,
  type Refunds,
} from '../payment-gateway.ts';
import { amountOfWhop, whopAmount } from './amount.ts';
import { listAll, objectOf, type WhopClient } from './client.ts';
import { chargedCurrency, instantOf, readPayment } from './payment.ts';
import { readPlan } from './plan.ts';
import { claimsOf, marksOf, type RefundMark, withMarks } from './refund-mark.ts';
import type { WhopPayment, WhopPlan, WhopRefund } from './shapes.ts';

/** Time within which a refund may be sent for the first time, where others were before it. */
const sentUntilMs = 23 * 3_600_000;
/** Age from which a note without a refund holds up no other: all that was under way has arrived or is lost. */
const forgottenMs = 24 * 3_600_000;
/** A refund that a bank decides takes ten working days at most, which have sixteen days with their week-ends. */
export const slowestRefundMs = 16 * 24 * 3_600_000;

/** A payment, its refunds, the first made first, and the notes of ours at its plan. */
interface Refunded {
  payment: WhopPayment;
  refunds: WhopRefund[];
  plan: WhopPlan;
  marks: RefundMark[];
  claims: Map<string, WhopRefund>;
}

/**
 * Refunds of Whop, which carry no name of ours. So each try is written into the metadata of the plan that the payment is for first, with the number of
 * refunds that were there before it, and one at a time is under way: the next refund of its amount is its own. A try that has a note was
 * sent; it is sent again only when `settledMs` have passed since. design: money-in-checkout §A2, §A11, §C whop
 */
export function whopRefunds(client: WhopClient, settledMs: number): Refunds {
  return {
    resend: { untilMs: sentUntilMs },
    refund: (request) => refund(client, request, settledMs),
    lookUp: async (request) => lookUp(await refundedOf(client, request), request),
    madeElsewhere: async (charge) => madeElsewhere(await refundedOf(client, charge)),
  };
}

async function refund(client: WhopClient, request: RefundRequest, settledMs: number): Promise<GatewayRefund> {
  const before = await refundedOf(client, request);
  const { payment, plan, refunds, marks, claims } = before;
  const currency = chargedCurrency(payment);
  if (currency !== request.currency.toLowerCase()) return failed(request, `the payment is in ${currency}`);
  const known = lookUp(before, request);
  if (known.status !== 'not_found') return known;
  const ours = marks.find(({ token }) => token === request.token);
  if (ours && Date.now() - ours.sentAt < settledMs) {
    throw new GatewayOutcomeUnknown('the refund was sent to whop, which does not list it; it may still arrive there');
  }
  const open = marks.filter(({ token }) => token !== request.token && !claims.has(token));
  if (open.some(isFresh)) throw new GatewayOutcomeUnknown('another refund of the payment is undecided at whop');
  const units = whopAmount(request.amount, request.currency);
  const mark: RefundMark = {
    token: request.token,
    before: ours?.before ?? refunds.length,
    amount: amountOfWhop(units),
    sentAt: Date.now(),
    sending: randomInt(2 ** 47),
  };
  const forgotten = Object.fromEntries(open.map(({ token }) => [token, null]));
  await writeMark(client, plan, request, { mark, former: ours ?? null, forgotten });
  const path = `/payments/${encodeURIComponent(payment.id)}/refund`;
  const answer = await client.post<WhopPayment>(path, { partial_amount: units }, request.token);
  // A refusal makes no refund; only an earlier sending of this try may have made one.
  if (answer.refusal === null || ours) {
    const arrived = lookUp(await refundedOf(client, request), request);
    if (arrived.status !== 'not_found') return arrived;
  }
  if (answer.refusal === null) throw new GatewayOutcomeUnknown('whop took the refund and does not list it yet');
  await takeBack(client, plan.id, mark, null).catch(() => undefined);
  return failed(request, answer.refusal);
}

/** Whether a note without a refund may still become one. */
function isFresh({ sentAt }: RefundMark): boolean {
  return Date.now() - sentAt < forgottenMs;
}

type MarkChanges = Readonly<Record<string, RefundMark | null>>;

/**
 * Writes a note and reads it back: where another refund began in the same moment, neither is sent, and both are asked again. A note under
 * which nothing was sent is taken back; where that fails too, the try counts as sent.
 */
async function writeMark(
  client: WhopClient,
  plan: WhopPlan,
  request: RefundRequest,
  { mark, former, forgotten }: { mark: RefundMark; former: RefundMark | null; forgotten: MarkChanges },
): Promise<void> {
  try {
    await putMarks(client, plan, { ...forgotten, [mark.token]: mark });
    const { marks, claims } = await refundedOf(client, request);
    const isAlone = marks.every((each) => each.token === mark.token || claims.has(each.token) || !isFresh(each));
    if (marks.some(isSame(mark)) && isAlone && !claims.has(mark.token)) return;
    throw new GatewayOutcomeUnknown('another refund of the payment began at whop in the same moment');
  } catch (error) {
    await takeBack(client, plan.id, mark, former).catch(() => undefined);
    throw error;
  }
}

/** Puts back what stood before a note, unless another sending has written one since. */
async function takeBack(
  client: WhopClient,
  planId: string,
  mark: RefundMark,
  former: RefundMark | null,
): Promise<void> {
  const plan = await readPlan(client, planId);
  if (marksOf(plan).some(isSame(mark))) await putMarks(client, plan, { [mark.token]: former });
}

function isSame({ token, sending }: RefundMark): (mark: RefundMark) => boolean {
  return (mark) => mark.token === token && mark.sending === sending;
}

async function putMarks(client: WhopClient, plan: WhopPlan, changes: MarkChanges): Promise<void> {
  const metadata = withMarks(plan, changes);
  objectOf(await client.patch(`/plans/${encodeURIComponent(plan.id)}`, { metadata }), 'write down a refund');
}

async function refundedOf(client: WhopClient, { chargeProviderId }: GatewayReference): Promise<Refunded> {
  if (chargeProviderId === null) {
    throw new GatewayOutcomeUnknown('the payment has no id at whop yet, by which it could be refunded');
  }
  const payment = await readPayment(client, chargeProviderId);
  if (!payment.plan) throw new GatewayOutcomeUnknown(`whop names no plan of ${payment.id}, at which refunds are noted`);
  const plan = await readPlan(client, payment.plan.id);
  const listed = await listAll<WhopRefund>(client, '/refunds', { payment_id: payment.id });
  const refunds = listed
    .filter((each) => each.payment === null || each.payment.id === payment.id)
    .toSorted((a, b) => a.created_at.localeCompare(b.created_at));
  const marks = marksOf(plan);
  return { payment, plan, refunds, marks, claims: claimsOf(marks, refunds) };
}

function lookUp({ refunds, claims }: Refunded, { token, providerId }: RefundRequest): GatewayRefundLookUp {
  const claimed = new Set([...claims.values()].map(({ id }) => id));
  // One that was made at Whop has no note; it is known by its id alone.
  const found = claims.get(token) ?? refunds.find(({ id }) => id === providerId && !claimed.has(id));
  return found ? wireRefund(found) : { status: 'not_found' };
}

function madeElsewhere({ refunds, claims }: Refunded): RefundElsewhere[] {
  const claimed = new Set([...claims.values()].map(({ id }) => id));
  return refunds
    .filter(({ id }) => !claimed.has(id))
    .map((refund) => {
      const { status, amount, currency } = wireRefund(refund);
      return { status, gatewayRefundId: refund.id, amount, currency };
    });
}

function wireRefund({ id, status, amount, currency, created_at }: WhopRefund): GatewayRefund {
  const isOver = status === 'failed' || status === 'canceled';
  const isWaiting = !isOver && status !== 'succeeded';
  return {
    status: isOver ? 'failed' : isWaiting ? 'processing' : 'succeeded',
    gatewayRefundId: id,
    amount: amountOfWhop(amount),
    currency: currency.toLowerCase(),
    failureReason: isOver ? `refund_${status}` : null,
    ...(isWaiting ? { expectedBy: new Date(Date.parse(instantOf(created_at)) + slowestRefundMs).toISOString() } : {}),
  };
}

function failed({ amount, currency }: RefundRequest, failureReason: string): GatewayRefund {
  return { status: 'failed', gatewayRefundId: null, amount, currency, failureReason };
}
