import { randomUUID } from 'node:crypto';
import type { SandboxCard } from '../../../integrations/sandbox-gateway/card.ts';
import { type FakeCapture, type FakeReturn, moneyInUnits } from '../money.ts';

export type FakeStatus = 'in_progress' | 'success' | 'failure' | 'late_failure';

export interface FakeCustomer {
  id: string;
  object: 'customer';
  first_name: string | null;
  email: string | null;
  auto_collection: 'on' | 'off';
  meta_data: unknown;
  created_at: number;
}

export interface FakePage {
  id: string;
  object: 'hosted_page';
  type: 'checkout_one_time' | 'manage_payment_sources';
  url: string;
  state: 'created' | 'requested' | 'succeeded' | 'cancelled';
  embed: false;
  pass_thru_content?: string;
  created_at: number;
  updated_at: number;
  expires_at: number;
  content?: { customer: FakeCustomer; invoice: FakeInvoice };
}

/** Amount and currency of a page, which Chargebee does not show. */
export interface FakeOrder {
  customerId: string;
  amount: number;
  currency: string;
  description: string;
  redirectUrl: string;
  cancelUrl: string;
}

export interface FakeInvoice {
  id: string;
  object: 'invoice';
  customer_id: string;
  currency_code: string;
  status: 'paid' | 'payment_due' | 'not_paid' | 'voided';
  total: number;
  notes?: { note: string }[];
  linked_payments: { txn_id: string; applied_amount: number; txn_status: FakeStatus }[];
}

/** A card that is kept for a customer. */
export interface FakeSource {
  id: string;
  object: 'payment_source';
  customer_id: string;
  type: 'card';
  status: 'valid';
  deleted: boolean;
  created_at: number;
  card: { brand: string; last4: string };
}

export interface FakeTransaction {
  id: string;
  object: 'transaction';
  type: 'payment' | 'refund';
  customer_id: string;
  status: FakeStatus;
  amount: number;
  currency_code: string;
  date: number;
  amount_unused?: number;
  error_code?: string;
  error_text?: string;
  linked_invoices?: { invoice_id: string; applied_amount: number }[];
  linked_refunds?: { txn_id: string; txn_status: FakeStatus; txn_date: number; txn_amount: number }[];
  linked_payments?: { id: string; status: FakeStatus; amount: number; date: number }[];
}

export interface FakeComment {
  id: string;
  object: 'comment';
  entity_type: string;
  entity_id: string;
  notes: string;
  added_by: string;
  created_at: number;
  type: 'user';
}

export interface FakeEvent {
  id: string;
  object: 'event';
  occurred_at: number;
  source: 'api' | 'hosted_page';
  event_type: string;
  api_version: 'v2';
  content: Record<string, unknown>;
}

/** A refusal in Chargebee's own words. */
export class ChargebeeRefusal extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(
    status: number,
    type: string,
    code: string,
    { param, message = code }: { param?: string; message?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.body = {
      message,
      type,
      api_error_code: code,
      ...(param === undefined ? {} : { param }),
      http_status_code: status,
    };
  }
}

export function invalid(param: string, code = 'param_wrong_value'): ChargebeeRefusal {
  return new ChargebeeRefusal(400, 'invalid_request', code, { param });
}

export function missing(id: string): ChargebeeRefusal {
  return new ChargebeeRefusal(404, 'invalid_request', 'resource_not_found', { message: `${id} not found` });
}

export function secondsNow(): number {
  return Math.floor(Date.now() / 1000);
}

/** Objects of one site at the fake, in the shapes of Chargebee's interface; they last as long as its process. */
export class ChargebeeBooks {
  readonly customers = new Map<string, FakeCustomer>();
  readonly pages = new Map<string, FakePage>();
  readonly orders = new Map<string, FakeOrder>();
  readonly invoices = new Map<string, FakeInvoice>();
  /** Invoices whose payments are not listed yet, as where a reading lags behind. */
  readonly lagging = new Set<string>();
  readonly transactions = new Map<string, FakeTransaction>();
  readonly sources = new Map<string, FakeSource>();
  /** The card behind each source, with the times its behaviour still shows. */
  readonly held = new Map<string, SandboxCard>();
  readonly comments = new Map<string, FakeComment>();
  readonly events: FakeEvent[] = [];
  /** The card of each payment, with the times its behaviour still shows. */
  readonly cards = new Map<string, SandboxCard>();
  /** Idempotency keys, each with its request and the answer to it. */
  readonly keys = new Map<string, { request: string; status: number; answer: unknown; at: number }>();
  /** Idempotency key of each refund, which Chargebee does not show. */
  readonly refundKeys = new Map<string, string | null>();
  /** Number of readings by page. */
  readonly looks = new Map<string, number>();
  /** Calls because of which Chargebee would have sent e-mails to payers. */
  readonly mailed: string[] = [];
  /** Told of each event, in order. */
  onEvent: (event: FakeEvent) => void = () => undefined;

  newId(kind: string): string {
    return `${kind}_${randomUUID().replaceAll('-', '').slice(0, 20)}`;
  }

  /** Writes an event about a transaction as it is now, with the customer and invoice it belongs to. */
  tell(event_type: string, transaction: FakeTransaction, source: FakeEvent['source'] = 'api'): void {
    const invoice = this.invoices.get(transaction.linked_invoices?.[0]?.invoice_id ?? '');
    const customer = this.customers.get(transaction.customer_id);
    const content = event_type.startsWith('transaction_')
      ? { transaction }
      : event_type.startsWith('invoice_')
        ? { invoice }
        : { transaction, customer, ...(invoice ? { invoice } : {}) };
    this.write(event_type, content, source);
  }

  /** Writes an event about a card that is kept from now on. */
  tellOfSource(payment_source: FakeSource): void {
    const customer = this.customers.get(payment_source.customer_id);
    this.write('payment_source_added', { customer, payment_source }, 'hosted_page');
  }

  private write(event_type: string, content: object, source: FakeEvent['source']): void {
    const event: FakeEvent = {
      id: this.newId('ev'),
      object: 'event',
      occurred_at: secondsNow(),
      source,
      event_type,
      api_version: 'v2',
      content: structuredClone(content) as Record<string, unknown>,
    };
    this.events.push(event);
    this.onEvent(event);
  }

  /** Payments of a customer, the first first. */
  paymentsOf(customerId: string): FakeTransaction[] {
    return [...this.transactions.values()].filter((each) => each.customer_id === customerId && each.type === 'payment');
  }

  /** Our name of the charge that an invoice is; null for that of a page. */
  private chargeOf(invoiceId: string | undefined): string | null {
    const note = this.invoices.get(invoiceId ?? '')?.notes?.[0]?.note;
    return note === undefined ? null : String(JSON.parse(note).perennial_token);
  }

  /** The customer that a payment is of has our name as its id. */
  captures(): FakeCapture[] {
    return [...this.transactions.values()]
      .filter(({ type, status }) => type === 'payment' && (status === 'success' || status === 'late_failure'))
      .map(({ id, customer_id, amount, currency_code, linked_invoices }) => ({
        id,
        token: this.chargeOf(linked_invoices?.[0]?.invoice_id) ?? customer_id,
        ...moneyInUnits(amount, currency_code),
      }));
  }

  /** Refunds of all payments, and payments that their bank took back. */
  returned(): FakeReturn[] {
    return [...this.transactions.values()].flatMap(({ id, type, status, amount, currency_code, linked_payments }) => {
      const money = moneyInUnits(amount, currency_code);
      if (type === 'payment')
        return status === 'late_failure' ? [{ id: `${id}/late_failure`, token: null, captureId: id, ...money }] : [];
      const captureId = linked_payments?.[0]?.id ?? '';
      return status === 'success' ? [{ id, token: this.refundKeys.get(id) ?? null, captureId, ...money }] : [];
    });
  }

  /** Chargebee forgets all idempotency keys, as it does each after half an hour. */
  forgetKeys(): void {
    this.keys.clear();
  }
}
