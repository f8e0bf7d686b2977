import type { FakeCall } from '../shell.ts';
import { type FakeTransaction, invalid, type PaddleBooks, PaddleRefusal, paddleId } from './books.ts';
import { isPayable, nearer, nearerRefunds, refundTransaction, transactionOf } from './payment.ts';

/** Names of calls in faults. */
export type CallKind = 'open' | 'read' | 'close' | 'refund' | 'list' | 'refunds' | 'events';

type Body = Readonly<Record<string, unknown>>;

/** The call of a request by its method and path; null for what the fake does not have. */
export function callOf(books: PaddleBooks, method: string, url: URL, body: Body): FakeCall<CallKind> | null {
  const [, kind = '', id = ''] = url.pathname.split('/');
  const query = url.searchParams;
  switch (`${method} ${kind}${id === '' ? '' : '/:id'}`) {
    case 'POST transactions':
      return { kind: 'open', answer: () => ({ data: openTransaction(books, body) }) };
    case 'GET transactions':
      return { kind: 'list', answer: () => listTransactions(books, query) };
    case 'GET transactions/:id':
      return { kind: 'read', answer: () => ({ data: nearer(books, transactionOf(books, id)) }) };
    case 'PATCH transactions/:id':
      return { kind: 'close', answer: () => ({ data: cancel(books, id, body) }) };
    case 'POST adjustments':
      return { kind: 'refund', answer: () => ({ data: refund(books, body) }) };
    case 'GET adjustments':
      return { kind: 'refunds', answer: () => listAdjustments(books, query) };
    case 'GET events':
      return { kind: 'events', answer: () => listEvents(books, query) };
    default:
      return null;
  }
}

/** The object of a member, with no members but those named. */
function objectIn(value: unknown, path: string, names: readonly string[]): Body {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(path);
  const strange = Object.keys(value).filter((name) => !names.includes(name));
  if (strange.length > 0) throw invalid(...strange.map((name) => `${path}.${name}`));
  return value as Body;
}

function textIn(value: unknown, path: string, pattern = /^[^\0]{1,500}$/): string {
  if (typeof value !== 'string' || !pattern.test(value)) throw invalid(path);
  return value;
}

function openTransaction(books: PaddleBooks, body: Body): FakeTransaction {
  objectIn(body, 'body', ['collection_mode', 'currency_code', 'items', 'custom_data', 'checkout']);
  if (body.collection_mode !== 'automatic') throw invalid('collection_mode');
  const currency = textIn(body.currency_code, 'currency_code', /^[A-Z]{3}$/);
  const items = Array.isArray(body.items) ? body.items : [];
  if (items.length !== 1) throw invalid('items');
  const { price, quantity } = objectIn(items[0], 'items[0]', ['price', 'quantity']);
  if (quantity !== 1) throw invalid('items[0].quantity');
  const amount = priceOf(price, currency);
  const url = new URL(textIn(objectIn(body.checkout, 'checkout', ['url']).url, 'checkout.url', /^https?:\/\//));
  if (books.approvedHosts && !books.approvedHosts.includes(url.hostname)) {
    throw new PaddleRefusal(400, 'transaction_checkout_url_domain_is_not_approved');
  }
  const now = new Date().toISOString();
  const id = paddleId('txn');
  url.searchParams.set('_ptxn', id);
  const transaction: FakeTransaction = {
    id,
    status: 'draft',
    origin: 'api',
    collection_mode: 'automatic',
    currency_code: currency,
    customer_id: null,
    custom_data: (body.custom_data ?? null) as FakeTransaction['custom_data'],
    checkout: { url: url.href },
    created_at: now,
    updated_at: now,
    payments: [],
    details: {
      totals: { grand_total: amount, currency_code: currency },
      line_items: [{ id: paddleId('txnitm'), quantity: 1 }],
    },
  };
  books.transactions.set(id, transaction);
  books.tell('transaction.created', transaction);
  return transaction;
}

/** The amount of a price that is in no catalogue. */
function priceOf(value: unknown, currency: string): string {
  const names = ['description', 'name', 'unit_price', 'tax_mode', 'quantity', 'product'];
  const price = objectIn(value, 'items[0].price', names);
  textIn(price.description, 'price.description');
  textIn(price.name, 'price.name', /^.{1,150}$/);
  if (price.tax_mode !== 'internal') throw invalid('price.tax_mode');
  const { minimum, maximum } = objectIn(price.quantity, 'price.quantity', ['minimum', 'maximum']);
  if (minimum !== 1 || maximum !== 1) throw invalid('price.quantity');
  const product = objectIn(price.product, 'price.product', ['name', 'tax_category']);
  textIn(product.name, 'product.name', /^.{1,200}$/);
  textIn(product.tax_category, 'product.tax_category', /^standard$/);
  const unit = objectIn(price.unit_price, 'price.unit_price', ['amount', 'currency_code']);
  if (unit.currency_code !== currency) throw invalid('price.unit_price.currency_code');
  return textIn(unit.amount, 'price.unit_price.amount', /^[1-9]\d{0,11}$/);
}

/** Cancels what its payer has begun and not paid, and nothing else. */
function cancel(books: PaddleBooks, id: string, body: Body): FakeTransaction {
  const { status } = objectIn(body, 'body', ['status']);
  const transaction = transactionOf(books, id);
  if (status !== 'canceled') throw invalid('status');
  if (!isPayable(transaction)) throw new PaddleRefusal(400, 'transaction_immutable');
  if (transaction.status === 'draft') throw new PaddleRefusal(400, 'transaction_invalid_status_change');
  transaction.status = 'canceled';
  books.tell('transaction.canceled', transaction);
  return transaction;
}

function refund(books: PaddleBooks, body: Body) {
  objectIn(body, 'body', ['action', 'type', 'tax_mode', 'transaction_id', 'reason', 'items']);
  if (body.action !== 'refund') throw invalid('action');
  if (body.type !== 'partial') throw invalid('type');
  if (body.tax_mode !== 'internal') throw invalid('tax_mode');
  const transaction = transactionOf(books, textIn(body.transaction_id, 'transaction_id'));
  const items = Array.isArray(body.items) ? body.items : [];
  if (items.length !== 1) throw invalid('items');
  const item = objectIn(items[0], 'items[0]', ['item_id', 'type', 'amount']);
  if (item.type !== 'partial') throw invalid('items[0].type');
  const isOfIt = transaction.details.line_items.some(({ id }) => id === item.item_id);
  if (!isOfIt) throw new PaddleRefusal(400, 'adjustment_transaction_item_invalid');
  const amount = textIn(item.amount, 'items[0].amount', /^[1-9]\d{0,11}$/);
  return refundTransaction(books, transaction, { amount, reason: textIn(body.reason, 'reason') });
}

function listTransactions(books: PaddleBooks, query: URLSearchParams) {
  const names = ['created_at[GTE]', 'created_at[LTE]', 'origin', 'order_by', 'per_page', 'after'];
  const [from, until] = ['created_at[GTE]', 'created_at[LTE]'].map((name) => Date.parse(query.get(name) ?? ''));
  const isWithin = ({ created_at }: FakeTransaction) => {
    const at = Date.parse(created_at);
    return !(at < (from ?? 0)) && !(at > (until ?? 0));
  };
  return pageOf([...books.transactions.values()].filter(isWithin), ({ id }) => id, { query, names, most: 30 });
}

function listAdjustments(books: PaddleBooks, query: URLSearchParams) {
  const [of, action] = [query.get('transaction_id'), query.get('action')];
  if (of !== null) nearerRefunds(books, of);
  const found = [...books.adjustments.values()].filter(
    (each) => (of === null || each.transaction_id === of) && (action === null || each.action === action),
  );
  const names = ['transaction_id', 'action', 'order_by', 'per_page', 'after'];
  return pageOf(found, ({ id }) => id, { query, names, most: 50 });
}

function listEvents(books: PaddleBooks, query: URLSearchParams) {
  const types = query.get('event_type')?.split(',');
  const found = books.events.filter(({ event_type }) => types === undefined || types.includes(event_type));
  const names = ['event_type', 'order_by', 'per_page', 'after'];
  return pageOf(found, ({ event_id }) => event_id, { query, names, most: 200 });
}

/** A page of a list in the order of ids, the newest first unless asked otherwise. */
function pageOf<T>(
  found: readonly T[],
  idOf: (object: T) => string,
  { query, names, most }: { query: URLSearchParams; names: readonly string[]; most: number },
) {
  for (const name of query.keys()) if (!names.includes(name)) throw invalid(name);
  const size = Math.min(Number(query.get('per_page') ?? most), most);
  const order = query.get('order_by') ?? 'id[DESC]';
  if (order !== 'id[ASC]' && order !== 'id[DESC]') throw invalid('order_by');
  const sorted = found.toSorted((a, b) => idOf(a).localeCompare(idOf(b)));
  if (order === 'id[DESC]') sorted.reverse();
  const after = query.get('after');
  const start = after === null ? 0 : sorted.findIndex((each) => idOf(each) === after) + 1;
  const data = sorted.slice(start, start + size);
  const pagination = { per_page: size, has_more: start + size < sorted.length, estimated_total: sorted.length };
  return { data, meta: { pagination } };
}
