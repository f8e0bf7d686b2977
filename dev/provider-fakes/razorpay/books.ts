import { createHash, randomBytes } from 'node:crypto';
import type { SandboxBehaviour } from '../../../integrations/sandbox-gateway/card.ts';
import { type FakeCapture, type FakeReturn, moneyInUnits } from '../money.ts';

/** Objects of one account at the fake, in the shapes of Razorpay's interface; they last as long as its process. */
export type Notes = Record<string, string> | [];

export interface FakeLink {
  id: string;
  status: 'created' | 'expired' | 'cancelled' | 'paid';
  amount: number;
  amount_paid: number;
  currency: string;
  description: string;
  reference_id: string;
  short_url: string;
  created_at: number;
  expire_by: number;
  expired_at: number;
  cancelled_at: number;
  callback_url: string;
  /** The one way of paying that the page offers. */
  method: 'card' | 'upi';
  notes: Notes;
  /** Made when the page is opened for the first time. */
  order_id?: string;
}

export interface FakeCustomer {
  id: string;
  name: string;
  email: string;
  contact: string;
}

/** A mandate, confirmed or not. */
export interface FakeToken {
  id: string;
  entity: 'token';
  customer_id: string;
  method: 'card' | 'upi';
  card: { last4: string; network: string } | null;
  recurring_details: { status: 'initiated' | 'confirmed' | 'rejected' | 'cancelled'; failure_reason: string | null };
  max_amount: number;
  behaviour: SandboxBehaviour;
  remaining: number;
}

/** A registration link, which is an invoice. */
export interface FakeRegistration {
  id: string;
  entity: 'invoice';
  status: 'issued' | 'paid' | 'cancelled' | 'expired';
  amount: number;
  currency: string;
  description: string;
  receipt: string;
  short_url: string;
  expire_by: number;
  customer_id: string;
  order_id: string;
  notes: Notes;
  method: 'card' | 'upi';
  max_amount: number;
}

export interface FakeOrder {
  id: string;
  entity: 'order';
  amount: number;
  currency: string;
  receipt: string | null;
  notes: Notes;
}

export interface FakePayment {
  id: string;
  entity: 'payment';
  status: 'created' | 'authorized' | 'captured' | 'refunded' | 'failed';
  amount: number;
  amount_refunded: number;
  currency: string;
  captured: boolean;
  order_id: string;
  created_at: number;
  description: string;
  notes: Notes;
  error_code: string | null;
  error_reason: string | null;
  token_id: string | null;
  customer_id: string | null;
  invoice_id: string | null;
  behaviour: SandboxBehaviour;
  /** Number of times that the behaviour still shows. */
  remaining: number;
}

export interface FakeRefund {
  id: string;
  entity: 'refund';
  status: 'pending' | 'processed' | 'failed';
  amount: number;
  currency: string;
  payment_id: string;
  receipt: string | null;
  created_at: number;
  notes: Notes;
  /** Look-ups until it is processed; null where nothing but an operator decides. */
  looksLeft: number | null;
}

/** An event and the id by which its notifications are told apart. */
export interface FakeEvent {
  id: string;
  body: {
    entity: 'event';
    account_id: string;
    event: string;
    contains: string[];
    payload: Record<string, { entity: object }>;
    created_at: number;
  };
}

/** A refusal in Razorpay's own words. */
export class RazorpayRefusal extends Error {
  readonly status: number;
  readonly error: Record<string, unknown>;

  constructor(description: string, { status = 400, field = null }: { status?: number; field?: string | null } = {}) {
    super(description);
    this.status = status;
    const reason = field === null ? 'NA' : 'input_validation_failed';
    this.error = { code: 'BAD_REQUEST_ERROR', description, source: 'business', step: 'NA', reason, field };
  }
}

export function unknownId(): RazorpayRefusal {
  return new RazorpayRefusal('The id provided does not exist');
}

/** Objects of one account. A key belongs to one account, which sees nothing of another. */
export class RazorpayBooks {
  readonly accountId: string;
  readonly links = new Map<string, FakeLink>();
  readonly registrations = new Map<string, FakeRegistration>();
  readonly customers = new Map<string, FakeCustomer>();
  readonly tokens = new Map<string, FakeToken>();
  readonly orders = new Map<string, FakeOrder>();
  readonly payments = new Map<string, FakePayment>();
  readonly refunds = new Map<string, FakeRefund>();
  readonly events: FakeEvent[] = [];
  /** Refunds by idempotency key. */
  readonly answers = new Map<string, { asked: string; body: unknown }>();
  /** Told of each event, in order. */
  onEvent: (event: FakeEvent) => void = () => undefined;

  constructor(keyId: string) {
    this.accountId = `acc_${createHash('sha256').update(keyId).digest('hex').slice(0, 14)}`;
  }

  newId(prefix: string): string {
    return `${prefix}_${randomBytes(7).toString('hex')}`;
  }

  /** Writes an event about objects as they are now, the one that it is about first. */
  tell(type: string, objects: Readonly<Record<string, object>>): void {
    const payload = Object.fromEntries(
      Object.entries(objects).map(([kind, object]) => [kind, { entity: structuredClone(shown(object)) }]),
    );
    const event: FakeEvent = {
      id: randomBytes(7).toString('hex'),
      body: {
        entity: 'event',
        account_id: this.accountId,
        event: type,
        contains: Object.keys(objects),
        payload,
        created_at: secondsNow(),
      },
    };
    this.events.push(event);
    this.onEvent(event);
  }

  paymentsOf({ order_id }: Pick<FakeLink, 'order_id'>): FakePayment[] {
    return [...this.payments.values()].filter((payment) => order_id !== undefined && payment.order_id === order_id);
  }

  refundsOf(paymentId: string): FakeRefund[] {
    return [...this.refunds.values()].filter(({ payment_id }) => payment_id === paymentId);
  }

  /** The rupee by which a card was saved is no order's money, once it went back. */
  private isRupeeGivenBack({ notes, status }: FakePayment): boolean {
    return !Array.isArray(notes) && notes.perennial_mode === 'setup' && status === 'refunded';
  }

  captures(): FakeCapture[] {
    return [...this.payments.values()]
      .filter((payment) => payment.captured && !this.isRupeeGivenBack(payment))
      .map(({ id, notes, amount, currency }) => ({ id, token: tokenOf(notes), ...moneyInUnits(amount, currency) }));
  }

  returned(): FakeReturn[] {
    return [...this.refunds.values()]
      .filter(({ status, payment_id }) => {
        const payment = this.payments.get(payment_id);
        return status === 'processed' && !(payment && this.isRupeeGivenBack(payment));
      })
      .map(({ id, notes, amount, currency, payment_id: captureId }) => ({
        id,
        token: tokenOf(notes),
        captureId,
        ...moneyInUnits(amount, currency),
      }));
  }
}

function tokenOf(notes: Notes): string | null {
  return Array.isArray(notes) ? null : (notes.perennial_token ?? null);
}

/** An object without what only the fake knows of it. */
export function shown(object: object): object {
  const { behaviour: _, remaining: __, looksLeft: ___, method: ____, ...members } = object as Record<string, unknown>;
  return members;
}

export function secondsNow(): number {
  return Math.floor(Date.now() / 1000);
}
