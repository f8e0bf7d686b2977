import { createHash } from 'node:crypto';
import { type SandboxBehaviour, type SandboxCard, sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import {
  type FakeIntent,
  type FakeMethod,
  type FakeRefund,
  type FakeSession,
  invalid,
  missing,
  type StripeBooks,
} from './books.ts';

/** A card as the payer types it; the numbers are those of the sandbox gateway. */
export function newMethod(books: StripeBooks, cardNumber: string, customer: string | null): FakeMethod {
  const card: SandboxCard | null = sandboxCardOf(cardNumber);
  if (!card) throw invalid('incorrect_number', 'card_number', 'the fake takes the test cards of the sandbox gateway');
  const method = books.newObject('pm', 'payment_method', {
    type: 'card',
    customer,
    behaviour: card.behaviour,
    remaining: card.count,
    card: {
      brand: 'visa',
      last4: cardNumber.replaceAll(' ', '').slice(-4),
      fingerprint: fingerprintOf(books, cardNumber),
    },
  });
  books.methods.set(method.id, method);
  return method;
}

/** The same for one number however often it is saved, and another at another account. */
function fingerprintOf({ accountId }: StripeBooks, cardNumber: string): string {
  return createHash('sha256')
    .update(`${accountId} ${cardNumber.replaceAll(' ', '')}`)
    .digest('hex')
    .slice(0, 16);
}

const declineCodes: Partial<Record<SandboxBehaviour, { code: string; decline_code?: string }>> = {
  declines: { code: 'card_declined', decline_code: 'generic_decline' },
  declines_times: { code: 'card_declined', decline_code: 'insufficient_funds' },
  declines_for_good: { code: 'card_declined', decline_code: 'stolen_card' },
};

/** One attempt to pay an intent with a card; the payer may be there to confirm. Every attempt is a charge. */
export function attempt(books: StripeBooks, intent: FakeIntent, method: FakeMethod, payerIsThere: boolean): void {
  intent.payment_method = method.id;
  intent.last_payment_error = null;
  intent.next_action = null;
  const { behaviour } = method;
  const decline = declineOf(method, payerIsThere);
  if (decline) {
    fail(books, intent, decline);
    return;
  }
  const asksPayer = behaviour === 'requires_action' || (behaviour === 'needs_authentication' && payerIsThere);
  if (asksPayer) {
    intent.status = 'requires_action';
    intent.next_action = { type: 'redirect_to_url', redirect_to_url: { url: `/authenticate/${intent.id}` } };
    books.tell('payment_intent.requires_action', intent);
  } else if (behaviour === 'never_answers' || (behaviour === 'answers_late' && method.remaining > 0)) {
    intent.status = 'processing';
    intent.looksLeft = behaviour === 'answers_late' ? method.remaining : null;
    books.tell('payment_intent.processing', intent);
  } else capture(books, intent, payerIsThere ? takenOf(intent, behaviour) : {});
}

function declineOf(method: FakeMethod, payerIsThere: boolean): { code: string; decline_code?: string } | null {
  if (method.behaviour === 'needs_authentication' && !payerIsThere) return { code: 'authentication_required' };
  if (method.behaviour === 'declines_times') {
    if (method.remaining === 0) return null;
    method.remaining -= 1;
  }
  return declineCodes[method.behaviour] ?? null;
}

/** Taken in place of what was asked, as by tips, fees or another currency. */
function takenOf(intent: FakeIntent, behaviour: SandboxBehaviour): { amount?: number; currency?: string } {
  if (behaviour === 'captures_less') return { amount: intent.amount - 1 };
  if (behaviour === 'captures_more') return { amount: intent.amount + 100 };
  return behaviour === 'captures_otherwise' ? { currency: intent.currency === 'eur' ? 'usd' : 'eur' } : {};
}

/** Takes the money of an intent, whatever state it is in. */
export function capture(
  books: StripeBooks,
  intent: FakeIntent,
  taken: { amount?: number; currency?: string } = {},
): void {
  intent.status = 'succeeded';
  intent.amount_received = taken.amount ?? intent.amount;
  intent.currency = taken.currency ?? intent.currency;
  intent.next_action = null;
  intent.looksLeft = null;
  charge(books, intent, {
    status: 'succeeded',
    paid: true,
    amount_captured: intent.amount_received,
    failure_code: null,
    outcome: null,
  });
  const session = sessionOf(books, intent.id);
  if (session) completed(session, 'paid');
  if (session) keepMethod(books, session, intent.payment_method);
  books.tell('payment_intent.succeeded', intent);
  if (session) books.tell('checkout.session.completed', session);
}

function fail(
  books: StripeBooks,
  intent: FakeIntent,
  { code, decline_code }: { code: string; decline_code?: string },
): void {
  const made = charge(books, intent, {
    status: 'failed',
    paid: false,
    amount_captured: 0,
    failure_code: code,
    outcome: { reason: decline_code ?? null },
  });
  intent.status = 'requires_payment_method';
  intent.last_payment_error = { code, ...(decline_code ? { decline_code } : {}), charge: made.id };
  books.tell('payment_intent.payment_failed', intent);
}

function charge(books: StripeBooks, intent: FakeIntent, members: Record<string, unknown>) {
  const made = books.newObject('ch', 'charge', {
    payment_intent: intent.id,
    amount: intent.amount,
    currency: intent.currency,
    metadata: intent.metadata,
    ...members,
  });
  books.charges.set(made.id, made);
  intent.latest_charge = made.id;
  return made;
}

/** The decision of a payer or bank that was waited for. False when nothing waited. */
export function decide(books: StripeBooks, intentId: string, how: 'capture' | 'fail'): boolean {
  const intent = books.intents.get(intentId);
  if (!intent || (intent.status !== 'requires_action' && intent.status !== 'processing')) return false;
  if (how === 'capture') capture(books, intent);
  else fail(books, intent, { code: 'payment_intent_authentication_failure' });
  return true;
}

/** Somebody gives money back in the dashboard; the refund carries no name of ours. Answers its id. */
export function refundInDashboard(
  books: StripeBooks,
  intentId: string,
  amount: number,
  status: 'succeeded' | 'pending' = 'succeeded',
): string {
  const intent = books.intents.get(intentId);
  if (!intent) throw missing('payment_intent', intentId);
  const refund: FakeRefund = books.newObject('re', 'refund', {
    payment_intent: intentId,
    charge: intent.latest_charge,
    amount,
    currency: intent.currency,
    metadata: {},
    status,
    failure_reason: null,
  });
  books.refunds.set(refund.id, refund);
  books.tell('refund.created', refund);
  const charge = intent.latest_charge === null ? undefined : books.charges.get(intent.latest_charge);
  if (charge) books.tell('charge.refunded', charge);
  return refund.id;
}

/** A refund that the bank had not decided is paid out. */
export function settleRefund(books: StripeBooks, refundId: string): void {
  const refund = books.refunds.get(refundId);
  if (!refund) throw missing('refund', refundId);
  refund.status = 'succeeded';
  books.tell('refund.updated', refund);
}

/** The bank sends the money of a refund back, days after it succeeded. */
export function returnRefund(books: StripeBooks, refundId: string): void {
  const refund = books.refunds.get(refundId);
  if (!refund) throw missing('refund', refundId);
  Object.assign(refund, { status: 'failed', failure_reason: 'lost_or_stolen_card' });
  books.tell('refund.failed', refund);
}

export function sessionOf(books: StripeBooks, intentId: string): FakeSession | null {
  return [...books.sessions.values()].find(({ payment_intent }) => payment_intent === intentId) ?? null;
}

function completed(session: FakeSession, paymentStatus: string): void {
  session.payment_status = paymentStatus;
  if (session.status === 'open') session.status = 'complete';
  session.url = null;
}

function keepMethod(books: StripeBooks, session: FakeSession, methodId: string | null): void {
  const method = methodId === null ? undefined : books.methods.get(methodId);
  if (!method || !session.asked.keeps) return;
  session.customer ??= newCustomer(books);
  method.customer = session.customer;
}

export function newCustomer(books: StripeBooks): string {
  const customer = books.newObject('cus', 'customer', { metadata: {} });
  books.customers.set(customer.id, customer);
  return customer.id;
}

/** A payer pays a session with a card, or tries to; one attempt at a time. Says what became of it. */
export function paySession(books: StripeBooks, sessionId: string, cardNumber: string): string {
  const session = books.sessions.get(sessionId);
  if (!session) throw missing('checkout.session', sessionId);
  endIfOver(books, session);
  if (session.status !== 'open') return 'closed';
  const method = newMethod(books, cardNumber, null);
  if (session.mode === 'setup') return setUp(books, session, method);
  const intent = intentOf(books, session);
  if (intent.status === 'processing') return 'processing';
  attempt(books, intent, method, true);
  // Money that is decided later ends the page: the payer has done its part.
  if (intent.status === 'processing') {
    completed(session, 'unpaid');
    books.tell('checkout.session.completed', session);
  }
  return intent.status;
}

/** A session gets its intent with the first attempt. */
export function intentOf(books: StripeBooks, session: FakeSession): FakeIntent {
  const known = session.payment_intent === null ? undefined : books.intents.get(session.payment_intent);
  if (known) return known;
  const { amount, currency, intentMetadata, keeps, description } = session.asked;
  const intent = newIntent(books, {
    amount,
    currency,
    description,
    customer: session.customer,
    metadata: intentMetadata,
    setup_future_usage: keeps ? 'off_session' : null,
  });
  session.payment_intent = intent.id;
  return intent;
}

export function newIntent(
  books: StripeBooks,
  members: Pick<FakeIntent, 'amount' | 'currency' | 'customer' | 'metadata' | 'setup_future_usage'> & {
    description: string;
  },
): FakeIntent {
  const intent: FakeIntent = books.newObject('pi', 'payment_intent', {
    status: 'requires_payment_method',
    amount_received: 0,
    payment_method: null,
    last_payment_error: null,
    latest_charge: null,
    next_action: null,
    looksLeft: null,
    ...members,
  });
  books.intents.set(intent.id, intent);
  books.tell('payment_intent.created', intent);
  return intent;
}

function setUp(books: StripeBooks, session: FakeSession, method: FakeMethod): string {
  const isDeclined = method.behaviour === 'declines' || method.behaviour === 'declines_for_good';
  const setup = session.setup_intent === null ? undefined : books.setups.get(session.setup_intent);
  if (!setup) throw missing('setup_intent', session.setup_intent ?? '');
  if (isDeclined) {
    setup.last_setup_error = declineCodes[method.behaviour];
    books.tell('setup_intent.setup_failed', setup);
    return 'declined';
  }
  keepMethod(books, session, method.id);
  Object.assign(setup, { status: 'succeeded', payment_method: method.id, customer: session.customer });
  completed(session, 'no_payment_required');
  books.tell('setup_intent.succeeded', setup);
  books.tell('checkout.session.completed', session);
  return 'succeeded';
}

/** A session whose time has come ends by itself. */
export function endIfOver(books: StripeBooks, session: FakeSession): void {
  if (session.status === 'open' && session.expires_at * 1000 <= Date.now()) expire(books, session);
}

export function expire(books: StripeBooks, session: FakeSession): void {
  session.status = 'expired';
  session.url = null;
  const intent = session.payment_intent === null ? undefined : books.intents.get(session.payment_intent);
  if (intent && intent.status !== 'succeeded') intent.status = 'canceled';
  books.tell('checkout.session.expired', session);
}
