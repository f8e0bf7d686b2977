import { randomUUID } from 'node:crypto';
import type { SandboxCard } from '../../../integrations/sandbox-gateway/card.ts';
import { type FakeCapture, type FakeReturn, moneyInUnits, summedElsewhere } from '../money.ts';

export interface FakePayment {
  id: string;
  status: 'initiated' | 'paid' | 'failed' | 'refunded' | 'voided';
  amount: number;
  currency: string;
  captured: number;
  captured_at: string | null;
  refunded: number;
  refunded_at: string | null;
  /** Null where a saved card was charged. */
  invoice_id: string | null;
  created_at: string;
  updated_at: string;
  metadata: Record<string, string> | null;
  source: { type: 'creditcard'; company: string; number: string; message: string | null; response_code: string | null };
}

/** A card that is kept, whole, or not yet confirmed by its payer. */
export interface FakeToken {
  id: string;
  status: 'initiated' | 'active' | 'inactive';
  brand: string;
  funding: string;
  country: string;
  month: string;
  year: string;
  name: string;
  last_four: string;
  metadata: Record<string, string> | null;
  message: string | null;
  verification_url: string;
  created_at: string;
  updated_at: string;
}

export interface FakeInvoice {
  id: string;
  status: 'initiated' | 'paid' | 'canceled' | 'expired';
  amount: number;
  currency: string;
  description: string;
  url: string;
  success_url: string;
  back_url: string | null;
  expired_at: string | null;
  created_at: string;
  updated_at: string;
  metadata: Record<string, string> | null;
}

export interface FakeEvent {
  id: string;
  type: string;
  created_at: string;
  account_name: string;
  live: false;
  data: FakePayment;
}

/** A refusal in Moyasar's own words. */
export class MoyasarRefusal extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(status: number, type: string, message: string, errors: Record<string, string[]> | null = null) {
    super(message);
    this.status = status;
    this.body = { type, message, errors };
  }
}

export function invalid(field: string, message: string): MoyasarRefusal {
  return new MoyasarRefusal(400, 'invalid_request_error', 'Validation Failed', { [field]: [message] });
}

/** Objects of one account at the fake, in the shapes of Moyasar's interface; they last as long as its process. */
export class MoyasarBooks {
  readonly invoices = new Map<string, FakeInvoice>();
  readonly payments = new Map<string, FakePayment>();
  readonly tokens = new Map<string, FakeToken>();
  /** Facts of a kept card that Moyasar does not show: its behaviour, and where its payer goes on. */
  readonly kept = new Map<string, { card: SandboxCard; callbackUrl: string }>();
  readonly events: FakeEvent[] = [];
  /** The card of each payment, with the times its behaviour still shows. */
  readonly cards = new Map<string, SandboxCard>();
  /** Single refunds, which Moyasar itself does not show. */
  readonly refunds: { paymentId: string; amount: number; currency: string; token: string | null }[] = [];
  /** Told of each event, in order. */
  onEvent: (event: FakeEvent) => void = () => undefined;

  /** Writes an event about a payment as it is now. Moyasar does not sign it: the secret of the address goes along. */
  tell(type: string, payment: FakePayment): void {
    const event: FakeEvent = {
      id: randomUUID(),
      type,
      created_at: new Date().toISOString(),
      account_name: 'Fake',
      live: false,
      data: structuredClone(payment),
    };
    this.events.push(event);
    this.onEvent(event);
  }

  paymentsOf(invoiceId: string): FakePayment[] {
    return [...this.payments.values()].filter(({ invoice_id }) => invoice_id === invoiceId);
  }

  captures(): FakeCapture[] {
    return [...this.payments.values()]
      .filter(({ status }) => status !== 'initiated' && status !== 'failed')
      .map(({ id, invoice_id, amount, currency, metadata }) => ({
        id,
        token: (this.invoices.get(invoice_id ?? '')?.metadata ?? metadata)?.perennial_token ?? null,
        ...moneyInUnits(amount, currency),
      }));
  }

  /** Refunds with ids made of their payment's and of the name that they were asked for by; those of the dashboard are a sum. */
  returned(): FakeReturn[] {
    return summedElsewhere(
      this.refunds.map(({ paymentId: captureId, amount, currency, token }) => ({
        id: `${captureId}/${token}`,
        token,
        captureId,
        ...moneyInUnits(amount, currency),
      })),
    );
  }
}
