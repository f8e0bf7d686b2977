import { randomUUID } from 'node:crypto';
import type { FakeCall } from '../shell.ts';
import { type FakeInvoice, type FakePayment, invalid, type MoyasarBooks, MoyasarRefusal } from './books.ts';
import { chargeToken, invoiceOf, nearer, refundPayment } from './payment.ts';
import { keepCard, tokenOf } from './token.ts';

/** Names of calls in faults. */
export type CallKind =
  | 'open'
  | 'read'
  | 'close'
  | 'mark'
  | 'refund'
  | 'list'
  | 'keep'
  | 'token'
  | 'charge'
  | 'payments';

type Call = FakeCall<CallKind>;

type Body = Readonly<Record<string, unknown>>;

/** The call of a request by its method and path; null for what the fake does not have. */
export function callOf(books: MoyasarBooks, method: string, url: URL, body: Body, pageUrl: string): Call | null {
  const [, , kind = '', id = '', action] = url.pathname.split('/');
  const route = `${method} ${kind}${id === '' ? '' : '/:id'}${action === undefined ? '' : `/${action}`}`;
  switch (route) {
    case 'POST invoices':
      return { kind: 'open', answer: () => openInvoice(books, body, pageUrl) };
    case 'GET invoices':
      return { kind: 'list', answer: () => listInvoices(books, url.searchParams) };
    case 'GET invoices/:id':
      return { kind: 'read', answer: () => shown(books, id) };
    case 'GET invoices/:id/cancel':
      return { kind: 'close', answer: () => cancel(books, id) };
    case 'POST tokens':
      return { kind: 'keep', answer: () => keep(books, body, pageUrl) };
    case 'GET tokens/:id':
      return { kind: 'token', answer: () => tokenOf(books, id) };
    case 'POST payments':
      return { kind: 'charge', answer: () => charge(books, body) };
    case 'GET payments':
      return { kind: 'payments', answer: () => listPayments(books, url.searchParams) };
    case 'GET payments/:id':
      return { kind: 'read', answer: () => nearer(books, paymentOf(books, id)) };
    case 'PUT payments/:id':
      return { kind: 'mark', answer: () => updatePayment(books, id, body) };
    case 'POST payments/:id/refund':
      return { kind: 'refund', answer: () => refund(books, id, body) };
    default:
      return null;
  }
}

function paymentOf(books: MoyasarBooks, id: string): FakePayment {
  const payment = books.payments.get(id);
  if (!payment) throw new MoyasarRefusal(404, 'invalid_request_error', 'Object not found');
  return payment;
}

function allow(body: Body, names: readonly string[]): void {
  for (const name of Object.keys(body)) if (!names.includes(name)) throw invalid(name, 'is not known');
}

function openInvoice(books: MoyasarBooks, body: Body, pageUrl: string): FakeInvoice {
  allow(body, ['amount', 'currency', 'description', 'success_url', 'back_url', 'expired_at', 'metadata']);
  const now = new Date().toISOString();
  const id = randomUUID();
  const expiredAt = addressOrTime(body, 'expired_at');
  if (expiredAt !== null && !(Date.parse(expiredAt) > Date.now())) throw invalid('expired_at', 'must be in the future');
  if (typeof body.description !== 'string' || body.description === '') throw invalid('description', 'is required');
  const invoice: FakeInvoice = {
    id,
    status: 'initiated',
    amount: amountOf(body, 100),
    currency: currencyOf(body),
    description: body.description,
    url: `${pageUrl}/pay/${id}`,
    success_url: addressOrTime(body, 'success_url') ?? `${pageUrl}/thanks`,
    back_url: addressOrTime(body, 'back_url'),
    expired_at: expiredAt,
    created_at: now,
    updated_at: now,
    metadata: merged(null, body.metadata),
  };
  books.invoices.set(id, invoice);
  return invoice;
}

function keep(books: MoyasarBooks, body: Body, pageUrl: string) {
  allow(body, ['name', 'number', 'month', 'year', 'cvc', 'callback_url', 'metadata']);
  return keepCard(books, body, { pageUrl, metadata: merged(null, body.metadata) });
}

function charge(books: MoyasarBooks, body: Body): FakePayment {
  allow(body, ['given_id', 'amount', 'currency', 'description', 'metadata', 'source']);
  const { given_id: id, source } = body;
  if (typeof id !== 'string' || !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id))
    throw invalid('given_id', 'is invalid');
  const { type, token: tokenId, ...others } = (source ?? {}) as Body;
  allow(others, []);
  if (type !== 'token' || typeof tokenId !== 'string') throw invalid('source', 'is invalid');
  const metadata = merged(null, body.metadata);
  return chargeToken(books, { id, amount: amountOf(body, 100), currency: currencyOf(body), metadata, tokenId });
}

function addressOrTime(body: Body, name: string): string | null {
  const value = body[name] ?? null;
  if (value !== null && typeof value !== 'string') throw invalid(name, 'must be a text');
  return value;
}

function amountOf({ amount }: Body, least: number): number {
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount)) throw invalid('amount', 'must be an integer');
  if (amount < least) throw invalid('amount', `must be greater than or equal to ${least}`);
  return amount;
}

function currencyOf({ currency }: Body): string {
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) throw invalid('currency', 'is invalid');
  return currency;
}

/** Metadata within Moyasar's limits, 30 names of 40 characters with values of 500. A name goes away with an empty value. */
function merged(known: Record<string, string> | null, more: unknown): Record<string, string> | null {
  if (more === undefined || more === null) return known;
  const entries = Object.entries({ ...known, ...(more as object) }).filter(([, value]) => value !== '');
  const isTooMuch =
    entries.length > 30 ||
    entries.some(([name, value]) => name.length > 40 || typeof value !== 'string' || value.length > 500);
  if (isTooMuch) throw invalid('metadata', 'is too long');
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Newest first, 40 on a page, without their payments. */
function listInvoices(books: MoyasarBooks, query: URLSearchParams) {
  const wanted = [...query].flatMap(([name, value]) => {
    const key = /^metadata\[(.+)\]$/.exec(name)?.[1];
    return key === undefined ? [] : [[key, value] as const];
  });
  const matching = [...books.invoices.values()].filter(({ metadata }) =>
    wanted.every(([name, value]) => metadata?.[name] === value),
  );
  const meta = { current_page: 1, next_page: null, prev_page: null, total_pages: 1, total_count: matching.length };
  return { invoices: matching.toReversed().slice(0, 40), meta };
}

/** Newest first, 40 on a page; those that changed since an instant. */
function listPayments(books: MoyasarBooks, query: URLSearchParams) {
  allow(Object.fromEntries(query), ['page', 'updated[gt]']);
  const since = query.get('updated[gt]') ?? new Date(0).toISOString();
  const matching = [...books.payments.values()].filter(({ updated_at }) => updated_at > since).toReversed();
  const page = Number(query.get('page') ?? 1);
  const pages = Math.max(Math.ceil(matching.length / 40), 1);
  const meta = { current_page: page, next_page: page < pages ? page + 1 : null, prev_page: page > 1 ? page - 1 : null };
  const counts = { total_pages: pages, total_count: matching.length };
  return { payments: matching.slice((page - 1) * 40, page * 40), meta: { ...meta, ...counts } };
}

function shown(books: MoyasarBooks, id: string) {
  for (const payment of books.paymentsOf(id)) nearer(books, payment);
  return { ...invoiceOf(books, id), payments: books.paymentsOf(id) };
}

function cancel(books: MoyasarBooks, id: string) {
  const invoice = invoiceOf(books, id);
  if (invoice.status !== 'initiated') throw invalid('status', `cannot be canceled when ${invoice.status}`);
  invoice.status = 'canceled';
  return shown(books, id);
}

function updatePayment(books: MoyasarBooks, id: string, body: Body): FakePayment {
  allow(body, ['description', 'metadata']);
  const payment = paymentOf(books, id);
  payment.metadata = merged(payment.metadata, body.metadata);
  payment.updated_at = new Date().toISOString();
  return payment;
}

function refund(books: MoyasarBooks, id: string, body: Body): FakePayment {
  allow(body, ['amount']);
  const payment = paymentOf(books, id);
  const amount = body.amount === undefined ? payment.amount - payment.refunded : amountOf(body, 1);
  // Which mark it answers to is for tests alone; Moyasar knows of none.
  const marks = Object.entries(payment.metadata ?? {}).filter(([name]) => name.startsWith('refund_'));
  const mark = marks.find(([, text]) => Number(text.split(':')[1]) === payment.refunded + amount);
  refundPayment(books, payment, amount, mark?.[0].slice('refund_'.length) ?? null);
  return payment;
}
