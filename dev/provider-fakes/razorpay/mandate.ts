import { type SandboxBehaviour, sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import { type FakePage, LostAnswer } from '../shell.ts';
import {
  type FakeCustomer,
  type FakeOrder,
  type FakePayment,
  type FakeRegistration,
  type FakeToken,
  type Notes,
  type RazorpayBooks,
  RazorpayRefusal,
  secondsNow,
  unknownId,
} from './books.ts';
import { hostedPage } from './page.ts';
import { capture, declineReasons, fail, newAttempt } from './payment.ts';

/** A payer makes a mandate on the page of a registration link, or tries to. Says what became of its payment. */
export function payRegistration(books: RazorpayBooks, id: string, cardNumber: string): string {
  const link = books.registrations.get(id);
  if (!link) throw unknownId();
  const card = sandboxCardOf(cardNumber);
  if (!card) throw new RazorpayRefusal('the fake takes the test cards of the sandbox gateway');
  endRegistration(books, link);
  if (link.status !== 'issued') return 'closed';
  const { amount, currency, order_id, description, customer_id, method, max_amount } = link;
  const played = { behaviour: card.behaviour, remaining: card.count };
  const payment = newAttempt(books, {
    ...{ amount, currency, order_id, description, customer_id, ...played },
    notes: structuredClone(link.notes),
    invoice_id: id,
  });
  const reason = declineReasons[card.behaviour];
  if (reason !== undefined) {
    fail(books, payment, reason);
    return payment.status;
  }
  // The bank confirms some mandates later than it takes their first payment.
  const status = card.behaviour === 'answers_late' ? 'initiated' : 'confirmed';
  payment.token_id = newToken(books, { customer_id, method, max_amount, status, ...played }).id;
  link.status = 'paid';
  capture(books, payment);
  books.tell('invoice.paid', { invoice: link, payment });
  return payment.status;
}

export function newCustomer(books: RazorpayBooks, members: Omit<FakeCustomer, 'id'>): FakeCustomer {
  const customer = { id: books.newId('cust'), ...members };
  books.customers.set(customer.id, customer);
  return customer;
}

/** A mandate of a customer, as its page leaves it behind. */
export function newToken(
  books: RazorpayBooks,
  {
    status = 'confirmed',
    ...members
  }: Pick<FakeToken, 'customer_id' | 'behaviour' | 'remaining'> & {
    method?: 'card' | 'upi';
    max_amount?: number;
    status?: FakeToken['recurring_details']['status'];
  },
): FakeToken {
  const method = members.method ?? 'card';
  const token: FakeToken = {
    id: books.newId('token'),
    entity: 'token',
    max_amount: 1_500_000,
    ...members,
    method,
    card: method === 'card' ? { last4: '0002', network: 'Visa' } : null,
    recurring_details: { status, failure_reason: null },
  };
  books.tokens.set(token.id, token);
  return token;
}

/** A bank decides a mandate, or its payer takes it back. */
export function decideToken(
  books: RazorpayBooks,
  tokenId: string,
  status: 'confirmed' | 'rejected' | 'cancelled',
): void {
  const token = books.tokens.get(tokenId);
  if (!token) throw unknownId();
  token.recurring_details = { status, failure_reason: status === 'confirmed' ? null : 'mandate_refused' };
  books.tell(`token.${status}`, { token });
}

/** A registration link whose time has come ends by itself. */
export function endRegistration(books: RazorpayBooks, link: FakeRegistration): void {
  if (link.status !== 'issued' || link.expire_by * 1000 > Date.now()) return;
  link.status = 'expired';
  books.tell('invoice.expired', { invoice: link });
}

interface Debit {
  order: FakeOrder;
  token: FakeToken;
  customer: FakeCustomer;
  amount: number;
  notes: Notes;
  description: string;
}

/** Charges a mandate without its payer. The answer says that it was taken up; what becomes of it is told behind it. */
export function debit(
  books: RazorpayBooks,
  { order, token, customer, amount, notes, description }: Debit,
): FakePayment {
  if (token.behaviour === 'unreachable_times' && token.remaining > 0) {
    token.remaining -= 1;
    throw new LostAnswer();
  }
  const payments = books.paymentsOf({ order_id: order.id });
  if (token.customer_id !== customer.id || token.recurring_details.status !== 'confirmed') throw unknownId();
  if (amount !== order.amount)
    throw new RazorpayRefusal('Payment amount is different from order amount', { field: 'amount' });
  if (payments.some(({ captured, status }) => captured || status === 'created')) {
    throw new RazorpayRefusal('Order already paid');
  }
  if (order.currency === 'INR' && amount > token.max_amount) {
    throw new RazorpayRefusal('The amount exceeds the maximum amount of the token', { field: 'amount' });
  }
  if (token.method === 'upi' && wasDebitedThisCycle(books, token)) {
    throw new RazorpayRefusal('The mandate was debited in this cycle already');
  }
  const { behaviour, remaining } = token;
  const payment = newAttempt(books, {
    ...{ amount, currency: order.currency, order_id: order.id, description, notes, behaviour, remaining },
    token_id: token.id,
    customer_id: customer.id,
  });
  setImmediate(() => decideDebit(books, payment, token));
  if (behaviour === 'loses_answer') throw new LostAnswer({ razorpay_payment_id: payment.id });
  return payment;
}

const monthSeconds = 28 * 86_400;

function wasDebitedThisCycle(books: RazorpayBooks, { id }: FakeToken): boolean {
  return [...books.payments.values()].some(
    ({ token_id, invoice_id, status, created_at }) =>
      token_id === id && invoice_id === null && status !== 'failed' && created_at > secondsNow() - monthSeconds,
  );
}

const waits = new Set<SandboxBehaviour>(['never_answers', 'answers_late', 'requires_action']);

function decideDebit(books: RazorpayBooks, payment: FakePayment, token: FakeToken): void {
  if (payment.status !== 'created') return;
  const { behaviour } = token;
  const isDeclined = behaviour !== 'declines_times' || token.remaining > 0;
  const needsPayer = behaviour === 'needs_authentication' ? 'authentication_failed' : undefined;
  const reason = needsPayer ?? (isDeclined ? declineReasons[behaviour] : undefined);
  if (behaviour === 'declines_times' && token.remaining > 0) token.remaining -= 1;
  if (reason !== undefined) fail(books, payment, reason);
  else if (!waits.has(behaviour)) capture(books, payment);
}

/** The page of a registration link, or what becomes of a card that is sent to it. */
export function registrationPageOf(books: RazorpayBooks, id: string, form: string | null): FakePage {
  const link = books.registrations.get(id);
  if (!link) throw unknownId();
  endRegistration(books, link);
  let outcome: string | null = null;
  try {
    if (form !== null) outcome = payRegistration(books, id, new URLSearchParams(form).get('card_number') ?? '');
  } catch (error) {
    if (!(error instanceof RazorpayRefusal)) throw error;
    outcome = error.message;
  }
  return { html: hostedPage(link, outcome) };
}
