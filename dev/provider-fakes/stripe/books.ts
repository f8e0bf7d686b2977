import { createHash, randomBytes } from 'node:crypto';
import type { SandboxBehaviour } from '../../../integrations/sandbox-gateway/card.ts';
import { type FakeCapture, type FakeReturn, moneyInUnits } from '../money.ts';

/** Currencies that Stripe counts in other units than the smallest one by ISO 4217. */
const digitsByCurrency = new Map(Object.entries({ mga: 0, isk: 2, ugx: 2 }));

/** Objects of one account at the fake, in the shapes of Stripe's interface; they last as long as its process. */
export type FakeObject = { id: string; object: string; created: number } & Record<string, unknown>;

export interface FakeMethod extends FakeObject {
  behaviour: SandboxBehaviour;
  /** Number of times that the behaviour still shows. */
  remaining: number;
  customer: string | null;
  card: { brand: string; last4: string; fingerprint: string };
}

export interface FakeIntent extends FakeObject {
  status: string;
  amount: number;
  amount_received: number;
  currency: string;
  customer: string | null;
  payment_method: string | null;
  metadata: Record<string, string>;
  last_payment_error: Record<string, string> | null;
  latest_charge: string | null;
  next_action: unknown;
  setup_future_usage: string | null;
  /** Look-ups until it is captured; null where nothing but an operator decides. */
  looksLeft: number | null;
}

export interface FakeSession extends FakeObject {
  status: 'open' | 'complete' | 'expired';
  payment_status: string;
  mode: string;
  url: string | null;
  expires_at: number;
  client_reference_id: string | null;
  customer: string | null;
  metadata: Record<string, string>;
  payment_intent: string | null;
  setup_intent: string | null;
  success_url: string;
  cancel_url: string | null;
  asked: {
    amount: number;
    currency: string;
    intentMetadata: Record<string, string>;
    keeps: boolean;
    description: string;
  };
}

export interface FakeDispute extends FakeObject {
  status: 'needs_response' | 'won' | 'lost' | 'warning_needs_response';
  amount: number;
  currency: string;
  payment_intent: string;
}

export interface FakeRefund extends FakeObject {
  status: string;
  amount: number;
  currency: string;
  payment_intent: string;
  failure_reason: string | null;
  metadata: Record<string, string>;
}

export interface FakeEvent extends FakeObject {
  type: string;
  data: { object: Record<string, unknown> };
}

/** A refusal in Stripe's own words. */
export class StripeRefusal extends Error {
  readonly status: number;
  readonly error: Record<string, unknown>;

  constructor(status: number, error: Record<string, unknown>) {
    super(String(error.code ?? error.type));
    this.status = status;
    this.error = error;
  }
}

export function invalid(code: string, param: string | null, message = code): StripeRefusal {
  return new StripeRefusal(400, { type: 'invalid_request_error', code, message, ...(param === null ? {} : { param }) });
}

export function missing(kind: string, id: string): StripeRefusal {
  return new StripeRefusal(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${kind}: '${id}'`,
    param: 'id',
  });
}

/** Objects of one account. Two keys of one account see the same ones; another account sees none of them. */
export class StripeBooks {
  readonly accountId: string;
  readonly customers = new Map<string, FakeObject>();
  readonly methods = new Map<string, FakeMethod>();
  readonly intents = new Map<string, FakeIntent>();
  readonly charges = new Map<string, FakeObject>();
  readonly sessions = new Map<string, FakeSession>();
  readonly setups = new Map<string, FakeObject>();
  readonly refunds = new Map<string, FakeRefund>();
  readonly disputes = new Map<string, FakeDispute>();
  readonly events = new Map<string, FakeEvent>();
  /** Answers by idempotency key. */
  readonly answers = new Map<string, { asked: string; status: number; body: unknown }>();
  /** Told of each event, in order. */
  onEvent: (event: FakeEvent) => void = () => undefined;

  constructor(secretKey: string) {
    this.accountId = `acct_${createHash('sha256').update(secretKey).digest('hex').slice(0, 16)}`;
  }

  /** A new object with an id of its kind. */
  newObject<T extends object>(prefix: string, object: string, members: T) {
    const id = `${prefix}_${randomBytes(12).toString('hex')}`;
    return { id, object, created: Math.floor(Date.now() / 1000), livemode: false, ...members };
  }

  /** Writes an event about an object as it is now. */
  tell(type: string, object: object): void {
    const data = { object: structuredClone(object) as Record<string, unknown> };
    const event = this.newObject('evt', 'event', { type, data, api_version: '2026-10-28.endive' });
    this.events.set(event.id, event);
    this.onEvent(event);
  }

  captures(): FakeCapture[] {
    return [...this.intents.values()]
      .filter(({ status }) => status === 'succeeded')
      .map(({ id, metadata, amount_received, currency }) => ({
        id,
        token: metadata.perennial_token ?? null,
        ...moneyInUnits(amount_received, currency, digitsByCurrency.get(currency)),
      }));
  }

  returned(): FakeReturn[] {
    const refunds = [...this.refunds.values()].filter(({ status }) => status === 'succeeded');
    const lost = [...this.disputes.values()].filter(({ status }) => status === 'lost');
    return [...refunds, ...lost.map((dispute) => ({ ...dispute, metadata: {} as FakeRefund['metadata'] }))].map(
      ({ id, metadata, amount, currency, payment_intent }) => ({
        id,
        token: metadata.perennial_token ?? null,
        captureId: payment_intent,
        ...moneyInUnits(amount, currency, digitsByCurrency.get(currency)),
      }),
    );
  }
}
