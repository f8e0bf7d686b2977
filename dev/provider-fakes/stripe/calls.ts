import { type FakeCall, LostAnswer } from '../shell.ts';
import {
  type FakeIntent,
  type FakeObject,
  type FakeRefund,
  type FakeSession,
  invalid,
  missing,
  type StripeBooks,
  StripeRefusal,
} from './books.ts';
import { allow, amountOf, currencyOf, type Form, inner, metadataOf, required, text } from './parameters.ts';
import { attempt, capture, endIfOver, expire, newCustomer, newIntent } from './payment.ts';

/** Names of calls in faults. The list of events is a kind of its own: payments are read beside it at any time. */
export type CallKind = 'open' | 'read' | 'events' | 'close' | 'prepare' | 'charge' | 'refund' | 'other';

type Call = FakeCall<CallKind>;

const halfHour = 30 * 60;
const sessionParameters = [
  'mode',
  'client_reference_id',
  'allowed_payment_method_types.#',
  'customer',
  'customer_email',
  'customer_creation',
  'line_items.#.quantity',
  'line_items.#.price_data.currency',
  'line_items.#.price_data.unit_amount',
  'line_items.#.price_data.product_data.name',
  'adaptive_pricing.enabled',
  'payment_intent_data.description',
  'payment_intent_data.metadata.*',
  'payment_intent_data.setup_future_usage',
  'setup_intent_data.metadata.*',
  'success_url',
  'cancel_url',
  'expires_at',
  'metadata.*',
];

/** The call of a request by its method and path; null for what the fake does not have. */
export function callOf(books: StripeBooks, method: string, path: string, form: Form, pageUrl: string): Call | null {
  const route = `${method} ${path.replace(/\/(cs|pi|re|ch|evt|cus)_[\w]+/, '/:id')}`;
  const id = /\/((?:cs|pi|re|ch|evt|cus)_\w+)/.exec(path)?.[1] ?? '';
  const reads = (answer: () => unknown): Call => ({ kind: 'read', answer });
  switch (route) {
    case 'GET /v1/account':
      return { kind: 'other', answer: () => ({ id: books.accountId, object: 'account' }) };
    case 'POST /v1/checkout/sessions':
      return { kind: 'open', answer: () => openSession(books, form, pageUrl) };
    case 'GET /v1/checkout/sessions':
      return reads(() => list([...books.sessions.values()].map(shownSession), form));
    case 'GET /v1/checkout/sessions/:id':
      return reads(() => readSession(books, id, form));
    case 'POST /v1/checkout/sessions/:id/expire':
      return { kind: 'close', answer: () => closeSession(books, id) };
    case 'POST /v1/payment_intents':
      return { kind: 'prepare', answer: () => shownIntent(prepareIntent(books, form)) };
    case 'GET /v1/payment_intents/:id':
      return reads(() => shownIntent(nearer(books, found(books.intents, id, 'payment_intent'))));
    case 'POST /v1/payment_intents/:id/confirm':
      return { kind: 'charge', answer: () => confirmIntent(books, id, form) };
    case 'POST /v1/payment_intents/:id/cancel':
      return { kind: 'other', answer: () => cancelIntent(books, id) };
    case 'GET /v1/charges':
      return reads(() => list(byIntent(books.charges, form), form));
    case 'POST /v1/refunds':
      return { kind: 'refund', answer: () => refundIntent(books, form) };
    case 'GET /v1/refunds':
      return reads(() => list(byIntent(books.refunds, form), form));
    case 'GET /v1/disputes':
      return reads(() => list(byIntent(books.disputes, form), form));
    case 'GET /v1/events':
      return { kind: 'events', answer: () => list(ofTypes(books, form), form) };
    default:
      return null;
  }
}

function found<T>(objects: ReadonlyMap<string, T>, id: string, kind: string): T {
  const object = objects.get(id);
  if (!object) throw missing(kind, id);
  return object;
}

/** Events of the types that are asked for, or all. */
function ofTypes({ events }: StripeBooks, form: Form) {
  const types = new Set(Object.values(inner(form, 'types')));
  return [...events.values()].filter(({ type }) => types.size === 0 || types.has(type));
}

/** Newest first, as Stripe lists. */
function list(objects: readonly FakeObject[], form: Form) {
  const { gte, lte } = inner(form, 'created');
  const after = text(form, 'starting_after');
  const matching = objects
    .filter(({ created }) => created >= Number(gte ?? 0) && created <= Number(lte ?? Number.MAX_SAFE_INTEGER))
    .toReversed();
  const rest = after === null ? matching : matching.slice(matching.findIndex(({ id }) => id === after) + 1);
  const limit = Number(text(form, 'limit') ?? 10);
  return { object: 'list', data: rest.slice(0, limit), has_more: rest.length > limit };
}

function byIntent<T extends FakeObject>(objects: ReadonlyMap<string, T>, form: Form): T[] {
  const intent = text(form, 'payment_intent');
  return [...objects.values()].filter((object) => intent === null || object.payment_intent === intent);
}

function openSession(books: StripeBooks, form: Form, pageUrl: string) {
  allow(form, sessionParameters);
  const mode = required(form, 'mode');
  const now = Math.floor(Date.now() / 1000);
  const expiresAt = Number(text(form, 'expires_at') ?? now + 86_400);
  if (expiresAt < now + halfHour || expiresAt > now + 86_400) throw invalid('parameter_invalid', 'expires_at');
  if (mode !== 'payment' && mode !== 'setup') throw invalid('parameter_invalid', 'mode');
  const priced = inner(inner(inner(form, 'line_items'), '0'), 'price_data');
  const currency = mode === 'payment' ? currencyOf(priced) : 'usd';
  const ofIntent = inner(form, 'payment_intent_data');
  const customer = text(form, 'customer');
  if (customer !== null && !books.customers.has(customer)) throw missing('customer', customer);
  const setup = books.newObject('seti', 'setup_intent', {
    status: 'requires_payment_method',
    payment_method: null,
    last_setup_error: null,
    metadata: metadataOf(inner(form, 'setup_intent_data')),
  });
  if (mode === 'setup') books.setups.set(setup.id, setup);
  const made = books.newObject('cs_test', 'checkout.session', {
    status: 'open' as const,
    payment_status: 'unpaid',
    mode,
    expires_at: expiresAt,
    client_reference_id: text(form, 'client_reference_id'),
    customer,
    metadata: metadataOf(form),
    payment_intent: null,
    setup_intent: mode === 'setup' ? setup.id : null,
    success_url: required(form, 'success_url'),
    cancel_url: text(form, 'cancel_url'),
    asked: {
      amount: mode === 'payment' ? amountOf(priced, 'unit_amount', currency) : 0,
      currency,
      intentMetadata: metadataOf(ofIntent),
      keeps: mode === 'setup' || text(ofIntent, 'setup_future_usage') === 'off_session',
      description: text(ofIntent, 'description') ?? '',
    },
  });
  const session: FakeSession = { ...made, url: `${pageUrl}/pay/${made.id}` };
  if (session.asked.keeps) session.customer ??= newCustomer(books);
  books.sessions.set(session.id, session);
  return shownSession(session);
}

function readSession(books: StripeBooks, id: string, form: Form) {
  const session = found(books.sessions, id, 'checkout.session');
  endIfOver(books, session);
  const intent =
    session.payment_intent === null ? null : nearer(books, found(books.intents, session.payment_intent, ''));
  const setup = session.setup_intent === null ? null : found(books.setups, session.setup_intent, '');
  const expands = Object.values(inner(form, 'expand'));
  const withMethod = <T extends Record<string, unknown>>(object: T | null) =>
    object && { ...object, payment_method: books.methods.get(String(object.payment_method)) ?? null };
  return {
    ...shownSession(session),
    ...(expands.includes('payment_intent.payment_method')
      ? { payment_intent: withMethod(intent && shownIntent(intent)) }
      : {}),
    ...(expands.includes('setup_intent.payment_method') ? { setup_intent: withMethod(setup) } : {}),
  };
}

function shownSession({ asked: _, ...session }: FakeSession) {
  return session;
}

function shownIntent({ looksLeft: _, ...intent }: FakeIntent) {
  return intent;
}

function closeSession(books: StripeBooks, id: string) {
  const session = found(books.sessions, id, 'checkout.session');
  endIfOver(books, session);
  if (session.status !== 'open') throw invalid('status_transition_invalid', null, 'Only open sessions can be expired.');
  expire(books, session);
  return shownSession(session);
}

function prepareIntent(books: StripeBooks, form: Form): FakeIntent {
  allow(form, [
    'amount',
    'currency',
    'customer',
    'allowed_payment_method_types.#',
    'capture_method',
    'description',
    'metadata.*',
  ]);
  const currency = currencyOf(form);
  const customer = text(form, 'customer');
  if (customer !== null && !books.customers.has(customer)) throw missing('customer', customer);
  return newIntent(books, {
    amount: amountOf(form, 'amount', currency),
    currency,
    customer,
    description: text(form, 'description') ?? '',
    metadata: metadataOf(form),
    setup_future_usage: null,
  });
}

function confirmIntent(books: StripeBooks, id: string, form: Form) {
  allow(form, ['payment_method', 'off_session']);
  const intent = found(books.intents, id, 'payment_intent');
  const method = found(books.methods, required(form, 'payment_method'), 'PaymentMethod');
  if (method.customer !== intent.customer) throw invalid('payment_method_unexpected_state', 'payment_method');
  if (intent.status !== 'requires_payment_method') throw invalid('payment_intent_unexpected_state', null);
  if (method.behaviour === 'unreachable_times' && method.remaining > 0) {
    method.remaining -= 1;
    throw new LostAnswer();
  }
  attempt(books, intent, method, text(form, 'off_session') !== 'true');
  const error = intent.last_payment_error;
  if (error) throw new StripeRefusal(402, { type: 'card_error', ...error, payment_intent: shownIntent(intent) });
  if (method.behaviour === 'loses_answer') throw new LostAnswer(shownIntent(intent));
  return method.behaviour === 'answers_wrongly' ? { ...shownIntent(intent), amount_received: 1 } : shownIntent(intent);
}

function cancelIntent(books: StripeBooks, id: string) {
  const intent = found(books.intents, id, 'payment_intent');
  if (intent.status === 'succeeded' || intent.status === 'processing' || intent.status === 'canceled') {
    throw invalid('payment_intent_unexpected_state', null);
  }
  intent.status = 'canceled';
  books.tell('payment_intent.canceled', intent);
  return shownIntent(intent);
}

/** A late charge comes one step nearer to its end with each look at it. */
function nearer(books: StripeBooks, intent: FakeIntent): FakeIntent {
  if (intent.status === 'processing' && intent.looksLeft !== null) {
    intent.looksLeft -= 1;
    if (intent.looksLeft <= 0) capture(books, intent);
  }
  return intent;
}

function refundIntent(books: StripeBooks, form: Form): FakeRefund {
  allow(form, ['payment_intent', 'amount', 'metadata.*']);
  const intent = found(books.intents, required(form, 'payment_intent'), 'payment_intent');
  if (intent.status !== 'succeeded') throw invalid('charge_not_refundable', 'payment_intent');
  if (byIntent(books.disputes, form).some(({ status }) => status === 'needs_response'))
    throw invalid('charge_disputed', null);
  const amount = Number(text(form, 'amount') ?? intent.amount_received);
  const given = [...books.refunds.values()].filter(
    ({ payment_intent, status }) => payment_intent === intent.id && status !== 'failed' && status !== 'canceled',
  );
  const returned = given.reduce((total, refund) => total + refund.amount, 0);
  if (returned + amount > intent.amount_received) throw invalid('charge_already_refunded', 'amount');
  const method = books.methods.get(intent.payment_method ?? '');
  const refund: FakeRefund = books.newObject('re', 'refund', {
    amount,
    currency: intent.currency,
    payment_intent: intent.id,
    metadata: metadataOf(form),
    ...refundStatus(method),
  });
  books.refunds.set(refund.id, refund);
  books.tell('refund.created', refund);
  if (method?.behaviour === 'refund_answers_twice') books.tell('refund.updated', refund);
  if (method?.behaviour === 'refund_loses_answer') throw new LostAnswer(refund);
  return refund;
}

function refundStatus(method: { behaviour: string; remaining: number } | undefined) {
  const failed = { status: 'failed', failure_reason: 'expired_or_canceled_card' };
  if (method?.behaviour === 'refund_fails') return failed;
  if (method?.behaviour === 'refund_fails_times' && method.remaining > 0) {
    method.remaining -= 1;
    return failed;
  }
  const isLate = method?.behaviour === 'refund_never_answers' || method?.behaviour === 'refund_answers_late';
  return { status: isLate ? 'pending' : 'succeeded', failure_reason: null };
}
