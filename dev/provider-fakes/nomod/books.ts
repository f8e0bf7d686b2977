import { randomUUID } from 'node:crypto';
import { type Decimal, decimal, sum } from '../../../billing/money/money.ts';
import type { SandboxCard } from '../../../integrations/sandbox-gateway/card.ts';
import { type FakeCapture, type FakeReturn, summedElsewhere, wholeMoney } from '../money.ts';

export interface FakeCharge {
  id: string;
  /** Whole units, as all amounts of Nomod. */
  amount: number;
  payment_time: string;
  payment_method: 'card';
  status: 'created' | 'paid' | 'failed' | 'partially_refunded' | 'refunded';
}

export interface FakeCheckout {
  id: string;
  url: string;
  status: 'created' | 'cancelled' | 'expired' | 'paid';
  amount: number;
  discount: number;
  currency: string;
  reference_id: string;
  created_at: string;
  items: Record<string, unknown>[];
  customer: Record<string, string>;
  metadata: Record<string, string>;
  charges: FakeCharge[];
}

/** Addresses that Nomod is given and does not show. */
export interface FakeAddresses {
  success: string;
  failure: string;
  cancelled: string;
}

export interface FakeRefund {
  refund_id: string;
  charge_id: string;
  status: 'pending' | 'completed' | 'failed';
  amount: number;
  currency: string;
  refund_time: string;
  reason: string;
  reference_id: string;
  metadata: Record<string, string>;
}

/** An event as it is sent; what tells its notifications apart is the id of the message alone. */
export interface FakeEvent {
  messageId: string;
  body: { type: string; data: Record<string, unknown> };
}

/** A refusal in Nomod's own words. */
export class NomodRefusal extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(status: number, code: string, field: string | null = null) {
    super(code);
    this.status = status;
    this.body = { code, message: field === null ? code : `${field}: ${code}` };
  }
}

/** Objects of one account at the fake, in the shapes of Nomod's interface; they last as long as its process. */
export class NomodBooks {
  readonly checkouts = new Map<string, FakeCheckout>();
  readonly addresses = new Map<string, FakeAddresses>();
  /** Answers by idempotency key. */
  readonly refunds = new Map<string, FakeRefund>();
  /** True of an account whose key may open checkouts and not read charges. */
  hidesCharges = false;
  readonly events: FakeEvent[] = [];
  /** The card of each charge, with the times its behaviour still shows. */
  readonly cards = new Map<string, SandboxCard>();
  /** Told of each event, in order. */
  onEvent: (event: FakeEvent) => void = () => undefined;

  /** The checkout of an id. Throws as Nomod refuses one that it does not have. */
  checkoutOf(id: string): FakeCheckout {
    const checkout = this.checkouts.get(id);
    if (!checkout) throw new NomodRefusal(404, 'not_found');
    return checkout;
  }

  /** Writes an event about a charge as it is now. */
  tell(type: string, { id: checkoutId, currency, metadata }: FakeCheckout, charge: FakeCharge): void {
    const { id, status, amount } = charge;
    const data = {
      id,
      status,
      total: amount.toFixed(3),
      currency,
      checkout: { id: checkoutId },
      metadata: { ...metadata },
    };
    const event: FakeEvent = { messageId: `msg_${randomUUID()}`, body: { type, data } };
    this.events.push(event);
    this.onEvent(event);
  }

  /** Part of a charge that went back or is on its way. */
  givenBack(chargeId: string): Decimal {
    const refunds = [...this.refunds.values()].filter(
      ({ charge_id, status }) => charge_id === chargeId && status !== 'failed',
    );
    return sum(refunds.map(({ amount }) => decimal(amount)));
  }

  captures(): FakeCapture[] {
    return [...this.checkouts.values()].flatMap(({ id: checkoutId, charges, metadata, currency }) =>
      charges
        .filter(({ status }) => status !== 'created' && status !== 'failed')
        .map(({ id, amount }) => ({
          id: `${checkoutId}/${id}`,
          token: metadata.token ?? null,
          ...wholeMoney(amount, currency),
        })),
    );
  }

  /** Refunds that are done; those of the dashboard are a sum, because Nomod shows no ids of them. */
  returned(): FakeReturn[] {
    return summedElsewhere(
      [...this.refunds.values()]
        .filter(({ status }) => status === 'completed')
        .map(({ refund_id: id, charge_id, metadata, amount, currency }) => ({
          id,
          token: metadata.token ?? null,
          captureId: this.captures().find((capture) => capture.id.endsWith(`/${charge_id}`))?.id ?? charge_id,
          ...wholeMoney(amount, currency),
        })),
    );
  }
}
