import { randomUUID } from 'node:crypto';
import { type SandboxCard, sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import { type FakeInvoice, type FakePayment, invalid, type MoyasarBooks, MoyasarRefusal } from './books.ts';

/** The invoice of an id, ended when its time has come. Throws as Moyasar refuses one that it does not have. */
export function invoiceOf(books: MoyasarBooks, id: string): FakeInvoice {
  const invoice = books.invoices.get(id);
  if (!invoice) throw new MoyasarRefusal(404, 'invalid_request_error', 'Object not found');
  const isOver = invoice.expired_at !== null && Date.parse(invoice.expired_at) <= Date.now();
  if (invoice.status === 'initiated' && isOver) invoice.status = 'expired';
  return invoice;
}

/** A payer pays an invoice with a test card of the sandbox gateway, or tries to; one attempt at a time. Says what became of it. */
export function payInvoice(books: MoyasarBooks, invoiceId: string, cardNumber: string): string {
  const card = sandboxCardOf(cardNumber);
  if (!card) throw invalid('number', 'is no test card of the sandbox gateway');
  const invoice = invoiceOf(books, invoiceId);
  if (invoice.status !== 'initiated') return 'closed';
  const waiting = books.paymentsOf(invoiceId).some(({ status }) => status === 'initiated');
  if (waiting) return 'initiated';
  return attempt(books, newPayment(books, invoice, card, cardNumber), card);
}

/** Has the bank of a card decide on a payment. Says what became of it. */
function attempt(books: MoyasarBooks, payment: FakePayment, card: SandboxCard): FakePayment['status'] {
  const decline = declineOf(card);
  if (decline) fail(books, payment, decline);
  else if (!isDecidedLater(card)) capture(books, payment, takenOf(payment, card));
  return payment.status;
}

/**
 * Charges a kept card without its payer, under the id that the caller gives: one id is one payment. Throws as Moyasar refuses an id that it
 * has, and a card that it does not keep.
 */
export function chargeToken(
  books: MoyasarBooks,
  asked: Pick<FakePayment, 'id' | 'amount' | 'currency' | 'metadata'> & { tokenId: string },
): FakePayment {
  const { tokenId, ...payment } = asked;
  if (books.payments.has(payment.id)) throw invalid('given_id', 'has already been taken');
  const card = books.tokens.get(tokenId)?.status === 'active' ? books.kept.get(tokenId)?.card : undefined;
  if (!card) throw invalid('token', 'is invalid');
  const charged = addPayment(books, { ...payment, invoice_id: null }, card, books.tokens.get(tokenId)?.last_four ?? '');
  // The payer is not there to confirm.
  if (card.behaviour === 'needs_authentication')
    fail(books, charged, { code: '65', message: 'AUTHENTICATION REQUIRED' });
  else attempt(books, charged, card);
  if (card.behaviour === 'declines_times' && card.count > 0) card.count -= 1;
  return charged;
}

function isDecidedLater({ behaviour, count }: SandboxCard): boolean {
  const waits = ['never_answers', 'requires_action', 'needs_authentication'].includes(behaviour);
  return waits || (behaviour === 'answers_late' && count > 0);
}

/** The issuer's answer to a declined card, by ISO 8583. */
function declineOf({ behaviour, count }: SandboxCard): { code: string; message: string } | null {
  if (behaviour === 'declines') return { code: '05', message: 'DECLINED' };
  if (behaviour === 'declines_times' && count > 0) return { code: '51', message: 'INSUFFICIENT FUNDS' };
  return behaviour === 'declines_for_good' ? { code: '43', message: 'STOLEN CARD' } : null;
}

/** Taken in place of what was asked, as by fees or another currency. */
function takenOf({ amount, currency }: FakePayment, { behaviour }: SandboxCard) {
  if (behaviour === 'captures_less') return { amount: amount - 1 };
  if (behaviour === 'captures_more') return { amount: amount + 100 };
  return behaviour === 'captures_otherwise' ? { currency: currency === 'EUR' ? 'USD' : 'EUR' } : {};
}

function newPayment(books: MoyasarBooks, invoice: FakeInvoice, card: SandboxCard, cardNumber: string): FakePayment {
  const { id: invoice_id, amount, currency } = invoice;
  const asked = { id: randomUUID(), amount, currency, invoice_id, metadata: null };
  return addPayment(books, asked, card, cardNumber.replaceAll(' ', '').slice(-4));
}

function addPayment(
  books: MoyasarBooks,
  asked: Pick<FakePayment, 'id' | 'amount' | 'currency' | 'invoice_id' | 'metadata'>,
  card: SandboxCard,
  lastFour: string,
): FakePayment {
  const now = new Date().toISOString();
  const payment: FakePayment = {
    ...asked,
    ...{ status: 'initiated', captured: 0, captured_at: null, refunded: 0, refunded_at: null },
    ...{ created_at: now, updated_at: now },
    source: {
      type: 'creditcard',
      company: 'visa',
      number: `XXXX-XXXX-XXXX-${lastFour}`,
      message: null,
      response_code: null,
    },
  };
  books.payments.set(payment.id, payment);
  books.cards.set(payment.id, { ...card });
  return payment;
}

/** Takes the money of a payment, whatever state its invoice is in. */
export function capture(
  books: MoyasarBooks,
  payment: FakePayment,
  taken: { amount?: number; currency?: string } = {},
): void {
  Object.assign(payment, { status: 'paid', ...taken, updated_at: new Date().toISOString() });
  const invoice = books.invoices.get(payment.invoice_id ?? '');
  if (invoice) invoice.status = 'paid';
  books.tell('payment_paid', payment);
}

/** Money for an invoice from a card that succeeds, beside its page or after its end. Answers the payment. */
export function captureBeside(books: MoyasarBooks, invoiceId: string): FakePayment {
  const payment = newPayment(books, invoiceOf(books, invoiceId), { behaviour: 'succeeds', count: 0 }, '0002');
  capture(books, payment);
  return payment;
}

function fail(books: MoyasarBooks, payment: FakePayment, { code, message }: { code: string; message: string }): void {
  Object.assign(payment, { status: 'failed', updated_at: new Date().toISOString() });
  Object.assign(payment.source, { response_code: code, message });
  books.tell('payment_failed', payment);
}

/** The decision of a payer or bank that was waited for, on an attempt to pay an invoice. False when nothing waited. */
export function decide(books: MoyasarBooks, invoiceId: string, how: 'capture' | 'fail'): boolean {
  return decidePayment(
    books,
    books.paymentsOf(invoiceId).find(({ status }) => status === 'initiated'),
    how,
  );
}

/** The same on one payment. */
export function decidePayment(books: MoyasarBooks, payment: FakePayment | undefined, how: 'capture' | 'fail'): boolean {
  if (payment?.status !== 'initiated') return false;
  if (how === 'capture') capture(books, payment);
  else fail(books, payment, { code: '1A', message: 'AUTHENTICATION FAILED' });
  return true;
}

/** A late payment comes one step nearer to its end with each look at it. */
export function nearer(books: MoyasarBooks, payment: FakePayment): FakePayment {
  const card = books.cards.get(payment.id);
  if (payment.status === 'initiated' && card?.behaviour === 'answers_late') {
    card.count -= 1;
    if (card.count <= 0) capture(books, payment);
  }
  return payment;
}

/** Somebody gives money back in the dashboard; Moyasar shows it in the count of its payment alone. */
export function refundInDashboard(books: MoyasarBooks, payment: FakePayment, amount: number): void {
  refundPayment(books, payment, amount, null);
}

/** Somebody voids a payment in the dashboard before its money is settled: all of it goes back, and counts as no refund. */
export function voidInDashboard(books: MoyasarBooks, payment: FakePayment): void {
  if (payment.status !== 'paid') throw invalid('status', 'cannot be voided');
  Object.assign(payment, { status: 'voided', updated_at: new Date().toISOString() });
  books.refunds.push({ paymentId: payment.id, amount: payment.amount, currency: payment.currency, token: null });
  books.tell('payment_voided', payment);
}

/** Gives money of a payment back, as its interface or the dashboard does. Throws as Moyasar refuses. */
export function refundPayment(books: MoyasarBooks, payment: FakePayment, amount: number, token: string | null): void {
  const card = books.cards.get(payment.id);
  if (payment.status !== 'paid' && payment.status !== 'refunded') throw invalid('status', 'cannot be refunded');
  if (payment.refunded + amount > payment.amount) throw invalid('amount', 'is more than what is left');
  const isRefused = card?.behaviour === 'refund_fails' || (card?.behaviour === 'refund_fails_times' && card.count > 0);
  if (card && isRefused) {
    card.count -= 1;
    throw new MoyasarRefusal(400, 'invalid_request_error', 'Refund was declined');
  }
  payment.refunded += amount;
  payment.refunded_at = new Date().toISOString();
  payment.updated_at = payment.refunded_at;
  if (payment.refunded === payment.amount) payment.status = 'refunded';
  books.refunds.push({ paymentId: payment.id, amount, currency: payment.currency, token });
  books.tell('payment_refunded', payment);
  if (card?.behaviour === 'refund_answers_twice') books.tell('payment_refunded', payment);
}
