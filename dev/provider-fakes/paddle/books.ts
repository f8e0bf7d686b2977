import { randomBytes, randomUUID } from 'node:crypto';
import type { SandboxCard } from '../../../integrations/sandbox-gateway/card.ts';
import { type FakeCapture, type FakeReturn, moneyInUnits } from '../money.ts';

export interface FakeAttempt {
  payment_attempt_id: string;
  amount: string;
  status: 'created' | 'action_required' | 'pending_no_action_required' | 'captured' | 'error';
  error_code: string | null;
  created_at: string;
  captured_at: string | null;
}

export interface FakeTransaction {
  id: string;
  status: 'draft' | 'ready' | 'paid' | 'completed' | 'canceled';
  origin: 'api';
  collection_mode: 'automatic';
  currency_code: string;
  /** Null until its payer has begun. */
  customer_id: string | null;
  custom_data: Record<string, unknown> | null;
  checkout: { url: string };
  created_at: string;
  updated_at: string;
  /** The newest first. */
  payments: FakeAttempt[];
  details: { totals: { grand_total: string; currency_code: string }; line_items: { id: string; quantity: number }[] };
}

export interface FakeAdjustment {
  id: string;
  action: 'refund' | 'chargeback';
  transaction_id: string;
  reason: string;
  currency_code: string;
  status: 'pending_approval' | 'approved' | 'rejected' | 'reversed';
  totals: { total: string; currency_code: string };
  items: { item_id: string; type: 'partial'; amount: string }[];
  created_at: string;
  updated_at: string;
}

export interface FakeEvent {
  event_id: string;
  event_type: string;
  occurred_at: string;
  data: FakeTransaction | FakeAdjustment;
}

/** A refusal in Paddle's own words. */
export class PaddleRefusal extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(status: number, code: string, fields: string[] = []) {
    super(code);
    this.status = status;
    const errors = fields.map((field) => ({ field, message: 'is not valid' }));
    this.body = {
      error: { type: 'request_error', code, detail: code, ...(errors.length === 0 ? {} : { errors }) },
      meta: { request_id: randomUUID() },
    };
  }
}

export function invalid(...fields: string[]): PaddleRefusal {
  return new PaddleRefusal(400, 'bad_request', fields);
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz012345';
let lastMs = 0;

/** An id in Paddle's form, which sorts by the time at which it was made. */
export function paddleId(prefix: string): string {
  lastMs = Math.max(Date.now(), lastMs + 1);
  const random = [...randomBytes(15)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return `${prefix}_01${lastMs.toString(36).padStart(9, '0')}${random}`;
}

/** Objects of one account at the fake, in the shapes of Paddle's interface; they last as long as its process. */
export class PaddleBooks {
  readonly transactions = new Map<string, FakeTransaction>();
  readonly adjustments = new Map<string, FakeAdjustment>();
  readonly events: FakeEvent[] = [];
  /** The card that paid each transaction, with the times its behaviour still shows. */
  readonly cards = new Map<string, SandboxCard>();
  /** Hosts that a page may be on; null for all, as in Paddle's sandbox. */
  approvedHosts: readonly string[] | null = null;
  /** Told of each event, in order. */
  onEvent: (event: FakeEvent) => void = () => undefined;

  /** Writes an event about an object as it is now. */
  tell(type: string, object: FakeTransaction | FakeAdjustment): FakeEvent {
    object.updated_at = new Date().toISOString();
    const event: FakeEvent = {
      event_id: paddleId('evt'),
      event_type: type,
      occurred_at: object.updated_at,
      data: structuredClone(object),
    };
    this.events.push(event);
    this.onEvent(event);
    return event;
  }

  refundsOf(transactionId: string): FakeAdjustment[] {
    return [...this.adjustments.values()].filter(
      ({ action, transaction_id }) => action === 'refund' && transaction_id === transactionId,
    );
  }

  captures(): FakeCapture[] {
    return [...this.transactions.values()].flatMap(({ id, custom_data, payments, currency_code }) =>
      payments
        .filter(({ status }) => status === 'captured')
        .map(({ amount }) => ({
          id,
          token: typeof custom_data?.perennial_token === 'string' ? custom_data.perennial_token : null,
          ...moneyInUnits(amount, currency_code),
        })),
    );
  }

  returned(): FakeReturn[] {
    return [...this.adjustments.values()]
      .filter(({ action, status }) => action === 'refund' && status === 'approved')
      .map(({ id, reason, transaction_id: captureId, totals }) => ({
        id,
        token: /pn_\w+$/.exec(reason)?.[0] ?? null,
        captureId,
        ...moneyInUnits(totals.total, totals.currency_code),
      }));
  }
}
