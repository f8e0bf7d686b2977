import { randomBytes } from 'node:crypto';
import type { SandboxCard } from '../../../integrations/sandbox-gateway/card.ts';
import { type FakeCapture, type FakeReturn, wholeMoney } from '../money.ts';

export interface FakePlan {
  id: string;
  account_id: string;
  title: string;
  currency: string;
  initial_price: number;
  stock: number;
  unlimited_stock: boolean;
  adaptive_pricing_enabled: boolean;
  metadata: Record<string, unknown>;
  created_at: string;
}

export interface FakeConfiguration {
  id: string;
  account_id: string;
  mode: 'payment' | 'setup';
  /** Null in setup mode. */
  plan: { id: string } | null;
  metadata: Record<string, unknown>;
  redirect_url: string;
  purchase_url: string;
  created_at: string;
}

/** A card that was used once, of one payer. */
export interface FakeMethod {
  id: string;
  card: { brand: string; last4: string };
}

export interface FakeSetup {
  id: string;
  status: 'succeeded' | 'processing' | 'canceled';
  checkout_configuration: { id: string };
  company: { id: string };
  created_at: string;
  error_message: string | null;
  member: { id: string } | null;
  payment_method: FakeMethod | null;
  metadata: Record<string, unknown>;
}

/** Facts of a card that Whop itself does not show. */
export interface HeldCard {
  card: SandboxCard;
  memberId: string;
  /** True once Whop lists it, so that it can be charged without its payer. */
  isKept: boolean;
}

export interface FakePayment {
  id: string;
  status: 'open' | 'paid' | 'pending' | 'draft';
  substatus: string;
  checkout_configuration_id: string | null;
  plan: { id: string };
  currency: string;
  settlement_currency: string;
  settlement_amount: number;
  created_at: string;
  updated_at: string;
  paid_at: string | null;
  next_payment_attempt: string | null;
  failure_message: string | null;
  metadata: Record<string, unknown>;
  member: { id: string };
  payment_method: FakeMethod;
}

export interface FakeRefund {
  id: string;
  status: 'pending' | 'succeeded' | 'failed';
  amount: number;
  currency: string;
  created_at: string;
  payment: { id: string };
}

export interface FakeEvent {
  id: string;
  type: string;
  api_version: 'v1';
  timestamp: string;
  company_id: string;
  data: object;
}

/** A refusal in Whop's own words. */
export class WhopRefusal extends Error {
  readonly status: number;
  readonly body: { error: { type: string; code: string; message: string } };

  constructor(status: number, code: string, message: string = code) {
    super(message);
    this.status = status;
    this.body = { error: { type: 'invalid_request_error', code, message } };
  }
}

export function invalid(message: string): WhopRefusal {
  return new WhopRefusal(400, 'parameter_invalid', message);
}

export function missing(): WhopRefusal {
  return new WhopRefusal(404, 'not_found');
}

/** Objects of one account at the fake, in the shapes of Whop's interface; they last as long as its process. */
export class WhopBooks {
  readonly accountId: string;
  readonly plans = new Map<string, FakePlan>();
  readonly configurations = new Map<string, FakeConfiguration>();
  /** Configurations that were deleted, by id. */
  readonly deleted = new Set<string>();
  readonly payments = new Map<string, FakePayment>();
  readonly refunds = new Map<string, FakeRefund>();
  readonly setups = new Map<string, FakeSetup>();
  readonly methods = new Map<string, FakeMethod>();
  /** Card behind each method, by its id. */
  readonly held = new Map<string, HeldCard>();
  /** True where the card of a payment on a page is kept. */
  keepsCards = true;
  readonly events: FakeEvent[] = [];
  /** The card of each payment, with the times its behaviour still shows. */
  readonly cards = new Map<string, SandboxCard>();
  /** The idempotency key that each refund was asked for by; null for those of the dashboard. */
  readonly refundKeys = new Map<string, string | null>();
  /** Answers by idempotency key: those that succeeded. */
  readonly answers = new Map<string, { asked: string; body: unknown }>();
  /** Told of each event, in order. */
  onEvent: (event: FakeEvent) => void = () => undefined;
  private lastMs = 0;

  constructor(accountId: string) {
    this.accountId = accountId;
  }

  newId(prefix: string): string {
    return `${prefix}_${randomBytes(8).toString('hex')}`;
  }

  /** An instant later than every one before, so that what happens in one millisecond has an order. */
  now(): string {
    this.lastMs = Math.max(Date.now(), this.lastMs + 1);
    return new Date(this.lastMs).toISOString();
  }

  /** Writes an event about an object as it is now. */
  tell(type: string, object: FakePayment | FakeRefund | FakeSetup): void {
    const plan = 'plan' in object ? this.plans.get(object.plan.id) : undefined;
    const data = plan ? { ...object, plan: { id: plan.id, metadata: plan.metadata } } : object;
    const event: FakeEvent = {
      id: this.newId('msg'),
      type,
      api_version: 'v1',
      timestamp: new Date().toISOString(),
      company_id: this.accountId,
      data: structuredClone(data),
    };
    this.events.push(event);
    this.onEvent(event);
  }

  paymentsOf(configurationId: string): FakePayment[] {
    return [...this.payments.values()].filter(
      ({ checkout_configuration_id }) => checkout_configuration_id === configurationId,
    );
  }

  refundsOf(paymentId: string): FakeRefund[] {
    return [...this.refunds.values()].filter(({ payment }) => payment.id === paymentId);
  }

  captures(): FakeCapture[] {
    return [...this.payments.values()]
      .filter(({ status }) => status === 'paid')
      .map(({ id, metadata, plan, settlement_amount, settlement_currency }) => ({
        id,
        token: tokenIn(metadata) ?? tokenIn(this.plans.get(plan.id)?.metadata),
        ...wholeMoney(settlement_amount, settlement_currency),
      }));
  }

  returned(): FakeReturn[] {
    return [...this.refunds.values()]
      .filter(({ status }) => status === 'succeeded')
      .map(({ id, payment, amount, currency }) => ({
        id,
        token: this.refundKeys.get(id) ?? null,
        captureId: payment.id,
        ...wholeMoney(amount, currency),
      }));
  }
}

function tokenIn(metadata: Record<string, unknown> | undefined): string | null {
  return typeof metadata?.perennial_token === 'string' ? metadata.perennial_token : null;
}
