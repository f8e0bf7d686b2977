import type { FakeCall } from '../shell.ts';
import {
  type ChargebeeBooks,
  ChargebeeRefusal,
  type FakeComment,
  type FakeCustomer,
  type FakePage,
  invalid,
  missing,
  secondsNow,
} from './books.ts';
import { collect, invoicesOf, newInvoice, openSourcesPage, shownInvoice, sourcesOf, voidInvoice } from './charge.ts';
import { allow, amountIn, textIn } from './parameters.ts';
import { nearer, pageOf } from './payment.ts';
import { nearerRefunds, refundInvoice, refundUnused } from './refund.ts';

/** Names of calls in faults. */
export type CallKind =
  | 'payer'
  | 'open'
  | 'read'
  | 'find'
  | 'payments'
  | 'prepare'
  | 'charge'
  | 'void'
  | 'mark'
  | 'refund'
  | 'events';

/** A request as far as calls look at it. */
export interface AskedCall {
  method: string;
  path: string;
  parameters: URLSearchParams;
  key: string | null;
  /** Address of the fake, under which its pages are. */
  pageUrl: string;
}

/** The call of a request by its method and path; null for what the fake does not have. */
export function callOf(books: ChargebeeBooks, request: AskedCall): FakeCall<CallKind> | null {
  const { method, path, parameters: given, key } = request;
  const [kind = '', id = '', action] = path.split('/');
  const isPageCreation = method === 'POST' && (kind === 'hosted_pages' || id === 'create_for_charge_items_and_charges');
  const route = isPageCreation ? `POST ${path}` : `${method} ${kind}${id && '/:id'}${action ? `/${action}` : ''}`;
  switch (route) {
    case 'POST customers':
      return { kind: 'payer', answer: () => ({ customer: makeCustomer(books, given) }) };
    case 'POST hosted_pages/checkout_one_time_for_items':
      return { kind: 'open', answer: () => ({ hosted_page: openPage(books, given, request.pageUrl) }) };
    case 'POST hosted_pages/manage_payment_sources':
      return { kind: 'open', answer: () => ({ hosted_page: openSourcesPage(books, given, request.pageUrl) }) };
    case 'POST invoices/create_for_charge_items_and_charges':
      return { kind: 'prepare', answer: () => ({ invoice: newInvoice(books, given) }) };
    case 'POST invoices/:id/collect_payment':
      return { kind: 'charge', answer: () => collect(books, id, given) };
    case 'POST invoices/:id/void':
      return { kind: 'void', answer: () => ({ invoice: voidInvoice(books, id, given) }) };
    case 'GET invoices/:id':
      return { kind: 'read', answer: () => ({ invoice: shownInvoice(books, id) }) };
    case 'GET invoices':
      return { kind: 'read', answer: () => listOf('invoice', invoicesOf(books, given), given) };
    case 'GET payment_sources':
      return { kind: 'read', answer: () => listOf('payment_source', sourcesOf(books, given), given) };
    case 'GET hosted_pages':
      return { kind: 'find', answer: () => listOf('hosted_page', pagesSince(books, given), given) };
    case 'GET hosted_pages/:id':
      return { kind: 'read', answer: () => ({ hosted_page: lookedAt(books, id) }) };
    case 'GET transactions':
      return { kind: 'payments', answer: () => listOf('transaction', transactionsOf(books, given), given) };
    case 'GET transactions/:id':
      return { kind: 'read', answer: () => ({ transaction: transactionOf(books, id) }) };
    case 'POST transactions/:id/refund':
      return { kind: 'refund', answer: () => refundPayment(books, id, given, key) };
    case 'POST invoices/:id/refund':
      return { kind: 'refund', answer: () => refundOfInvoice(books, id, given, key) };
    case 'GET comments':
      return { kind: 'read', answer: () => listOf('comment', commentsOf(books, given), given) };
    case 'POST comments':
      return { kind: 'mark', answer: () => ({ comment: comment(books, given) }) };
    case 'POST comments/:id/delete':
      return { kind: 'mark', answer: () => ({ comment: deleteComment(books, id) }) };
    case 'GET events':
      return { kind: 'events', answer: () => listOf('event', eventsOf(books, given), given) };
    default:
      return null;
  }
}

function refundPayment(books: ChargebeeBooks, id: string, given: URLSearchParams, key: string | null) {
  allow(given, ['amount', 'comment']);
  return { transaction: refundUnused(books, id, amountIn(given, 'amount'), key) };
}

function refundOfInvoice(books: ChargebeeBooks, id: string, given: URLSearchParams, key: string | null) {
  allow(given, ['refund_amount', 'comment', 'credit_note[reason_code]']);
  const transaction = refundInvoice(books, id, amountIn(given, 'refund_amount'), key);
  return { transaction, invoice: books.invoices.get(id) };
}

function makeCustomer(books: ChargebeeBooks, given: URLSearchParams): FakeCustomer {
  allow(given, ['id', 'first_name', 'email', 'auto_collection', 'meta_data']);
  const id = textIn(given, 'id', 50);
  if (books.customers.has(id)) throw new ChargebeeRefusal(400, 'invalid_request', 'duplicate_entry', { param: 'id' });
  const email = given.get('email');
  if (email !== null && !/^\S+@\S+\.\S+$/.test(email)) throw invalid('email');
  const customer: FakeCustomer = {
    id,
    object: 'customer',
    first_name: given.has('first_name') ? textIn(given, 'first_name', 150) : null,
    email,
    auto_collection: given.get('auto_collection') === 'off' ? 'off' : 'on',
    meta_data: JSON.parse(given.get('meta_data') ?? '{}'),
    created_at: secondsNow(),
  };
  books.customers.set(id, customer);
  return customer;
}

const pageParameters = [
  'customer[id]',
  'currency_code',
  'charges[amount][0]',
  'charges[description][0]',
  'charges[taxable][0]',
  'redirect_url',
  'cancel_url',
  'pass_thru_content',
];
const pageLifeSeconds = 3 * 3600;

function openPage(books: ChargebeeBooks, given: URLSearchParams, pageUrl: string): FakePage {
  allow(given, pageParameters);
  const known = books.customers.get(given.get('customer[id]') ?? '');
  // An id that is not there makes a customer with an id of Chargebee's own.
  const customerId = known?.id ?? books.newId('cus');
  const currency = textIn(given, 'currency_code', 3);
  if (!/^[A-Z]{3}$/.test(currency)) throw invalid('currency_code');
  const id = books.newId('hp');
  const now = secondsNow();
  const page: FakePage = {
    id,
    object: 'hosted_page',
    type: 'checkout_one_time',
    url: `${pageUrl}/pages/v3/${id}`,
    state: 'created',
    embed: false,
    pass_thru_content: textIn(given, 'pass_thru_content', 2048),
    created_at: now,
    updated_at: now,
    expires_at: now + pageLifeSeconds,
  };
  const order = {
    customerId,
    currency,
    amount: amountIn(given, 'charges[amount][0]'),
    description: textIn(given, 'charges[description][0]', 250),
    redirectUrl: textIn(given, 'redirect_url', 250),
    cancelUrl: textIn(given, 'cancel_url', 250),
  };
  books.pages.set(id, page);
  books.orders.set(id, order);
  return page;
}

function lookedAt(books: ChargebeeBooks, id: string): FakePage {
  books.looks.set(id, (books.looks.get(id) ?? 0) + 1);
  return pageOf(books, id);
}

const oldest = '0';

function pagesSince(books: ChargebeeBooks, given: URLSearchParams): FakePage[] {
  allow(given, ['type[is]', 'updated_at[after]', 'limit', 'offset']);
  const after = Number(given.get('updated_at[after]') ?? oldest);
  return [...books.pages.values()].filter(({ updated_at }) => updated_at > after).toReversed();
}

function transactionsOf(books: ChargebeeBooks, given: URLSearchParams) {
  allow(given, ['customer_id[is]', 'type[is]', 'limit', 'offset']);
  const payments = books.paymentsOf(textIn(given, 'customer_id[is]', 50));
  for (const payment of payments) nearer(books, payment);
  return payments;
}

function transactionOf(books: ChargebeeBooks, id: string) {
  const transaction = books.transactions.get(id);
  if (!transaction) throw missing(id);
  nearer(books, transaction);
  nearerRefunds(books, transaction);
  return transaction;
}

function comment(books: ChargebeeBooks, given: URLSearchParams): FakeComment {
  allow(given, ['entity_type', 'entity_id', 'notes']);
  const entity_id = textIn(given, 'entity_id', 100);
  if (given.get('entity_type') !== 'transaction' || !books.transactions.has(entity_id)) throw invalid('entity_id');
  const made: FakeComment = {
    id: books.newId('cmt'),
    object: 'comment',
    entity_type: 'transaction',
    entity_id,
    notes: textIn(given, 'notes', 1000),
    added_by: 'full_access_key_v1',
    created_at: secondsNow(),
    type: 'user',
  };
  books.comments.set(made.id, made);
  return made;
}

function commentsOf(books: ChargebeeBooks, given: URLSearchParams): FakeComment[] {
  allow(given, ['entity_type', 'entity_id', 'limit', 'offset']);
  const entityId = given.get('entity_id');
  return [...books.comments.values()].filter(({ entity_id }) => entity_id === entityId);
}

function deleteComment(books: ChargebeeBooks, id: string): FakeComment {
  const known = books.comments.get(id);
  if (!known) throw missing(id);
  books.comments.delete(id);
  return known;
}

function eventsOf(books: ChargebeeBooks, given: URLSearchParams) {
  allow(given, ['event_type[in]', 'occurred_at[after]', 'sort_by[asc]', 'limit', 'offset']);
  const types = new Set(JSON.parse(given.get('event_type[in]') ?? '[]') as string[]);
  const after = Number(given.get('occurred_at[after]') ?? oldest);
  return books.events.filter(({ event_type, occurred_at }) => types.has(event_type) && occurred_at > after);
}

/** A page of a list, ten entries unless more are asked for. */
function listOf(kind: string, objects: readonly unknown[], given: URLSearchParams) {
  const limit = Number(given.get('limit') ?? 10);
  if (!(limit >= 1 && limit <= 100)) throw invalid('limit');
  const start = Number(given.get('offset') ?? 0);
  const end = start + limit;
  return {
    list: objects.slice(start, end).map((object) => ({ [kind]: object })),
    ...(end < objects.length ? { next_offset: String(end) } : {}),
  };
}
