import { randomUUID } from 'node:crypto';
import { decimal, sum } from '../../../billing/money/money.ts';
import { type FakeCall, type FakeRequest, LostAnswer } from '../shell.ts';
import { type FakeCheckout, type FakeRefund, type NomodBooks, NomodRefusal } from './books.ts';
import {
  address,
  allow,
  amountOf,
  currencyOf,
  itemsOf,
  metadataOf,
  type Parameters,
  parseParameters,
  text,
} from './parameters.ts';
import { chargeToRefund, decideRefund, nearer } from './payment.ts';

/** Names of calls in faults. */
export type CallKind = 'open' | 'read' | 'refund' | 'charge' | 'charges';

/** The call of a request by its method and path; null for what the fake does not have. */
export function callOf(books: NomodBooks, { method, url, body, pageUrl }: FakeRequest): FakeCall<CallKind> | null {
  const [, , noun, id = '', action] = url.pathname.split('/');
  const route = `${method} ${noun}${id === '' ? '' : '/:id'}${action === undefined ? '' : `/${action}`}`;
  switch (route) {
    case 'POST checkout':
      return { kind: 'open', answer: () => openCheckout(books, parseParameters(body), pageUrl) };
    case 'GET checkout/:id':
      return { kind: 'read', answer: () => nearer(books, books.checkoutOf(id)) };
    case 'GET charges/:id':
      return { kind: 'charge', answer: () => shownCharge(books, id) };
    case 'GET charges':
      return { kind: 'charges', answer: () => listCharges(books, url) };
    case 'POST checkout/:id/refund':
      return { kind: 'refund', answer: () => refund(books, books.checkoutOf(id), parseParameters(body)) };
    default:
      return null;
  }
}

/** A charge of any checkout, with what went back of it. Refuses the key of an account that may not read charges. */
function shownCharge(books: NomodBooks, id: string) {
  const charge = chargesOf(books).find((each) => each.id === id);
  if (!charge) throw new NomodRefusal(404, 'not_found');
  return charge;
}

/** Charges by page, the newest first. */
function listCharges(books: NomodBooks, { searchParams, pathname }: URL) {
  const query = Object.fromEntries(searchParams);
  allow(query, ['type', 'status', 'page', 'page_size']);
  const [page, size] = [Number(query.page ?? 1), Number(query.page_size ?? 20)];
  const wanted = chargesOf(books).filter(({ status }) => query.status === undefined || status === query.status);
  const results = query.type === undefined || query.type === 'checkout' ? wanted.toReversed() : [];
  const next = page * size < results.length ? `${pathname}?page=${page + 1}` : null;
  return { count: results.length, next, previous: null, results: results.slice((page - 1) * size, page * size) };
}

function chargesOf(books: NomodBooks) {
  if (books.hidesCharges) throw new NomodRefusal(403, 'permission_denied');
  return [...books.checkouts.values()].flatMap(({ charges, currency }) =>
    charges.map(({ id, amount, status, payment_time: created }) => {
      const done = [...books.refunds.values()].filter((each) => each.charge_id === id && each.status === 'completed');
      const refunds = done.map(({ refund_time, amount: part }) => ({ created: refund_time, amount: part.toFixed(2) }));
      const refund_total = sum(done.map((each) => decimal(each.amount))).toFixed(2);
      return { id, created, currency, status, total: amount.toFixed(2), refund_total, refunds };
    }),
  );
}

function openCheckout(books: NomodBooks, parameters: Parameters, pageUrl: string): FakeCheckout {
  allow(parameters, [
    'reference_id',
    'amount',
    'currency',
    'items',
    'discount',
    'customer',
    'success_url',
    'failure_url',
    'cancelled_url',
    'metadata',
  ]);
  const reference_id = text(parameters, 'reference_id', 100);
  if ([...books.checkouts.values()].some((each) => each.reference_id === reference_id)) {
    throw new NomodRefusal(400, 'reference_not_unique', 'reference_id');
  }
  const amount = amountOf(parameters);
  const id = randomUUID();
  const checkout: FakeCheckout = {
    id,
    url: `${pageUrl}/pay/${id}`,
    status: 'created',
    amount,
    discount: 0,
    currency: currencyOf(parameters),
    reference_id,
    created_at: new Date().toISOString(),
    items: itemsOf(parameters, amount),
    customer: {},
    metadata: metadataOf(parameters),
    charges: [],
  };
  books.addresses.set(id, {
    success: address(parameters, 'success_url'),
    failure: address(parameters, 'failure_url'),
    cancelled: address(parameters, 'cancelled_url'),
  });
  books.checkouts.set(id, checkout);
  return checkout;
}

/** A repeated key is answered with its refund as it is now. A refused one makes none, so that its key stays free. */
function refund(books: NomodBooks, checkout: FakeCheckout, parameters: Parameters): FakeRefund {
  allow(parameters, ['amount', 'reason', 'reference_id', 'idempotency_key', 'metadata']);
  const amount = amountOf(parameters);
  const key = text(parameters, 'idempotency_key', 255);
  const known = books.refunds.get(key);
  if (known) return nearerRefund(books, known);
  const charge = chargeToRefund(books, checkout, amount);
  const card = books.cards.get(charge.id);
  if (card?.behaviour === 'unreachable_times' && card.count > 0) {
    card.count -= 1;
    throw new LostAnswer();
  }
  if (card?.behaviour === 'refund_fails' || (card?.behaviour === 'refund_fails_times' && card.count > 0)) {
    card.count -= 1;
    throw new NomodRefusal(400, 'invalid_refund_amount');
  }
  const made: FakeRefund = {
    refund_id: randomUUID(),
    charge_id: charge.id,
    status: 'pending',
    amount,
    currency: checkout.currency,
    refund_time: new Date().toISOString(),
    reason: '',
    reference_id: text({ reference_id: key, ...parameters }, 'reference_id'),
    metadata: metadataOf(parameters),
  };
  books.refunds.set(key, made);
  const isLate =
    card?.behaviour === 'refund_never_answers' || (card?.behaviour === 'refund_answers_late' && card.count > 0);
  if (!isLate) decideRefund(books, made, 'completed');
  if (card?.behaviour === 'refund_loses_answer') throw new LostAnswer();
  return made;
}

/** A late refund comes one step nearer to its end each time that its key is sent again. */
function nearerRefund(books: NomodBooks, refund: FakeRefund): FakeRefund {
  const card = books.cards.get(refund.charge_id);
  if (refund.status === 'pending' && card?.behaviour === 'refund_answers_late') {
    card.count -= 1;
    if (card.count <= 0) decideRefund(books, refund, 'completed');
  }
  return refund;
}
