import type { RefundElsewhere } from '../../billing/payment/refund.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import {
  GatewayOutcomeUnknown,
  type GatewayRefund,
  type GatewayRefundLookUp,
  type RefundRequest,
  type Refunds,
} from '../payment-gateway.ts';
import { amountOfChargebee, chargebeeAmount } from './amount.ts';
import { type ChargebeeAnswer, type ChargebeeClient, objectOf, resentUntilMs } from './client.ts';
import { isFailed, isUndecided } from './decline.ts';
import {
  claimedRefunds,
  isAnotherUndecided,
  marksOf,
  type RefundMark,
  takeMarkAway,
  writeMark,
} from './refund-mark.ts';
import type { ChargebeeLinkedRefund, ChargebeeTransaction } from './shapes.ts';

/** A refund to a card takes up to seven days. */
const slowestRefundMs = 7 * 24 * 3_600_000;

/**
 * Refunds of payments. Each is written down at the payment before it is sent, so that one whose answer was lost is found again also when
 * Chargebee has forgotten its idempotency key; two of one amount are under way one after the other. design: money-in-checkout §C chargebee
 */
export function chargebeeRefunds(client: ChargebeeClient): Refunds {
  return {
    resend: { untilMs: resentUntilMs },
    refund: (request) => refund(client, request),
    lookUp: async (request) => lookUp(await standingOf(client, request), request),
    madeElsewhere: async (charge) => madeElsewhere(await standingOf(client, charge)),
  };
}

/** A payment, what was written down at it, and which of its refunds belongs to which of our tokens. */
interface Standing {
  payment: ChargebeeTransaction;
  marks: readonly RefundMark[];
  claimed: ReadonlyMap<string, ChargebeeLinkedRefund>;
}

async function standingOf(client: ChargebeeClient, { chargeProviderId }: GatewayReference): Promise<Standing> {
  if (chargeProviderId === null) {
    throw new GatewayOutcomeUnknown('the payment has no id at chargebee yet, by which it could be refunded');
  }
  const path = `/transactions/${encodeURIComponent(chargeProviderId)}`;
  const answer = await client.get<{ transaction: ChargebeeTransaction }>(path);
  const payment = objectOf(answer, 'show the payment of a refund').transaction;
  const marks = await marksOf(client, payment.id);
  return { payment, marks, claimed: claimedRefunds(payment, marks) };
}

async function refund(client: ChargebeeClient, request: RefundRequest): Promise<GatewayRefund> {
  const before = await standingOf(client, request);
  const { payment } = before;
  if (payment.currency_code.toLowerCase() !== request.currency.toLowerCase()) {
    return refused(request, `the payment is in ${payment.currency_code.toLowerCase()}`);
  }
  const known = lookUp(before, request);
  if (known.status !== 'not_found') return known;
  const ours = { token: request.token, minor: chargebeeAmount(request.amount, request.currency) };
  if (!before.marks.some(({ token }) => token === ours.token)) await writeAlone(client, before, request, ours);
  else if (isAnotherUndecided(ours, before.marks, before.claimed)) throw oneByOne();
  const answer = await send(client, payment, ours);
  if (answer.refusal === null) return wireSent(answer.object.transaction);
  // An earlier sending that arrived after all may be why this one is refused; one that failed may be shown as a refund.
  const after = await standingOf(client, request);
  const arrived = lookUp(after, request);
  if (arrived.status !== 'not_found') return arrived;
  for (const each of after.marks) if (each.token === request.token) await takeMarkAway(client, each);
  return refused(request, answer.refusal.text);
}

/**
 * Writes a refund down unless another of its amount is undecided, and reads it back: where two began in the same moment the later one waits.
 * Throws `GatewayOutcomeUnknown` where it has to.
 */
async function writeAlone(
  client: ChargebeeClient,
  before: Standing,
  request: RefundRequest,
  ours: { token: string; minor: number },
): Promise<void> {
  if (isAnotherUndecided(ours, before.marks, before.claimed)) throw oneByOne();
  await writeMark(client, before.payment, ours);
  const { marks, claimed } = await standingOf(client, request);
  const written = marks.filter(({ token }) => token === ours.token);
  if (written.length === 0) {
    throw new GatewayOutcomeUnknown('chargebee does not show yet what was written down of the refund');
  }
  if (!isAnotherUndecided(ours, marks, claimed)) return;
  // Nothing was sent for it: it is written down anew when its turn comes. A second sending of ours may have sent.
  if (written.length === 1) for (const mark of written) await takeMarkAway(client, mark);
  throw oneByOne();
}

function oneByOne(): GatewayOutcomeUnknown {
  return new GatewayOutcomeUnknown('another refund of this amount is undecided at chargebee; they go one by one');
}

/**
 * Sends a refund: of what no invoice of Chargebee took, by the payment; else by the invoice that took it, because Chargebee refuses the
 * former then.
 */
function send(
  client: ChargebeeClient,
  payment: ChargebeeTransaction,
  { token, minor }: { token: string; minor: number },
): Promise<ChargebeeAnswer<{ transaction: ChargebeeTransaction }>> {
  const [invoice] = payment.linked_invoices ?? [];
  const comment = `Refund ${token} of Perennial`;
  if (invoice === undefined || (payment.amount_unused ?? 0) >= minor) {
    const path = `/transactions/${encodeURIComponent(payment.id)}/refund`;
    return client.post(path, { amount: String(minor), comment }, token);
  }
  const path = `/invoices/${encodeURIComponent(invoice.invoice_id)}/refund`;
  return client.post(path, { refund_amount: String(minor), comment, 'credit_note[reason_code]': 'other' }, token);
}

function lookUp({ payment, claimed }: Standing, request: RefundRequest): GatewayRefundLookUp {
  const ours = claimed.get(request.token);
  if (ours) return wireRefund(payment, ours);
  const { providerId } = request;
  // A refund made at Chargebee has no mark; it is known by its id alone.
  const others = new Set([...claimed.values()].map(({ txn_id }) => txn_id));
  const elsewhere = (payment.linked_refunds ?? []).find(({ txn_id }) => txn_id === providerId && !others.has(txn_id));
  if (elsewhere) return wireRefund(payment, elsewhere);
  return providerId !== null && providerId === lateFailureOf(payment)
    ? wireLateFailure(payment)
    : { status: 'not_found' };
}

/**
 * Refunds of a payment that are none of ours, and its own late failure: money that a bank took back after it had been captured is gone as by
 * a refund. design: money-in-checkout §A11
 */
function madeElsewhere({ payment, claimed }: Standing): RefundElsewhere[] {
  const ours = new Set([...claimed.values()].map(({ txn_id }) => txn_id));
  const refunds = (payment.linked_refunds ?? []).filter(({ txn_id }) => !ours.has(txn_id));
  const lateFailure = lateFailureOf(payment) === null ? [] : [wireLateFailure(payment)];
  return [...refunds.map((each) => wireRefund(payment, each)), ...lateFailure].map(
    ({ status, gatewayRefundId, amount, currency }) => ({ status, gatewayRefundId, amount, currency }),
  );
}

/** Id by which the late failure of a payment is known, made of the payment's; null where it has none. */
function lateFailureOf({ id, status }: ChargebeeTransaction): string | null {
  return status === 'late_failure' ? `${id}/late_failure` : null;
}

type Shown = GatewayRefund & { gatewayRefundId: string };

function wireLateFailure(payment: ChargebeeTransaction): Shown {
  return {
    status: 'succeeded',
    gatewayRefundId: lateFailureOf(payment) ?? '',
    amount: amountOfChargebee(payment.amount, payment.currency_code),
    currency: payment.currency_code.toLowerCase(),
    failureReason: null,
  };
}

function wireSent({ id, status, date, amount, currency_code }: ChargebeeTransaction): Shown {
  return wireRefund({ currency_code }, { txn_id: id, txn_status: status, txn_date: date, txn_amount: amount });
}

function wireRefund(
  { currency_code }: Pick<ChargebeeTransaction, 'currency_code'>,
  { txn_id, txn_status, txn_date, txn_amount }: ChargebeeLinkedRefund,
): Shown {
  const isWaiting = isUndecided(txn_status);
  return {
    status: isFailed(txn_status) ? 'failed' : isWaiting ? 'processing' : 'succeeded',
    gatewayRefundId: txn_id,
    amount: amountOfChargebee(txn_amount, currency_code),
    currency: currency_code.toLowerCase(),
    failureReason: isFailed(txn_status) ? txn_status : null,
    ...(isWaiting ? { expectedBy: new Date(txn_date * 1000 + slowestRefundMs).toISOString() } : {}),
  };
}

function refused({ amount, currency }: RefundRequest, failureReason: string): GatewayRefund {
  return { status: 'failed', gatewayRefundId: null, amount, currency, failureReason };
}
