import { type SandboxCard, sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import {
  type FakeAdjustment,
  type FakeAttempt,
  type FakeTransaction,
  invalid,
  type PaddleBooks,
  PaddleRefusal,
  paddleId,
} from './books.ts';

const waits = new Set<FakeAttempt['status']>(['created', 'action_required', 'pending_no_action_required']);

/** The transaction of an id. Throws as Paddle refuses one that it does not have. */
export function transactionOf(books: PaddleBooks, id: string): FakeTransaction {
  const transaction = books.transactions.get(id);
  if (!transaction) throw new PaddleRefusal(404, 'entity_not_found');
  return transaction;
}

/** Whether a transaction can still be paid. */
export function isPayable({ status }: FakeTransaction): boolean {
  return status === 'draft' || status === 'ready';
}

/** A payer names itself to Paddle, after which a transaction has all that it needs. */
export function begin(books: PaddleBooks, transaction: FakeTransaction): void {
  if (transaction.status !== 'draft') return;
  Object.assign(transaction, { status: 'ready', customer_id: paddleId('ctm') });
  books.tell('transaction.ready', transaction);
}

/** A payer pays a transaction with a test card of the sandbox gateway, or tries to; one attempt at a time. Says what became of it. */
export function payTransaction(books: PaddleBooks, id: string, cardNumber: string): string {
  const card = sandboxCardOf(cardNumber);
  if (!card) throw invalid('card_number');
  const transaction = transactionOf(books, id);
  if (!isPayable(transaction)) return 'closed';
  if (transaction.payments.some(({ status }) => waits.has(status))) return 'pending';
  begin(books, transaction);
  const attempt = newAttempt(books, transaction, card);
  const code = declineOf(card);
  if (code !== null) fail(books, transaction, attempt, code);
  else if (isDecidedLater(card)) {
    const isWithPayer = card.behaviour === 'requires_action' || card.behaviour === 'needs_authentication';
    attempt.status = isWithPayer ? 'action_required' : 'pending_no_action_required';
  } else {
    change(transaction, card);
    capture(books, transaction, attempt);
  }
  return attempt.status;
}

function isDecidedLater({ behaviour, count }: SandboxCard): boolean {
  const isSlow = ['never_answers', 'requires_action', 'needs_authentication'].includes(behaviour);
  return isSlow || (behaviour === 'answers_late' && count > 0);
}

function declineOf({ behaviour, count }: SandboxCard): string | null {
  if (behaviour === 'declines') return 'declined';
  if (behaviour === 'declines_times' && count > 0) return 'not_enough_balance';
  return behaviour === 'declines_for_good' ? 'declined_not_retryable' : null;
}

/** The amount is another than was asked, as by a tax on top or the payer's own currency. */
function change(transaction: FakeTransaction, { behaviour }: SandboxCard): void {
  const { totals } = transaction.details;
  if (behaviour === 'captures_less') totals.grand_total = String(Number(totals.grand_total) - 1);
  if (behaviour === 'captures_more') totals.grand_total = String(Number(totals.grand_total) + 100);
  if (behaviour !== 'captures_otherwise') return;
  totals.currency_code = totals.currency_code === 'EUR' ? 'USD' : 'EUR';
  transaction.currency_code = totals.currency_code;
}

function newAttempt(books: PaddleBooks, transaction: FakeTransaction, card: SandboxCard): FakeAttempt {
  const known = books.cards.get(transaction.id);
  const isSame = known?.behaviour === card.behaviour;
  const present = isSame ? known : { ...card };
  const attempt: FakeAttempt = {
    payment_attempt_id: crypto.randomUUID(),
    amount: transaction.details.totals.grand_total,
    status: 'created',
    error_code: null,
    created_at: new Date().toISOString(),
    captured_at: null,
  };
  books.cards.set(transaction.id, present);
  transaction.payments.unshift(attempt);
  return attempt;
}

/** Takes the money of an attempt, whatever state its transaction is in; Paddle books it a moment later, unless that is left out. */
export function capture(
  books: PaddleBooks,
  transaction: FakeTransaction,
  attempt: FakeAttempt,
  { isBooked = true }: { isBooked?: boolean } = {},
): void {
  Object.assign(attempt, {
    status: 'captured',
    amount: transaction.details.totals.grand_total,
    captured_at: new Date().toISOString(),
  });
  transaction.status = 'paid';
  books.tell('transaction.paid', transaction);
  if (isBooked) book(books, transaction);
}

/** Paddle has booked a payment, from which on it can be refunded. */
export function book(books: PaddleBooks, transaction: FakeTransaction): void {
  transaction.status = 'completed';
  books.tell('transaction.completed', transaction);
}

/** Money for a transaction from a card that succeeds, beside its page or after its end. */
export function captureBeside(books: PaddleBooks, id: string): void {
  const transaction = transactionOf(books, id);
  begin(books, transaction);
  capture(books, transaction, newAttempt(books, transaction, { behaviour: 'succeeds', count: 0 }));
}

function fail(books: PaddleBooks, transaction: FakeTransaction, attempt: FakeAttempt, code: string): void {
  const card = books.cards.get(transaction.id);
  if (card?.behaviour === 'declines_times') card.count -= 1;
  Object.assign(attempt, { status: 'error', error_code: code });
  books.tell('transaction.payment_failed', transaction);
}

/** The decision of a payer or bank that was waited for. False when nothing waited. */
export function decide(books: PaddleBooks, id: string, how: 'capture' | 'fail'): boolean {
  const transaction = transactionOf(books, id);
  const attempt = transaction.payments.find(({ status }) => waits.has(status));
  if (!attempt) return false;
  if (how === 'capture') capture(books, transaction, attempt);
  else fail(books, transaction, attempt, 'authentication_failed');
  return true;
}

/** A late refund or payment comes one step nearer to its end with each look at it. */
export function nearer(books: PaddleBooks, transaction: FakeTransaction): FakeTransaction {
  const card = books.cards.get(transaction.id);
  const attempt = transaction.payments.find(({ status }) => waits.has(status));
  if (attempt && card?.behaviour === 'answers_late') {
    card.count -= 1;
    if (card.count <= 0) capture(books, transaction, attempt);
  }
  return transaction;
}

/** Rest of a transaction's money, in its smallest unit; a refund counts from the moment it is asked for. */
function remainingOf(books: PaddleBooks, transaction: FakeTransaction): number {
  const gone = books
    .refundsOf(transaction.id)
    .filter(({ status }) => status === 'approved' || status === 'pending_approval');
  return gone.reduce((left, { totals }) => left - Number(totals.total), Number(transaction.details.totals.grand_total));
}

/** Makes a refund of a part of a transaction, as its interface or the dashboard does. Throws as Paddle refuses. */
export function refundTransaction(
  books: PaddleBooks,
  transaction: FakeTransaction,
  { amount, reason }: { amount: string; reason: string },
): FakeAdjustment {
  if (transaction.status !== 'completed') {
    throw new PaddleRefusal(400, 'adjustment_transaction_invalid_status_for_refund');
  }
  const isWaiting = books.refundsOf(transaction.id).some(({ status }) => status === 'pending_approval');
  if (isWaiting) throw new PaddleRefusal(400, 'adjustment_pending_refund_request');
  if (Number(amount) > remainingOf(books, transaction)) {
    throw new PaddleRefusal(400, 'adjustment_amount_above_remaining_allowed');
  }
  const now = new Date().toISOString();
  const { currency_code, details } = transaction;
  const adjustment: FakeAdjustment = {
    id: paddleId('adj'),
    action: 'refund',
    transaction_id: transaction.id,
    reason,
    currency_code,
    status: 'pending_approval',
    totals: { total: amount, currency_code },
    items: [{ item_id: details.line_items[0]!.id, type: 'partial', amount }],
    created_at: now,
    updated_at: now,
  };
  books.adjustments.set(adjustment.id, adjustment);
  books.tell('adjustment.created', adjustment);
  const decision = decisionOf(books.cards.get(transaction.id));
  if (decision !== null) decideRefund(books, adjustment.id, decision);
  return adjustment;
}

/** Status of a refund at once; null where people look at it first. */
function decisionOf(card: SandboxCard | undefined): 'approved' | 'rejected' | null {
  if (card?.behaviour === 'refund_fails') return 'rejected';
  if (card?.behaviour === 'refund_fails_times' && card.count > 0) {
    card.count -= 1;
    return 'rejected';
  }
  const isSlow = card?.behaviour === 'refund_never_answers' || card?.behaviour === 'refund_answers_late';
  return isSlow && !(card.behaviour === 'refund_answers_late' && card.count === 0) ? null : 'approved';
}

/** Paddle decides on a refund, or takes back one that it had approved. */
export function decideRefund(books: PaddleBooks, id: string, status: 'approved' | 'rejected' | 'reversed'): void {
  const adjustment = books.adjustments.get(id);
  if (!adjustment) throw new PaddleRefusal(404, 'entity_not_found');
  adjustment.status = status;
  const event = books.tell('adjustment.updated', adjustment);
  if (books.cards.get(adjustment.transaction_id)?.behaviour === 'refund_answers_twice') books.onEvent(event);
}

/** Refunds that people look at come one step nearer to their approval with each look at their list. */
export function nearerRefunds(books: PaddleBooks, transactionId: string): void {
  const card = books.cards.get(transactionId);
  if (card?.behaviour !== 'refund_answers_late') return;
  for (const { id, status } of books.refundsOf(transactionId)) {
    if (status !== 'pending_approval') continue;
    card.count -= 1;
    if (card.count <= 0) decideRefund(books, id, 'approved');
  }
}
