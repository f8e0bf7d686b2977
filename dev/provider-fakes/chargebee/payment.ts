import { type SandboxCard, sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import {
  type ChargebeeBooks,
  type FakeInvoice,
  type FakeOrder,
  type FakePage,
  type FakeSource,
  type FakeTransaction,
  invalid,
  missing,
  secondsNow,
} from './books.ts';

/** The page of an id. Throws as Chargebee refuses one that it does not have. */
export function pageOf(books: ChargebeeBooks, id: string): FakePage {
  const page = books.pages.get(id);
  if (!page) throw missing(id);
  return page;
}

function orderOf(books: ChargebeeBooks, page: FakePage): FakeOrder {
  const order = books.orders.get(page.id);
  if (!order) throw missing(page.id);
  return order;
}

/** Whether a page can still be paid; nobody can end it before its time. */
export function isPayable({ state, expires_at }: FakePage): boolean {
  return state !== 'succeeded' && expires_at > secondsNow();
}

/** A payer pays on a page with a test card of the sandbox gateway, or tries to; one attempt at a time. Says what became of it. */
export function payPage(books: ChargebeeBooks, pageId: string, cardNumber: string): string {
  const card = sandboxCardOf(cardNumber);
  if (!card) throw invalid('card[number]');
  const page = pageOf(books, pageId);
  if (!isPayable(page)) return 'closed';
  const waiting = underWay(books, pageId);
  if (waiting) return waiting.status;
  if (page.type === 'manage_payment_sources') return saveCard(books, orderOf(books, page).customerId, card);
  const payment = newPayment(books, orderOf(books, page), card);
  touch(page, 'requested');
  const decline = declineOf(card);
  if (decline) fail(books, payment, decline);
  else if (isDecidedLater(card)) books.tell('payment_initiated', payment, 'hosted_page');
  else capture(books, payment, page, takenOf(payment, card));
  return payment.status;
}

export function isDecidedLater({ behaviour, count }: SandboxCard): boolean {
  const waits = ['never_answers', 'requires_action', 'needs_authentication'].includes(behaviour);
  return waits || (behaviour === 'answers_late' && count > 0);
}

/** The processor's words for a declined card. */
export function declineOf({ behaviour, count }: SandboxCard): string | null {
  if (behaviour === 'declines') return 'card_declined';
  if (behaviour === 'declines_times' && count > 0) return 'insufficient_funds';
  return behaviour === 'declines_for_good' ? 'stolen_card' : null;
}

/** Taken in place of what was asked, as by fees or another currency. */
function takenOf({ amount, currency_code }: FakeTransaction, { behaviour }: SandboxCard) {
  if (behaviour === 'captures_less') return { amount: amount - 1 };
  if (behaviour === 'captures_more') return { amount: amount + 100 };
  return behaviour === 'captures_otherwise' ? { currency_code: currency_code === 'EUR' ? 'USD' : 'EUR' } : {};
}

/** Saves a card of a customer, or does not where its bank declines. */
function saveCard(books: ChargebeeBooks, customerId: string, card: SandboxCard): string {
  if (declineOf(card)) return 'failure';
  books.tellOfSource(newSource(books, customerId, card));
  return 'saved';
}

/** A card that is kept for a customer. */
export function newSource(books: ChargebeeBooks, customerId: string, card: SandboxCard): FakeSource {
  const source: FakeSource = {
    id: books.newId('pm'),
    object: 'payment_source',
    customer_id: customerId,
    type: 'card',
    status: 'valid',
    deleted: false,
    created_at: secondsNow(),
    card: { brand: 'visa', last4: '0002' },
  };
  books.sources.set(source.id, source);
  books.held.set(source.id, { ...card });
  return source;
}

export function newPayment(
  books: ChargebeeBooks,
  { customerId, amount, currency }: Pick<FakeOrder, 'customerId' | 'amount' | 'currency'>,
  card: SandboxCard,
): FakeTransaction {
  const payment: FakeTransaction = {
    id: books.newId('txn'),
    object: 'transaction',
    type: 'payment',
    customer_id: customerId,
    status: 'in_progress',
    amount,
    currency_code: currency,
    date: secondsNow(),
    amount_unused: 0,
    linked_invoices: [],
    linked_refunds: [],
  };
  books.transactions.set(payment.id, payment);
  books.cards.set(payment.id, { ...card });
  return payment;
}

function touch(page: FakePage, state: FakePage['state']): void {
  page.state = state;
  page.updated_at = secondsNow();
}

/** Takes the money of a payment of a page, of which it makes an invoice that is paid by it. */
export function capture(
  books: ChargebeeBooks,
  payment: FakeTransaction,
  page: FakePage,
  taken: { amount?: number; currency_code?: string } = {},
): void {
  const { amount: total } = orderOf(books, page);
  Object.assign(payment, { status: 'success', ...taken });
  const card = books.cards.get(payment.id);
  if (card) newSource(books, payment.customer_id, card);
  const applied = Math.min(total, payment.amount);
  const invoice = {
    id: books.newId('inv'),
    object: 'invoice' as const,
    customer_id: payment.customer_id,
    currency_code: payment.currency_code,
    status: applied === total ? ('paid' as const) : ('payment_due' as const),
    total,
    linked_payments: [{ txn_id: payment.id, applied_amount: applied, txn_status: 'success' as const }],
  };
  books.invoices.set(invoice.id, invoice);
  payment.linked_invoices = [{ invoice_id: invoice.id, applied_amount: applied }];
  payment.amount_unused = payment.amount - applied;
  page.content = structuredClone({ customer: books.customers.get(payment.customer_id)!, invoice });
  touch(page, 'succeeded');
  books.tell('payment_succeeded', payment, 'hosted_page');
}

/** Money for a page from a card that succeeds, beside its payment or after its end; no invoice takes it. Answers the payment. */
export function captureBeside(books: ChargebeeBooks, pageId: string): FakeTransaction {
  const payment = newPayment(books, orderOf(books, pageOf(books, pageId)), { behaviour: 'succeeds', count: 0 });
  Object.assign(payment, { status: 'success', amount_unused: payment.amount });
  books.tell('payment_succeeded', payment);
  return payment;
}

export function fail(
  books: ChargebeeBooks,
  payment: FakeTransaction,
  error_code: string,
  source: 'api' | 'hosted_page' = 'hosted_page',
): void {
  Object.assign(payment, { status: 'failure', error_code, error_text: 'The card was declined' });
  books.tell('payment_failed', payment, source);
}

/** The attempt on a page that is not decided; null when there is none. */
export function underWay(books: ChargebeeBooks, pageId: string): FakeTransaction | null {
  const { customerId } = orderOf(books, pageOf(books, pageId));
  return books.paymentsOf(customerId).find(({ status }) => status === 'in_progress') ?? null;
}

/** The decision of a payer or bank that was waited for. False when nothing waited. */
export function decide(books: ChargebeeBooks, pageId: string, how: 'capture' | 'fail'): boolean {
  const payment = underWay(books, pageId);
  if (!payment) return false;
  if (how === 'capture') capture(books, payment, pageOf(books, pageId));
  else fail(books, payment, 'authentication_failed');
  return true;
}

/** A late payment comes one step nearer to its end with each look at it. */
export function nearer(books: ChargebeeBooks, payment: FakeTransaction): void {
  const card = books.cards.get(payment.id);
  if (payment.status !== 'in_progress' || card?.behaviour !== 'answers_late') return;
  card.count -= 1;
  if (card.count > 0) return;
  const charged = books.invoices.get(payment.linked_invoices?.[0]?.invoice_id ?? '');
  if (charged) settleCharge(books, payment, charged);
  const page = charged
    ? undefined
    : [...books.pages.values()].find(({ id }) => books.orders.get(id)?.customerId === payment.customer_id);
  if (page) capture(books, payment, page);
}

/** Takes the money of a charge, which pays its invoice. */
export function settleCharge(books: ChargebeeBooks, payment: FakeTransaction, invoice: FakeInvoice): void {
  payment.status = 'success';
  invoice.status = 'paid';
  for (const linked of invoice.linked_payments) if (linked.txn_id === payment.id) linked.txn_status = 'success';
  books.tell('payment_succeeded', payment);
}

/** The bank takes back, days later, what it had paid; the invoice is unpaid again. */
export function failLate(books: ChargebeeBooks, paymentId: string): void {
  const payment = books.transactions.get(paymentId);
  if (!payment) throw missing(paymentId);
  Object.assign(payment, { status: 'late_failure', error_code: 'account_closed' });
  const invoice = books.invoices.get(payment.linked_invoices?.[0]?.invoice_id ?? '');
  const linked = invoice?.linked_payments.find(({ txn_id }) => txn_id === paymentId);
  if (invoice && linked) {
    linked.txn_status = 'late_failure';
    invoice.status = 'not_paid';
    books.tell('invoice_updated', payment);
  }
  books.tell('payment_failed', payment);
}
