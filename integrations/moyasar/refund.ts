import { randomInt } from 'node:crypto';
import type { GatewayReference } from '../gateway-reference.ts';
import {
  GatewayOutcomeUnknown,
  type GatewayRefund,
  type GatewayRefundLookUp,
  type RefundRequest,
  type Refunds,
} from '../payment-gateway.ts';
import { amountOfMoyasar, moyasarAmount } from './amount.ts';
import { type MoyasarClient, objectOf } from './client.ts';
import type { MoyasarPayment } from './shapes.ts';

const hourMs = 3_600_000;
/** Until then a refund is sent again; later ones are only asked about. */
const resentUntilMs = 23 * hourMs;
/** Age from which a mark cannot become a refund any more: it is past the last sending and all that was under way. */
const forgottenMs = 24 * hourMs;

/** Note at a payment before its money goes back: the sums given back before and after, when it was sent, and by which sending. */
interface Mark {
  token: string;
  before: number;
  after: number;
  sentAt: number;
  sending: number;
}

/**
 * Refunds of Moyasar, which has neither objects nor idempotency keys for them: a payment only counts what was given back. So each try is
 * written into the payment's metadata first, with the sum from which on it has succeeded, and one at a time is under way. A try whose
 * answer was lost is not sent again before `settledMs` have passed, after which no earlier request can still arrive.
 * design: money-in-checkout §A11, §C moyasar
 */
export function moyasarRefunds(client: MoyasarClient, settledMs: number): Refunds {
  return {
    resend: { untilMs: resentUntilMs },
    refund: (request) => refund(client, request, settledMs),
    lookUp: async (request) => lookUp(await paymentOf(client, request), request),
    givenBack: async (charge) => givenBack(await paymentOf(client, charge)),
  };
}

async function refund(client: MoyasarClient, request: RefundRequest, settledMs: number): Promise<GatewayRefund> {
  const payment = await paymentOf(client, request);
  if (payment.currency.toLowerCase() !== request.currency.toLowerCase()) {
    return failed(request, `the payment is in ${payment.currency.toLowerCase()}`);
  }
  const known = lookUp(payment, request);
  if (known.status !== 'not_found') return known;
  const marks = marksOf(payment);
  const ours = marks.find(({ token }) => token === request.token);
  if (ours && Date.now() - ours.sentAt < settledMs) {
    throw new GatewayOutcomeUnknown('the refund was sent to moyasar moments ago and may still arrive there');
  }
  const minor = moyasarAmount(request.amount, request.currency);
  const mark: Mark = {
    token: request.token,
    before: payment.refunded,
    after: payment.refunded + minor,
    sentAt: Date.now(),
    sending: randomInt(2 ** 47),
  };
  await writeMark(client, payment, mark, forgotten(marks, payment, request));
  const answer = await client.post<MoyasarPayment>(`/payments/${encodeURIComponent(payment.id)}/refund`, {
    amount: minor,
  });
  if (answer.refusal === null) {
    if (answer.object.refunded < mark.after)
      throw new GatewayOutcomeUnknown('moyasar counts less given back than asked');
    return succeeded(payment.id, request);
  }
  // A refusal gives nothing back; only an earlier sending of this try may have arrived after all.
  if (ours) {
    const arrived = lookUp(await paymentOf(client, request), request);
    if (arrived.status !== 'not_found') return arrived;
  }
  await putMarks(client, payment.id, { [nameOf(request.token)]: '' });
  return failed(request, answer.refusal);
}

/** Writes a mark and reads it back: where another refund began in the same moment, neither is sent, and both are asked again. */
async function writeMark(
  client: MoyasarClient,
  payment: MoyasarPayment,
  mark: Mark,
  forgottenNames: readonly string[],
): Promise<void> {
  const gone = Object.fromEntries(forgottenNames.map((name) => [name, '']));
  await putMarks(client, payment.id, { ...gone, [nameOf(mark.token)]: textOf(mark) });
  const now = objectOf(
    await client.get<MoyasarPayment>(`/payments/${encodeURIComponent(payment.id)}`),
    'show a payment',
  );
  const marks = marksOf(now);
  const isOurs = marks.some(({ token, sending }) => token === mark.token && sending === mark.sending);
  const isAlone = marks.every(({ token, after }) => token === mark.token || after <= now.refunded);
  if (isOurs && isAlone && now.refunded === mark.before) return;
  // A mark of another sending of this try stays: that one may be on its way.
  if (isOurs) await putMarks(client, payment.id, { [nameOf(mark.token)]: '' });
  throw new GatewayOutcomeUnknown('another refund of the payment began at moyasar in the same moment');
}

/** Names of marks that cannot become refunds any more. Throws `GatewayOutcomeUnknown` while another refund is undecided. */
function forgotten(marks: readonly Mark[], payment: MoyasarPayment, request: RefundRequest): string[] {
  const undecided = marks.filter(({ token, after }) => token !== request.token && after > payment.refunded);
  if (undecided.some(({ sentAt }) => Date.now() - sentAt < forgottenMs)) {
    throw new GatewayOutcomeUnknown('another refund of the payment is undecided at moyasar, which takes one at a time');
  }
  return undecided.map(({ token }) => nameOf(token));
}

async function putMarks(client: MoyasarClient, paymentId: string, metadata: Record<string, string>): Promise<void> {
  objectOf(await client.put(`/payments/${encodeURIComponent(paymentId)}`, { metadata }), 'write down a refund');
}

async function paymentOf(client: MoyasarClient, { chargeProviderId }: GatewayReference): Promise<MoyasarPayment> {
  if (chargeProviderId === null) {
    throw new GatewayOutcomeUnknown('the payment has no id at moyasar yet, by which it could be refunded');
  }
  return objectOf(
    await client.get<MoyasarPayment>(`/payments/${encodeURIComponent(chargeProviderId)}`),
    'show the payment of a refund',
  );
}

function lookUp(payment: MoyasarPayment, request: RefundRequest): GatewayRefundLookUp {
  const mark = marksOf(payment).find(({ token }) => token === request.token);
  return mark && mark.after <= payment.refunded ? succeeded(payment.id, request) : { status: 'not_found' };
}

/** Sum that was given back of a payment, whoever did it: all of it where a person voided it. */
function givenBack({ status, amount, captured, refunded, currency }: MoyasarPayment): string {
  return amountOfMoyasar(status === 'voided' ? captured || amount : refunded, currency);
}

function succeeded(paymentId: string, { token, amount, currency }: RefundRequest): GatewayRefund {
  // Moyasar has no id of a refund: this one is made of the payment's and of our token.
  return { status: 'succeeded', gatewayRefundId: `${paymentId}/${token}`, amount, currency, failureReason: null };
}

function failed({ amount, currency }: RefundRequest, failureReason: string): GatewayRefund {
  return { status: 'failed', gatewayRefundId: null, amount, currency, failureReason };
}

const prefix = 'refund_';
const nameOf = (token: string): string => prefix + token;
const textOf = ({ before, after, sentAt, sending }: Mark): string => `${before}:${after}:${sentAt}:${sending}`;

function marksOf({ metadata }: MoyasarPayment): Mark[] {
  return Object.entries(metadata ?? {}).flatMap(([name, text]) => {
    const match = /^(\d+):(\d+):(\d+):(\d+)$/.exec(text);
    if (!name.startsWith(prefix) || !match) return [];
    const [before = 0, after = 0, sentAt = 0, sending = 0] = match.slice(1).map(Number);
    return [{ token: name.slice(prefix.length), before, after, sentAt, sending }];
  });
}
