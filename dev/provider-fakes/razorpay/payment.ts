import { type SandboxBehaviour, sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import {
  type FakeLink,
  type FakePayment,
  type FakeRefund,
  type RazorpayBooks,
  RazorpayRefusal,
  secondsNow,
  unknownId,
} from './books.ts';

export const declineReasons: Partial<Record<SandboxBehaviour, string>> = {
  declines: 'payment_declined',
  declines_times: 'insufficient_funds',
  declines_for_good: 'debit_instrument_blocked',
};

/** A payer pays a link with a card, or tries to; one attempt at a time. Says what became of it. The numbers are the sandbox gateway's. */
export function payLink(books: RazorpayBooks, linkId: string, cardNumber: string): string {
  const link = books.links.get(linkId);
  if (!link) throw unknownId();
  endIfOver(books, link);
  if (link.status !== 'created') return 'closed';
  const card = sandboxCardOf(cardNumber);
  if (!card) throw new RazorpayRefusal('the fake takes the test cards of the sandbox gateway');
  if (books.paymentsOf(link).some(({ status }) => status === 'created')) return 'processing';
  const payment = newPayment(books, link, { behaviour: card.behaviour, remaining: card.count });
  const isDeclined = card.behaviour !== 'declines_times' || failuresOf(books, link) < card.count;
  const reason = isDeclined ? declineReasons[card.behaviour] : undefined;
  if (reason !== undefined) fail(books, payment, reason);
  else if (['never_answers', 'answers_late', 'requires_action'].includes(card.behaviour)) return 'processing';
  else capture(books, payment, takenOf(payment));
  return payment.status;
}

function failuresOf(books: RazorpayBooks, link: FakeLink): number {
  return books.paymentsOf(link).filter(({ status }) => status === 'failed').length;
}

/** An attempt to pay a link. Its order is made with the first one, and it has the notes of its link. */
export function newPayment(
  books: RazorpayBooks,
  link: FakeLink,
  played: Pick<FakePayment, 'behaviour' | 'remaining'> = { behaviour: 'succeeds', remaining: 0 },
): FakePayment {
  link.order_id ??= books.newId('order');
  const { amount, currency, order_id, notes } = link;
  const description = `#${link.id.replace('plink_', '')}`;
  return newAttempt(books, { amount, currency, order_id, description, notes: structuredClone(notes), ...played });
}

/** An attempt to pay an order. */
export function newAttempt(
  books: RazorpayBooks,
  members: Pick<FakePayment, 'amount' | 'currency' | 'order_id' | 'description' | 'notes' | 'behaviour' | 'remaining'> &
    Partial<FakePayment>,
): FakePayment {
  const payment: FakePayment = {
    id: books.newId('pay'),
    entity: 'payment',
    status: 'created',
    amount_refunded: 0,
    captured: false,
    created_at: secondsNow(),
    error_code: null,
    error_reason: null,
    token_id: null,
    customer_id: null,
    invoice_id: null,
    ...members,
  };
  books.payments.set(payment.id, payment);
  return payment;
}

/** Taken in place of what was asked, as by fees that the payer bears, or another currency. */
function takenOf({ amount, currency, behaviour }: FakePayment): { amount?: number; currency?: string } {
  if (behaviour === 'captures_less') return { amount: amount - 1 };
  if (behaviour === 'captures_more') return { amount: amount + 100 };
  return behaviour === 'captures_otherwise' ? { currency: currency === 'EUR' ? 'USD' : 'EUR' } : {};
}

/** Reserves the money of an attempt, as an account does that captures by hand. */
export function authorize(books: RazorpayBooks, payment: FakePayment): void {
  payment.status = 'authorized';
  books.tell('payment.authorized', { payment });
}

/** Takes the money of an attempt, whatever state it or its link is in. */
export function capture(
  books: RazorpayBooks,
  payment: FakePayment,
  taken: { amount?: number; currency?: string } = {},
): void {
  Object.assign(payment, taken, { status: 'captured', captured: true, error_code: null, error_reason: null });
  const link = linkOf(books, payment);
  const isPaid = link?.status === 'created';
  if (link && isPaid) Object.assign(link, { status: 'paid', amount_paid: payment.amount });
  books.tell('payment.captured', { payment });
  if (link && isPaid) books.tell('payment_link.paid', { payment_link: link, payment });
}

export function fail(books: RazorpayBooks, payment: FakePayment, reason: string): void {
  Object.assign(payment, { status: 'failed', error_code: 'BAD_REQUEST_ERROR', error_reason: reason });
  books.tell('payment.failed', { payment });
}

/** The attempt of a link that is not decided; null when there is none. */
export function underWay(books: RazorpayBooks, linkId: string): FakePayment | null {
  const link = books.links.get(linkId);
  if (!link) throw unknownId();
  return books.paymentsOf(link).find(({ status }) => status === 'created') ?? null;
}

/** A late attempt comes one step nearer to its end with each look at it. */
export function nearer(books: RazorpayBooks, payment: FakePayment): void {
  if (payment.status !== 'created' || payment.behaviour !== 'answers_late') return;
  payment.remaining -= 1;
  if (payment.remaining <= 0) capture(books, payment);
}

function linkOf(books: RazorpayBooks, { order_id }: FakePayment): FakeLink | undefined {
  return [...books.links.values()].find((link) => link.order_id === order_id);
}

/** A link whose time has come ends by itself. */
export function endIfOver(books: RazorpayBooks, link: FakeLink): void {
  if (link.status !== 'created' || link.expire_by * 1000 > Date.now()) return;
  Object.assign(link, { status: 'expired', expired_at: secondsNow() });
  books.tell('payment_link.expired', { payment_link: link });
}

/** Gives money of a captured payment back; refuses more than is left of it. */
export function giveBack(
  books: RazorpayBooks,
  payment: FakePayment,
  members: Pick<FakeRefund, 'amount' | 'notes' | 'receipt'>,
): FakeRefund {
  if (!payment.captured) throw new RazorpayRefusal('The payment status should be captured for action to be taken');
  if (payment.amount_refunded === payment.amount) {
    throw new RazorpayRefusal('The payment has been fully refunded already');
  }
  if (payment.amount_refunded + members.amount > payment.amount) {
    throw new RazorpayRefusal('The refund amount provided is greater than amount captured', { field: 'amount' });
  }
  const refund: FakeRefund = {
    id: books.newId('rfnd'),
    entity: 'refund',
    currency: payment.currency,
    payment_id: payment.id,
    created_at: secondsNow(),
    ...statusOf(payment),
    ...members,
  };
  books.refunds.set(refund.id, refund);
  if (refund.status !== 'failed') counted(books, payment);
  books.tell('refund.created', { refund, payment });
  if (refund.status !== 'pending') books.tell(`refund.${refund.status}`, { refund, payment });
  if (payment.behaviour === 'refund_answers_twice') books.tell('refund.processed', { refund, payment });
  return refund;
}

function statusOf(payment: FakePayment): Pick<FakeRefund, 'status' | 'looksLeft'> {
  if (payment.behaviour === 'refund_fails') return { status: 'failed', looksLeft: null };
  if (payment.behaviour === 'refund_fails_times' && payment.remaining > 0) {
    payment.remaining -= 1;
    return { status: 'failed', looksLeft: null };
  }
  if (payment.behaviour === 'refund_answers_late') return { status: 'pending', looksLeft: payment.remaining };
  return { status: payment.behaviour === 'refund_never_answers' ? 'pending' : 'processed', looksLeft: null };
}

/** Sum given back of a payment; one that is given back whole is refunded. */
function counted(books: RazorpayBooks, payment: FakePayment): void {
  const given = books.refundsOf(payment.id).filter(({ status }) => status !== 'failed');
  payment.amount_refunded = given.reduce((total, { amount }) => total + amount, 0);
  payment.status = payment.amount_refunded === payment.amount ? 'refunded' : 'captured';
}

/** A late refund comes one step nearer to its end with each look at it. */
export function nearerRefund(books: RazorpayBooks, refund: FakeRefund): void {
  if (refund.status !== 'pending' || refund.looksLeft === null) return;
  refund.looksLeft -= 1;
  if (refund.looksLeft <= 0) decideRefund(books, refund.id, 'processed');
}

/** A refund is paid out, or its bank sends it back, also days after it was processed. */
export function decideRefund(books: RazorpayBooks, refundId: string, status: 'processed' | 'failed'): void {
  const refund = books.refunds.get(refundId);
  const payment = books.payments.get(refund?.payment_id ?? '');
  if (!refund || !payment) throw unknownId();
  refund.status = status;
  counted(books, payment);
  books.tell(`refund.${status}`, { refund, payment });
}

/** Somebody gives money back in the dashboard; the refund carries no name of ours. Answers its id. */
export function refundInDashboard(books: RazorpayBooks, paymentId: string, amount: number): string {
  const payment = books.payments.get(paymentId);
  if (!payment) throw unknownId();
  return giveBack(books, payment, { amount, notes: [], receipt: null }).id;
}
