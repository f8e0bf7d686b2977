import { type ChargebeeBooks, ChargebeeRefusal, type FakeTransaction, invalid, missing, secondsNow } from './books.ts';

/** Gives back a part of a payment that no invoice took. */
export function refundUnused(books: ChargebeeBooks, paymentId: string, amount: number, key: string | null) {
  const payment = paymentOf(books, paymentId);
  if (amount > (payment.amount_unused ?? 0)) throw invalid('amount');
  const refund = giveBack(books, payment, amount, key);
  payment.amount_unused = (payment.amount_unused ?? 0) - amount;
  return refund;
}

/** Gives back a part of the payment that an invoice was paid by. */
export function refundInvoice(books: ChargebeeBooks, invoiceId: string, amount: number, key: string | null) {
  const invoice = books.invoices.get(invoiceId);
  const [linked] = invoice?.linked_payments ?? [];
  if (!linked) throw missing(invoiceId);
  const payment = paymentOf(books, linked.txn_id);
  // Money given back from the unused rest is not the invoice's.
  const unusedAtFirst = payment.amount - linked.applied_amount;
  const ofInvoice = givenBackOf(payment) - (unusedAtFirst - (payment.amount_unused ?? 0));
  if (ofInvoice + amount > linked.applied_amount) {
    throw new ChargebeeRefusal(400, 'invalid_request', 'invalid_state_for_request', { param: 'refund_amount' });
  }
  return giveBack(books, payment, amount, key);
}

function paymentOf(books: ChargebeeBooks, id: string): FakeTransaction {
  const payment = books.transactions.get(id);
  if (!payment) throw missing(id);
  if (payment.type !== 'payment' || payment.status !== 'success') {
    throw new ChargebeeRefusal(400, 'invalid_request', 'invalid_state_for_request');
  }
  return payment;
}

function givenBackOf({ linked_refunds = [] }: FakeTransaction): number {
  const standing = linked_refunds.filter(({ txn_status }) => txn_status === 'success' || txn_status === 'in_progress');
  return standing.reduce((total, { txn_amount }) => total + txn_amount, 0);
}

function giveBack(
  books: ChargebeeBooks,
  payment: FakeTransaction,
  amount: number,
  key: string | null,
): FakeTransaction {
  const card = books.cards.get(payment.id);
  const isRefused = card?.behaviour === 'refund_fails' || (card?.behaviour === 'refund_fails_times' && card.count > 0);
  if (card && isRefused) {
    card.count -= 1;
    throw new ChargebeeRefusal(400, 'payment', 'payment_processing_failed');
  }
  const isLate = card?.behaviour === 'refund_never_answers' || card?.behaviour === 'refund_answers_late';
  const refund: FakeTransaction = {
    id: books.newId('txn'),
    object: 'transaction',
    type: 'refund',
    customer_id: payment.customer_id,
    status: isLate ? 'in_progress' : 'success',
    amount,
    currency_code: payment.currency_code,
    date: secondsNow(),
    linked_payments: [{ id: payment.id, status: payment.status, amount: payment.amount, date: payment.date }],
  };
  books.transactions.set(refund.id, refund);
  books.refundKeys.set(refund.id, key);
  const { id: txn_id, status: txn_status, date: txn_date, amount: txn_amount } = refund;
  payment.linked_refunds?.push({ txn_id, txn_status, txn_date, txn_amount });
  books.tell(isLate ? 'refund_initiated' : 'payment_refunded', refund);
  if (card?.behaviour === 'refund_answers_twice') books.tell('payment_refunded', refund);
  return refund;
}

/** A refund is paid out, or its bank sends it back, also days after it was paid out. */
export function decideRefund(books: ChargebeeBooks, refundId: string, status: 'success' | 'failure' | 'late_failure') {
  const refund = books.transactions.get(refundId);
  const payment = books.transactions.get(refund?.linked_payments?.[0]?.id ?? '');
  const linked = payment?.linked_refunds?.find(({ txn_id }) => txn_id === refundId);
  if (!refund || !linked) throw missing(refundId);
  refund.status = status;
  linked.txn_status = status;
  books.tell(status === 'success' ? 'payment_refunded' : 'transaction_updated', refund);
}

/** A late refund of a payment comes one step nearer to its end with each look at the payment. */
export function nearerRefunds(books: ChargebeeBooks, payment: FakeTransaction): void {
  const card = books.cards.get(payment.id);
  const waiting = payment.linked_refunds?.find(({ txn_status }) => txn_status === 'in_progress');
  if (!waiting || card?.behaviour !== 'refund_answers_late') return;
  card.count -= 1;
  if (card.count <= 0) decideRefund(books, waiting.txn_id, 'success');
}

/** Somebody gives money back at Chargebee itself. Answers the refund's id. */
export function refundInDashboard(books: ChargebeeBooks, paymentId: string, amount: number): string {
  const [invoice] = paymentOf(books, paymentId).linked_invoices ?? [];
  const refund = invoice
    ? refundInvoice(books, invoice.invoice_id, amount, null)
    : refundUnused(books, paymentId, amount, null);
  return refund.id;
}
