import { type SandboxCard, sandboxBehaviours, sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import {
  type FakeConfiguration,
  type FakeMethod,
  type FakePayment,
  type FakePlan,
  type FakeRefund,
  invalid,
  missing,
  type WhopBooks,
  WhopRefusal,
} from './books.ts';

export function configurationOf(books: WhopBooks, id: string): FakeConfiguration {
  const configuration = books.configurations.get(id);
  if (!configuration || books.deleted.has(id)) throw missing();
  return configuration;
}

export function planOf(books: WhopBooks, id: string): FakePlan {
  const plan = books.plans.get(id);
  if (!plan) throw missing();
  return plan;
}

/** A payer pays a page with a test card of the sandbox gateway, or tries to; one attempt at a time. Says what became of it. */
export function payPage(books: WhopBooks, configurationId: string, cardNumber: string): string {
  const card = sandboxCardOf(cardNumber);
  if (!card) throw invalid('card_number is no test card of the sandbox gateway');
  const configuration = books.configurations.get(configurationId);
  const plan = configuration?.plan && planOf(books, configuration.plan.id);
  if (!configuration || !plan || books.deleted.has(configurationId) || (!plan.unlimited_stock && plan.stock < 1))
    return 'closed';
  if (books.paymentsOf(configurationId).some(isWaiting)) return 'pending';
  return attempt(books, plan, configuration, card);
}

/** A payer pays by the address of the plan, without its configuration. Says what became of it. */
export function payPlan(books: WhopBooks, planId: string, cardNumber: string): string {
  const card = sandboxCardOf(cardNumber);
  if (!card) throw invalid('card_number is no test card of the sandbox gateway');
  const plan = planOf(books, planId);
  return plan.unlimited_stock || plan.stock > 0 ? attempt(books, plan, null, card) : 'closed';
}

function attempt(books: WhopBooks, plan: FakePlan, configuration: FakeConfiguration | null, card: SandboxCard): string {
  const payment = newPayment(books, plan, {
    configuration,
    method: newMethod(books, card, { isKept: books.keepsCards }),
  });
  const failure = failureOf(card);
  if (failure !== null) fail(books, payment, failure);
  else if (isDecidedLater(card)) {
    Object.assign(payment, { status: 'pending', substatus: 'pending' });
    books.tell('payment.pending', payment);
  } else capture(books, payment, takenOf(payment, card));
  return payment.substatus;
}

export function isWaiting({ status }: FakePayment): boolean {
  return status === 'pending' || status === 'draft';
}

export function isDecidedLater({ behaviour, count }: SandboxCard): boolean {
  const waits = ['never_answers', 'requires_action', 'needs_authentication'].includes(behaviour);
  return waits || (behaviour === 'answers_late' && count > 0);
}

/** The sentence of a decline; Whop has no codes for them. */
export function failureOf({ behaviour, count }: SandboxCard): string | null {
  if (behaviour === 'declines') return 'Your card was declined.';
  if (behaviour === 'declines_times' && count > 0) return 'Your card has insufficient funds.';
  return behaviour === 'declines_for_good' ? 'Your card was declined: it was reported stolen.' : null;
}

/** Taken in place of what was asked, as by fees or adaptive pricing. */
function takenOf({ settlement_amount, currency }: FakePayment, { behaviour }: SandboxCard): Partial<FakePayment> {
  if (behaviour === 'captures_less') return { settlement_amount: Number((settlement_amount - 0.01).toFixed(2)) };
  if (behaviour === 'captures_more') return { settlement_amount: settlement_amount + 1 };
  return behaviour === 'captures_otherwise' ? { settlement_currency: currency === 'eur' ? 'usd' : 'eur' } : {};
}

/** The card of a payer, who is known to the account from then on. */
export function newMethod(
  books: WhopBooks,
  card: SandboxCard,
  { isKept, memberId = books.newId('mber') }: { isKept: boolean; memberId?: string },
): FakeMethod {
  const code = String(sandboxBehaviours.indexOf(card.behaviour)).padStart(4, '0');
  const method: FakeMethod = { id: books.newId('payt'), card: { brand: 'visa', last4: code } };
  books.methods.set(method.id, method);
  books.held.set(method.id, { card: { ...card }, memberId, isKept });
  return method;
}

/** An attempt to pay a plan with a card, on a page or without one, not decided. */
export function newPayment(
  books: WhopBooks,
  plan: FakePlan,
  {
    configuration = null,
    method,
    metadata = {},
  }: { configuration?: FakeConfiguration | null; method: FakeMethod; metadata?: Record<string, unknown> },
): FakePayment {
  const now = books.now();
  const held = books.held.get(method.id);
  if (!held) throw missing();
  const payment: FakePayment = {
    id: books.newId('pay'),
    status: 'draft',
    substatus: 'drafted',
    checkout_configuration_id: configuration?.id ?? null,
    plan: { id: plan.id },
    currency: plan.currency,
    settlement_currency: plan.currency,
    settlement_amount: plan.initial_price,
    created_at: now,
    updated_at: now,
    paid_at: null,
    next_payment_attempt: null,
    failure_message: null,
    metadata: { ...configuration?.metadata, ...metadata },
    member: { id: held.memberId },
    payment_method: method,
  };
  books.payments.set(payment.id, payment);
  books.cards.set(payment.id, { ...held.card });
  return payment;
}

/** Takes the money of a payment, whatever state its page is in. */
export function capture(books: WhopBooks, payment: FakePayment, taken: Partial<FakePayment> = {}): void {
  const now = books.now();
  Object.assign(payment, { status: 'paid', substatus: 'succeeded', paid_at: now, updated_at: now, ...taken });
  const plan = books.plans.get(payment.plan.id);
  if (plan && plan.stock > 0) plan.stock -= 1;
  books.tell('payment.succeeded', payment);
}

function fail(books: WhopBooks, payment: FakePayment, failure_message: string): void {
  Object.assign(payment, { status: 'open', substatus: 'failed', failure_message, updated_at: books.now() });
  books.tell('payment.failed', payment);
}

/** Money for a page from a card that succeeds, beside its stock or after its end. Answers the payment. */
export function captureBeside(books: WhopBooks, configuration: FakeConfiguration): FakePayment {
  if (!configuration.plan) throw missing();
  const method = newMethod(books, { behaviour: 'succeeds', count: 0 }, { isKept: false });
  const payment = newPayment(books, planOf(books, configuration.plan.id), { configuration, method });
  capture(books, payment);
  return payment;
}

/** The decision of a payer or bank that was waited for. False when nothing waited. */
export function decide(books: WhopBooks, configurationId: string, how: 'capture' | 'fail'): boolean {
  const payment = books.paymentsOf(configurationId).find(isWaiting);
  return payment !== undefined && decidePayment(books, payment, how);
}

/** The same of a payment that waits, also without a page. False when it does not wait. */
export function decidePayment(books: WhopBooks, payment: FakePayment, how: 'capture' | 'fail'): boolean {
  if (!isWaiting(payment)) return false;
  if (how === 'capture') capture(books, payment);
  else fail(books, payment, 'Authentication with your bank failed.');
  return true;
}

/** A late payment comes one step nearer to its end with each look at it. */
export function nearer(books: WhopBooks, payment: FakePayment): void {
  const card = books.cards.get(payment.id);
  if (payment.status !== 'pending' || card?.behaviour !== 'answers_late') return;
  card.count -= 1;
  if (card.count <= 0) capture(books, payment);
}

/** Gives money of a payment back, by the interface under a key or, without one, in the dashboard. Throws as Whop refuses. */
export function refundPayment(
  books: WhopBooks,
  payment: FakePayment,
  amount: number,
  key: string | null = null,
): FakeRefund {
  const card = books.cards.get(payment.id);
  if (payment.status !== 'paid') throw new WhopRefusal(400, 'payment_not_refundable');
  const returned = books
    .refundsOf(payment.id)
    .reduce((sum, each) => sum + (each.status === 'failed' ? 0 : each.amount), 0);
  if (!(amount > 0) || amount > payment.settlement_amount - returned + 1e-9)
    throw new WhopRefusal(400, 'amount_too_large', 'partial_amount is more than what is left');
  const isRefused = card?.behaviour === 'refund_fails' || (card?.behaviour === 'refund_fails_times' && card.count > 0);
  if (card && isRefused) {
    card.count -= 1;
    throw new WhopRefusal(400, 'refund_declined');
  }
  const refund: FakeRefund = {
    id: books.newId('rfnd'),
    status: card && ['refund_never_answers', 'refund_answers_late'].includes(card.behaviour) ? 'pending' : 'succeeded',
    amount,
    currency: payment.settlement_currency,
    created_at: books.now(),
    payment: { id: payment.id },
  };
  books.refunds.set(refund.id, refund);
  books.refundKeys.set(refund.id, key);
  payment.updated_at = refund.created_at;
  payment.substatus = 'partially_refunded';
  books.tell('refund.created', refund);
  if (card?.behaviour === 'refund_answers_twice') books.tell('refund.created', refund);
  return refund;
}

/** A late refund comes one step nearer to its end with each look at it. */
export function nearerRefund(books: WhopBooks, refund: FakeRefund): void {
  const card = books.cards.get(refund.payment.id);
  if (refund.status !== 'pending' || card?.behaviour !== 'refund_answers_late') return;
  card.count -= 1;
  if (card.count <= 0) settleRefund(books, refund.id, 'succeeded');
}

/** A bank decides a refund, or sends its money back days after it succeeded. */
export function settleRefund(books: WhopBooks, refundId: string, status: 'succeeded' | 'failed'): void {
  const refund = books.refunds.get(refundId);
  if (!refund) throw missing();
  refund.status = status;
  books.tell('refund.updated', refund);
}
