import { LostAnswer } from '../shell.ts';
import {
  type ChargebeeBooks,
  ChargebeeRefusal,
  type FakeInvoice,
  type FakePage,
  type FakeSource,
  invalid,
  missing,
  secondsNow,
} from './books.ts';
import { allow, amountIn, textIn } from './parameters.ts';
import { declineOf, fail, isDecidedLater, nearer, newPayment, settleCharge } from './payment.ts';

const pageLifeSeconds = 3 * 3600;

/** A page on which a customer saves a card. */
export function openSourcesPage(books: ChargebeeBooks, given: URLSearchParams, pageUrl: string): FakePage {
  allow(given, ['customer[id]', 'redirect_url']);
  const customerId = textIn(given, 'customer[id]', 50);
  if (!books.customers.has(customerId)) throw missing(customerId);
  const redirectUrl = textIn(given, 'redirect_url', 250);
  const id = books.newId('hp');
  const now = secondsNow();
  const page: FakePage = {
    id,
    object: 'hosted_page',
    type: 'manage_payment_sources',
    url: `${pageUrl}/pages/v3/${id}`,
    state: 'created',
    embed: false,
    created_at: now,
    updated_at: now,
    expires_at: now + pageLifeSeconds,
  };
  books.pages.set(id, page);
  const nothing = { amount: 0, currency: 'USD', description: 'Save a card' };
  books.orders.set(id, { customerId, redirectUrl, cancelUrl: redirectUrl, ...nothing });
  return page;
}

/** An invoice that nobody collects. */
export function newInvoice(books: ChargebeeBooks, given: URLSearchParams): FakeInvoice {
  allow(given, [
    ...['customer_id', 'currency_code', 'auto_collection', 'invoice_note'],
    ...['charges[amount][0]', 'charges[description][0]', 'charges[taxable][0]'],
  ]);
  const customer_id = textIn(given, 'customer_id', 50);
  if (!books.customers.has(customer_id)) throw missing(customer_id);
  if (given.get('auto_collection') !== 'off') throw invalid('auto_collection');
  if (given.get('charges[taxable][0]') !== 'false') throw invalid('charges[taxable][0]');
  textIn(given, 'charges[description][0]', 250);
  const invoice: FakeInvoice = {
    id: books.newId('inv'),
    object: 'invoice',
    customer_id,
    currency_code: textIn(given, 'currency_code', 3),
    status: 'payment_due',
    total: amountIn(given, 'charges[amount][0]'),
    notes: [{ note: textIn(given, 'invoice_note', 2000) }],
    linked_payments: [],
  };
  books.invoices.set(invoice.id, invoice);
  return invoice;
}

function invoiceOf(books: ChargebeeBooks, id: string): FakeInvoice {
  const invoice = books.invoices.get(id);
  if (!invoice) throw missing(id);
  return invoice;
}

/** An invoice as a reading shows it. */
export function shownInvoice(books: ChargebeeBooks, id: string): FakeInvoice {
  const invoice = invoiceOf(books, id);
  return books.lagging.has(id) ? { ...invoice, linked_payments: [] } : invoice;
}

export function invoicesOf(books: ChargebeeBooks, given: URLSearchParams): FakeInvoice[] {
  allow(given, ['customer_id[is]', 'limit', 'offset']);
  return [...books.invoices.values()].filter(({ customer_id }) => customer_id === given.get('customer_id[is]'));
}

export function sourcesOf(books: ChargebeeBooks, given: URLSearchParams): FakeSource[] {
  allow(given, ['customer_id[is]', 'type[is]', 'limit', 'offset']);
  return [...books.sources.values()].filter(
    ({ customer_id, deleted }) => customer_id === given.get('customer_id[is]') && !deleted,
  );
}

/** Collects an invoice from a card without its payer; refused where the card is declined. */
export function collect(books: ChargebeeBooks, id: string, given: URLSearchParams) {
  allow(given, ['payment_source_id', 'amount']);
  const invoice = invoiceOf(books, id);
  const source = books.sources.get(textIn(given, 'payment_source_id', 40));
  const card = books.held.get(source?.id ?? '');
  if (card?.behaviour === 'unreachable_times' && card.count > 0) {
    card.count -= 1;
    throw new LostAnswer();
  }
  if (!source || !card || source.deleted || source.customer_id !== invoice.customer_id) throw missing('payment source');
  if (invoice.status !== 'payment_due' && invoice.status !== 'not_paid') throw invalidState();
  if (invoice.linked_payments.some(({ txn_status }) => txn_status === 'in_progress')) throw invalidState();
  if (amountIn(given, 'amount') !== invoice.total) throw invalid('amount');
  const { customer_id: customerId, total: amount, currency_code: currency } = invoice;
  const payment = newPayment(books, { customerId, amount, currency }, { ...card });
  payment.linked_invoices = [{ invoice_id: id, applied_amount: amount }];
  const linked = { txn_id: payment.id, applied_amount: amount, txn_status: payment.status };
  invoice.linked_payments.push(linked);
  const decline = card.behaviour === 'needs_authentication' ? 'authentication_required' : declineOf(card);
  if (card.behaviour === 'declines_times' && card.count > 0) card.count -= 1;
  if (decline !== null) {
    linked.txn_status = 'failure';
    invoice.status = 'not_paid';
    fail(books, payment, decline, 'api');
    throw new ChargebeeRefusal(400, 'payment', 'payment_processing_failed');
  }
  if (isDecidedLater(card)) books.tell('payment_initiated', payment);
  else settleCharge(books, payment, invoice);
  if (card.behaviour === 'answers_twice') books.tell('payment_succeeded', payment);
  const answer = { invoice, transaction: payment };
  if (card.behaviour === 'loses_answer') throw new LostAnswer(answer);
  return answer;
}

/** The bank's decision of a charge that was waited for. False when it does not wait. */
export function decideCharge(books: ChargebeeBooks, invoiceId: string): boolean {
  const invoice = invoiceOf(books, invoiceId);
  const waiting = invoice.linked_payments.find(({ txn_status }) => txn_status === 'in_progress');
  const payment = books.transactions.get(waiting?.txn_id ?? '');
  if (!payment) return false;
  nearer(books, payment);
  settleCharge(books, payment, invoice);
  return true;
}

export function voidInvoice(books: ChargebeeBooks, id: string, given: URLSearchParams): FakeInvoice {
  allow(given, ['comment']);
  const invoice = invoiceOf(books, id);
  const isHeld = invoice.linked_payments.some(({ txn_status }) => txn_status !== 'failure');
  if (isHeld || invoice.status === 'voided') throw invalidState();
  invoice.status = 'voided';
  return invoice;
}

function invalidState(): ChargebeeRefusal {
  return new ChargebeeRefusal(400, 'invalid_request', 'invalid_state_for_request');
}
