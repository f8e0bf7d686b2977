import { LostAnswer } from '../shell.ts';
import { type FakeLink, type FakePayment, type RazorpayBooks, RazorpayRefusal, secondsNow, shown } from './books.ts';
import { type AskedCall, type Call, collection, found } from './call.ts';
import { mandateCallOf } from './mandate-calls.ts';
import { allow, amountOf, currencyOf, methodOf, notesOf, only, type Parameters, text } from './parameters.ts';
import { capture, endIfOver, giveBack, nearer, nearerRefund } from './payment.ts';

const quarterHour = 15 * 60;
const halfYear = 183 * 86_400;

/** The call of a request by its method and path; null for what the fake does not have. */
export function callOf(books: RazorpayBooks, { method, path, query, parameters, pageUrl }: AskedCall): Call | null {
  const named = /\/((?:plink|pay|order|inv)_\w+)/;
  const id = named.exec(path)?.[1] ?? '';
  const reads = (answer: () => unknown): Call => ({ kind: 'read', answer });
  switch (`${method} ${path.replace(named, '/:id')}`) {
    case 'POST /v1/payment_links':
      return { kind: 'open', answer: () => openLink(books, parameters, pageUrl) };
    case 'GET /v1/payment_links':
      return reads(() => ({
        payment_links: [...books.links.values()]
          .filter(({ reference_id }) => reference_id === query.get('reference_id'))
          .map((link) => shownLink(books, link)),
      }));
    case 'GET /v1/payment_links/:id':
      return reads(() => shownLink(books, found(books.links, id)));
    case 'POST /v1/payment_links/:id/cancel':
      return { kind: 'close', answer: () => cancelLink(books, id) };
    case 'GET /v1/orders/:id/payments':
      return reads(() => {
        for (const payment of books.paymentsOf({ order_id: id })) nearer(books, payment);
        return collection(books.paymentsOf({ order_id: id }), query);
      });
    case 'GET /v1/payments':
      return { kind: 'other', answer: () => collection([...books.payments.values()].toReversed(), query) };
    case 'GET /v1/refunds':
      return reads(() => {
        const from = Number(query.get('from') ?? 0);
        return collection(
          [...books.refunds.values()].filter(({ created_at }) => created_at >= from).toReversed(),
          query,
        );
      });
    case 'GET /v1/payments/:id':
      return reads(() => shown(found(books.payments, id)));
    case 'POST /v1/payments/:id/capture':
      return { kind: 'other', answer: () => captureByHand(books, id, parameters) };
    case 'POST /v1/payments/:id/refund':
      return { kind: 'refund', answer: () => refundPayment(books, found(books.payments, id), parameters) };
    case 'GET /v1/payments/:id/refunds':
      return reads(() => {
        for (const refund of books.refundsOf(found(books.payments, id).id)) nearerRefund(books, refund);
        return collection(books.refundsOf(id).toReversed(), query);
      });
    default:
      return mandateCallOf(books, { method, path, query, parameters, pageUrl });
  }
}

function openLink(books: RazorpayBooks, parameters: Parameters, pageUrl: string) {
  allow(parameters, [
    'amount',
    'currency',
    'accept_partial',
    'reference_id',
    'description',
    'expire_by',
    'customer',
    'notify',
    'reminder_enable',
    'notes',
    'callback_url',
    'callback_method',
    'options',
  ]);
  const now = secondsNow();
  const currency = currencyOf(parameters);
  const amount = amountOf(parameters, currency);
  const reference_id = text(parameters, 'reference_id', 40);
  const expire_by = Number(parameters.expire_by);
  if (!(expire_by >= now + quarterHour)) throw new RazorpayRefusal('timestamp must be atleast 15 minutes in future');
  if (expire_by > now + halfYear) throw new RazorpayRefusal('expire_by must not be more than 6 months in future');
  only(parameters, 'accept_partial', [false]);
  only(parameters, 'callback_method', ['get']);
  if ([...books.links.values()].some((link) => link.reference_id === reference_id)) {
    throw new RazorpayRefusal(
      `payment link with given reference_id: ${reference_id} already exists. Please create with a different reference_id`,
    );
  }
  const id = books.newId('plink');
  const link: FakeLink = {
    id,
    status: 'created',
    amount,
    amount_paid: 0,
    currency,
    description: text(parameters, 'description'),
    reference_id,
    short_url: `${pageUrl}/pay/${id}`,
    created_at: now,
    expire_by,
    expired_at: 0,
    cancelled_at: 0,
    callback_url: text(parameters, 'callback_url'),
    method: methodOf(parameters, currency),
    notes: notesOf(parameters),
  };
  books.links.set(id, link);
  return shownLink(books, link);
}

/** A link as it is shown: what was paid by it, or null. */
function shownLink(books: RazorpayBooks, link: FakeLink) {
  endIfOver(books, link);
  const paid = books.paymentsOf(link).filter(({ captured }) => captured);
  const payments = paid.map(({ id, amount, created_at }) => ({
    payment_id: id,
    plink_id: link.id,
    amount,
    created_at,
    method: link.method,
    status: 'captured',
  }));
  return { accept_partial: false, ...shown(link), payments: payments.length === 0 ? null : payments };
}

function cancelLink(books: RazorpayBooks, id: string) {
  const link = found(books.links, id);
  endIfOver(books, link);
  if (link.status === 'paid') {
    throw new RazorpayRefusal('cannot cancel or expire an already paid/partially paid link');
  }
  if (link.status !== 'created') throw new RazorpayRefusal('cannot cancel or expire an expired link');
  Object.assign(link, { status: 'cancelled', cancelled_at: secondsNow() });
  books.tell('payment_link.cancelled', { payment_link: link });
  return shownLink(books, link);
}

function captureByHand(books: RazorpayBooks, id: string, parameters: Parameters) {
  allow(parameters, ['amount', 'currency']);
  const payment = found(books.payments, id);
  if (payment.status !== 'authorized') throw new RazorpayRefusal('This payment has already been captured');
  if (parameters.amount !== payment.amount || parameters.currency !== payment.currency) {
    throw new RazorpayRefusal('Capture amount must be equal to the amount authorized', { field: 'amount' });
  }
  capture(books, payment);
  return shown(payment);
}

function refundPayment(books: RazorpayBooks, payment: FakePayment, parameters: Parameters) {
  allow(parameters, ['amount', 'speed', 'notes', 'receipt']);
  only(parameters, 'speed', ['normal', 'optimum']);
  const refund = giveBack(books, payment, {
    amount: amountOf(parameters, payment.currency),
    notes: notesOf(parameters),
    receipt: text(parameters, 'receipt', 40),
  });
  if (payment.behaviour === 'refund_loses_answer') throw new LostAnswer(shown(refund));
  return shown(refund);
}
