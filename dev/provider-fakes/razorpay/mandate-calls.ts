import {
  type FakeOrder,
  type FakeRegistration,
  type RazorpayBooks,
  RazorpayRefusal,
  secondsNow,
  shown,
} from './books.ts';
import { type AskedCall, type Call, collection, found } from './call.ts';
import { debit, endRegistration, newCustomer } from './mandate.ts';
import { allow, amountOf, currencyOf, notesOf, only, type Parameters, text } from './parameters.ts';

const quarterHour = 15 * 60;

/** The call of a request that is about mandates; null for what the fake does not have. */
export function mandateCallOf(
  books: RazorpayBooks,
  { method, path, query, parameters, pageUrl }: AskedCall,
): Call | null {
  const ids = [...path.matchAll(/\/((?:inv|order|cust|token)_\w+)/g)].map(([, id]) => id ?? '');
  const [id = '', inner = ''] = ids;
  const reads = (answer: () => unknown): Call => ({ kind: 'read', answer });
  const byReceipt = <T extends { receipt: string | null }>(objects: ReadonlyMap<string, T>) =>
    collection(
      [...objects.values()].filter(({ receipt }) => receipt === query.get('receipt')),
      query,
    );
  switch (`${method} ${path.replace(/\/(?:inv|order|cust|token)_\w+/g, '/:id')}`) {
    case 'POST /v1/subscription_registration/auth_links':
      return { kind: 'open', answer: () => openRegistration(books, parameters, pageUrl) };
    case 'GET /v1/invoices':
      return reads(() => byReceipt(books.registrations));
    case 'GET /v1/invoices/:id':
      return reads(() => {
        endRegistration(books, found(books.registrations, id));
        return shown(found(books.registrations, id));
      });
    case 'POST /v1/invoices/:id/cancel':
      return { kind: 'close', answer: () => cancelRegistration(found(books.registrations, id)) };
    case 'POST /v1/orders':
      return { kind: 'prepare', answer: () => newOrder(books, parameters) };
    case 'GET /v1/orders':
      return reads(() => byReceipt(books.orders));
    case 'GET /v1/orders/:id':
      return reads(() => found(books.orders, id));
    case 'PATCH /v1/orders/:id':
      return { kind: 'note', answer: () => changeNotes(found(books.orders, id), parameters) };
    case 'GET /v1/customers/:id':
      return reads(() => found(books.customers, id));
    case 'GET /v1/customers/:id/tokens/:id':
      return reads(() => {
        const token = found(books.tokens, inner);
        if (token.customer_id !== found(books.customers, id).id)
          throw new RazorpayRefusal('The id provided does not exist');
        return { ...shown(token), method: token.method };
      });
    case 'POST /v1/payments/create/recurring':
      return { kind: 'charge', answer: () => charge(books, parameters) };
    default:
      return null;
  }
}

function openRegistration(books: RazorpayBooks, parameters: Parameters, pageUrl: string) {
  allow(parameters, [
    ...['type', 'amount', 'currency', 'description', 'receipt', 'customer', 'subscription_registration'],
    ...['expire_by', 'email_notify', 'sms_notify', 'notes'],
  ]);
  only(parameters, 'type', ['link']);
  only(parameters, 'email_notify', [false]);
  only(parameters, 'sms_notify', [false]);
  const currency = currencyOf(parameters);
  const amount = amountOf(parameters, currency);
  const terms = (parameters.subscription_registration ?? {}) as Parameters;
  allow(terms, ['method', 'max_amount']);
  const { method, max_amount = 1_500_000 } = terms;
  if (method !== 'card' && method !== 'upi') throw new RazorpayRefusal('method is invalid', { field: 'method' });
  if (method === 'card' && amount !== 100) throw new RazorpayRefusal('amount must be 1 for cards', { field: 'amount' });
  if (currency !== 'INR') throw new RazorpayRefusal('currency must be INR', { field: 'currency' });
  if (typeof max_amount !== 'number' || max_amount < 500) throw new RazorpayRefusal('max_amount is invalid');
  const expire_by = Number(parameters.expire_by);
  if (!(expire_by >= secondsNow() + quarterHour))
    throw new RazorpayRefusal('expire_by must be atleast 15 minutes ahead');
  const person = (parameters.customer ?? {}) as Parameters;
  const [name, email, contact] = [text(person, 'name', 50), text(person, 'email'), text(person, 'contact')];
  const customer = newCustomer(books, { name, email, contact });
  const id = books.newId('inv');
  const link: FakeRegistration = {
    id,
    entity: 'invoice',
    status: 'issued',
    amount,
    currency,
    description: text(parameters, 'description'),
    receipt: text(parameters, 'receipt', 40),
    short_url: `${pageUrl}/pay/${id}`,
    expire_by,
    customer_id: customer.id,
    order_id: books.newId('order'),
    notes: notesOf(parameters),
    method,
    max_amount,
  };
  books.registrations.set(id, link);
  return shown(link);
}

function cancelRegistration(link: FakeRegistration) {
  if (link.status !== 'issued')
    throw new RazorpayRefusal(`Operation not allowed for Invoice in ${link.status} status.`);
  link.status = 'cancelled';
  return shown(link);
}

function newOrder(books: RazorpayBooks, parameters: Parameters): FakeOrder {
  allow(parameters, ['amount', 'currency', 'receipt', 'payment_capture', 'notes']);
  only(parameters, 'payment_capture', [true]);
  const currency = currencyOf(parameters);
  const order: FakeOrder = {
    id: books.newId('order'),
    entity: 'order',
    amount: amountOf(parameters, currency),
    currency,
    receipt: text(parameters, 'receipt', 40),
    notes: notesOf(parameters),
  };
  books.orders.set(order.id, order);
  return order;
}

function changeNotes(order: FakeOrder, parameters: Parameters): FakeOrder {
  allow(parameters, ['notes']);
  order.notes = notesOf(parameters);
  return order;
}

function charge(books: RazorpayBooks, parameters: Parameters) {
  allow(parameters, [
    ...[
      'email',
      'contact',
      'amount',
      'currency',
      'order_id',
      'customer_id',
      'token',
      'recurring',
      'description',
      'notes',
    ],
  ]);
  only(parameters, 'recurring', [true]);
  const customer = found(books.customers, text(parameters, 'customer_id'));
  if (parameters.email !== customer.email || parameters.contact !== customer.contact) {
    throw new RazorpayRefusal('email and contact must be those of the customer', { field: 'email' });
  }
  const order = found(books.orders, text(parameters, 'order_id'));
  const payment = debit(books, {
    order,
    customer,
    token: found(books.tokens, text(parameters, 'token')),
    amount: amountOf(parameters, currencyOf(parameters)),
    notes: notesOf(parameters),
    description: text(parameters, 'description'),
  });
  return { razorpay_payment_id: payment.id };
}
