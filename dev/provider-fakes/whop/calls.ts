import type { FakeCall } from '../shell.ts';
import {
  type FakeConfiguration,
  type FakePayment,
  type FakePlan,
  type FakeRefund,
  invalid,
  missing,
  type WhopBooks,
  WhopRefusal,
} from './books.ts';
import { chargeMember } from './charge.ts';
import { configurationOf, nearer, nearerRefund, planOf, refundPayment } from './payment.ts';

/** Names of calls in faults. */
export type CallKind = 'plan' | 'open' | 'read' | 'close' | 'change' | 'charge' | 'refund' | 'list';

type Body = Readonly<Record<string, unknown>>;

/** Facts of the fake beside the account that calls. */
export interface Around {
  pageUrl: string;
  idempotencyKey: string | null;
  /** The account that has a configuration: every caller may read one. */
  holderOf(configurationId: string): WhopBooks | null;
}

/** The call of a request by its method and path; null for what the fake does not have. */
export function callOf(
  books: WhopBooks,
  method: string,
  url: URL,
  body: Body,
  around: Around,
): FakeCall<CallKind> | null {
  const [, , , kind = '', id = '', action] = url.pathname.split('/');
  const route = `${method} ${kind}${id === '' ? '' : '/:id'}${action === undefined ? '' : `/${action}`}`;
  const query = url.searchParams;
  switch (route) {
    case 'POST plans':
      return { kind: 'plan', answer: () => newPlan(books, body) };
    case 'GET plans/:id':
      return { kind: 'read', answer: () => planOf(books, id) };
    case 'PATCH plans/:id':
      return { kind: 'change', answer: () => changePlan(books, id, body) };
    case 'POST checkout_configurations':
      return { kind: 'open', answer: () => newConfiguration(books, body, around.pageUrl) };
    case 'GET checkout_configurations':
      return { kind: 'list', answer: () => listConfigurations(books, query) };
    case 'GET checkout_configurations/:id':
      return { kind: 'read', answer: () => configurationOf(around.holderOf(id) ?? books, id) };
    case 'DELETE checkout_configurations/:id':
      return { kind: 'close', answer: () => deleteConfiguration(books, id) };
    case 'POST payments':
      return { kind: 'charge', answer: () => newCharge(books, body) };
    case 'GET setup_intents':
      return { kind: 'list', answer: () => listSetups(books, query) };
    case 'GET payment_methods':
      return { kind: 'list', answer: () => listMethods(books, query) };
    case 'GET payments':
      return { kind: 'list', answer: () => listPayments(books, query) };
    case 'GET payments/:id':
      return { kind: 'read', answer: () => shownPayment(books, id) };
    case 'POST payments/:id/refund':
      return { kind: 'refund', answer: () => refund(books, id, body, around.idempotencyKey) };
    case 'GET refunds':
      return { kind: 'list', answer: () => listRefunds(books, query) };
    default:
      return null;
  }
}

function allow(given: Iterable<string>, names: readonly string[]): void {
  for (const name of given) if (!names.includes(name)) throw invalid(`${name} is not known`);
}

function ownAccount(books: WhopBooks, id: unknown): void {
  if (id !== books.accountId) throw new WhopRefusal(403, 'forbidden', 'the key is of another account');
}

const planMembers = [
  ...['account_id', 'product_id', 'plan_type', 'release_method', 'visibility', 'title', 'currency', 'initial_price'],
  ...['stock', 'unlimited_stock', 'adaptive_pricing_enabled', 'payment_method_configuration', 'metadata'],
];

function newPlan(books: WhopBooks, body: Body): FakePlan {
  allow(Object.keys(body), planMembers);
  ownAccount(books, body.account_id);
  const { title, currency, initial_price, stock, plan_type } = body;
  if (plan_type !== 'one_time') throw invalid('plan_type must be one_time here');
  if (typeof title !== 'string' || title === '' || title.length > 30) throw invalid('title is too long');
  if (typeof currency !== 'string' || !/^[a-z]{3}$/.test(currency)) throw invalid('currency is invalid');
  if (typeof initial_price !== 'number' || !(initial_price > 0)) throw invalid('initial_price must be a number');
  if (typeof stock !== 'number' || !Number.isInteger(stock)) throw invalid('stock must be an integer');
  const plan: FakePlan = {
    id: books.newId('plan'),
    account_id: books.accountId,
    title,
    currency,
    initial_price,
    stock,
    unlimited_stock: body.unlimited_stock === true,
    adaptive_pricing_enabled: body.adaptive_pricing_enabled !== false,
    metadata: metadataOf(body.metadata),
    created_at: books.now(),
  };
  books.plans.set(plan.id, plan);
  return plan;
}

/** Metadata within Whop's limits: 50 names of 100 characters with texts of 500. */
function metadataOf(given: unknown): Record<string, unknown> {
  if (given === undefined || given === null) return {};
  const entries = Object.entries(given as object);
  const isTooMuch =
    entries.length > 50 ||
    entries.some(([name, value]) => name.length > 100 || typeof value !== 'string' || value.length > 500);
  if (isTooMuch) throw invalid('metadata is too long');
  return Object.fromEntries(entries);
}

function changePlan(books: WhopBooks, id: string, body: Body): FakePlan {
  allow(Object.keys(body), ['stock', 'unlimited_stock', 'metadata']);
  const plan = planOf(books, id);
  if (typeof body.stock === 'number') plan.stock = body.stock;
  if (typeof body.unlimited_stock === 'boolean') plan.unlimited_stock = body.unlimited_stock;
  if (body.metadata !== undefined) plan.metadata = metadataOf(body.metadata);
  return plan;
}

function newConfiguration(books: WhopBooks, body: Body, pageUrl: string): FakeConfiguration {
  const isSetup = body.mode === 'setup';
  const own = isSetup ? ['payment_method_configuration'] : ['plan_id'];
  allow(Object.keys(body), ['account_id', 'mode', 'redirect_url', 'metadata', ...own]);
  ownAccount(books, body.account_id);
  if (!isSetup && body.mode !== 'payment') throw invalid('mode must be payment or setup');
  const plan = isSetup ? null : planOf(books, String(body.plan_id));
  if (typeof body.redirect_url !== 'string') throw invalid('redirect_url must be an address');
  const id = books.newId('ch');
  const configuration: FakeConfiguration = {
    id,
    account_id: books.accountId,
    mode: isSetup ? 'setup' : 'payment',
    plan: plan && { id: plan.id },
    metadata: metadataOf(body.metadata),
    redirect_url: body.redirect_url,
    purchase_url: `${pageUrl}/checkout/${plan?.id ?? 'setup'}?session=${id}`,
    created_at: books.now(),
  };
  books.configurations.set(id, configuration);
  return configuration;
}

function newCharge(books: WhopBooks, body: Body): FakePayment {
  allow(Object.keys(body), ['company_id', 'member_id', 'payment_method_id', 'plan_id', 'metadata']);
  ownAccount(books, body.company_id);
  const [memberId, methodId, planId] = ['member_id', 'payment_method_id', 'plan_id'].map((name) => {
    const given = body[name];
    if (typeof given !== 'string' || given === '') throw invalid(`${name} is missing`);
    return given;
  }) as [string, string, string];
  return chargeMember(books, { memberId, methodId, planId, metadata: metadataOf(body.metadata) });
}

function listSetups(books: WhopBooks, query: URLSearchParams) {
  allow(query.keys(), ['company_id', 'created_after', ...paging]);
  ownAccount(books, query.get('company_id'));
  const afterMs = Date.parse(query.get('created_after') ?? '1970-01-01');
  return pageOf(
    [...books.setups.values()].filter(({ created_at }) => Date.parse(created_at) > afterMs),
    query,
  );
}

function listMethods(books: WhopBooks, query: URLSearchParams) {
  allow(query.keys(), ['member_id', ...paging]);
  const kept = [...books.methods.values()].filter(({ id }) => {
    const held = books.held.get(id);
    return held?.isKept && held.memberId === query.get('member_id');
  });
  return pageOf(kept, query);
}

/** Deletes a configuration; answered without a body. */
function deleteConfiguration(books: WhopBooks, id: string): void {
  configurationOf(books, id);
  books.deleted.add(id);
}

/** A page of a list, newest first; the cursor is the place of its last object. */
function pageOf<T>(all: readonly T[], query: URLSearchParams) {
  const first = Number(query.get('first') ?? 20);
  if (!Number.isInteger(first) || first < 1 || first > 100) throw invalid('first must be 1 to 100');
  const from = query.has('after') ? Number(query.get('after')) + 1 : 0;
  const data = all.toReversed().slice(from, from + first);
  const has_next_page = from + first < all.length;
  return { data, page_info: { end_cursor: data.length === 0 ? null : String(from + data.length - 1), has_next_page } };
}

const paging = ['first', 'after'];

function listConfigurations(books: WhopBooks, query: URLSearchParams) {
  allow(query.keys(), ['account_id', 'created_after', ...paging]);
  ownAccount(books, query.get('account_id'));
  const afterMs = Number(query.get('created_after') ?? 0) * 1000;
  const listed = [...books.configurations.values()].filter(
    ({ id, created_at }) => !books.deleted.has(id) && Date.parse(created_at) > afterMs,
  );
  return pageOf(listed, query);
}

function listPayments(books: WhopBooks, query: URLSearchParams) {
  allow(query.keys(), ['company_id', 'checkout_configuration_ids[]', 'plan_ids[]', 'updated_after', ...paging]);
  ownAccount(books, query.get('company_id'));
  const [configurations, plans] = ['checkout_configuration_ids[]', 'plan_ids[]'].map((name) => query.getAll(name));
  const afterMs = Date.parse(query.get('updated_after') ?? '1970-01-01');
  for (const payment of books.payments.values()) nearer(books, payment);
  const listed = [...books.payments.values()].filter(
    ({ checkout_configuration_id, plan, updated_at }) =>
      (configurations!.length === 0 || configurations!.includes(checkout_configuration_id ?? '')) &&
      (plans!.length === 0 || plans!.includes(plan.id)) &&
      Date.parse(updated_at) > afterMs,
  );
  // A list does not say what was charged.
  return pageOf(
    listed.map(({ settlement_amount: _, ...payment }) => payment),
    query,
  );
}

function paymentOf(books: WhopBooks, id: string): FakePayment {
  const payment = books.payments.get(id);
  if (!payment) throw missing();
  return payment;
}

function shownPayment(books: WhopBooks, id: string) {
  return { ...paymentOf(books, id), refunds: books.refundsOf(id).toReversed() };
}

function refund(books: WhopBooks, id: string, body: Body, key: string | null) {
  allow(Object.keys(body), ['partial_amount']);
  const payment = paymentOf(books, id);
  const amount = body.partial_amount ?? payment.settlement_amount;
  if (typeof amount !== 'number') throw invalid('partial_amount must be a number');
  refundPayment(books, payment, amount, key);
  return shownPayment(books, id);
}

function listRefunds(books: WhopBooks, query: URLSearchParams) {
  allow(query.keys(), ['payment_id', 'company_id', 'created_after', ...paging]);
  const [paymentId, companyId] = [query.get('payment_id'), query.get('company_id')];
  if (companyId !== null) ownAccount(books, companyId);
  const afterMs = Date.parse(query.get('created_after') ?? '1970-01-01');
  for (const each of books.refunds.values()) nearerRefund(books, each);
  const listed = [...books.refunds.values()].filter(
    ({ payment, created_at }: FakeRefund) =>
      (paymentId === null || payment.id === paymentId) && Date.parse(created_at) > afterMs,
  );
  return pageOf(listed, query);
}
