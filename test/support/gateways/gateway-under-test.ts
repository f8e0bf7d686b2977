import { randomUUID } from 'node:crypto';
import type { FakeCapture } from '../../../dev/provider-fakes/money.ts';
import type { GatewayReference } from '../../../integrations/gateway-reference.ts';
import type {
  ChargeRequest,
  GatewayCharge,
  GatewayLookUp,
  PaymentGateway,
  RefundRequest,
} from '../../../integrations/payment-gateway.ts';
import type { LinkRequest } from '../../../integrations/payment-link.ts';
import { wireToken } from '../../../services/collection/wire-token.ts';

/** Behaviour of a payer's card, in the words of the sandbox's table. */
export type PayerCard =
  | 'succeeds'
  | 'declines'
  | 'declines_for_good'
  | 'needs_authentication'
  | 'never_answers'
  | 'captures_less'
  | 'captures_more'
  | 'captures_otherwise'
  | 'refund_fails'
  | 'refund_never_answers';

export type ContractCall = 'open' | 'close' | 'charge' | 'refund';

/** A gateway and what a test may do at its other side. */
export interface GatewayUnderTest {
  gateway: PaymentGateway;
  /** A saved method that is charged without its payer; absent where none can be saved. */
  savedMethod?(card: PayerCard): Promise<{ token: string; customerToken: string | null }>;
  /** A provider that accepts a charge first and decides it behind its answer. */
  decidesLater?: true;
  /** A payer pays a link, or tries to; in setup mode it saves its card. */
  pay(link: GatewayReference, card: PayerCard): Promise<void>;
  /** The gateway takes money for a link once more, or after its end. */
  captureBeside(link: GatewayReference): Promise<void>;
  /** A provider that itself sees to it that a link is paid once, so that nothing is ever taken beside its payment. */
  paysOnce?: true;
  /**
   * A provider that finds links and refunds by its own ids alone: a link whose answer was lost is another one when it is opened again, and
   * nobody knows the address of the first.
   */
  knowsIdsAlone?: true;
  /** A provider that does not say why an attempt was declined. */
  hidesReasons?: true;
  /** Captures an attempt that was under way for a link. */
  confirm(link: GatewayReference): Promise<void>;
  /** The link ends at the gateway by itself; absent where links have no end of their own. */
  expire?(link: GatewayReference): Promise<void>;
  /** The next call fails before it has an effect, or its answer is lost behind it. */
  failNext(call: ContractCall, how: 'unreachable' | 'loses_answer'): Promise<void>;
  /** A refund that succeeded is taken back; absent where refunds are decided at once and for good. */
  reverseRefund?(refund: RefundRequest): Promise<void>;
  /** Everything captured for an intent or link, by the gateway's own books, as `amount currency`. */
  capturesOf(intentToken: string): Promise<string[]>;
  /** Everything given back for a refund token, likewise. */
  refundsOf(refundToken: string): Promise<string[]>;
}

const hourMs = 3_600_000;

export function referenceOf(intentToken: string): GatewayReference {
  return {
    intentToken,
    token: wireToken(intentToken),
    providerId: null,
    chargeProviderId: null,
    createdAt: new Date().toISOString(),
  };
}

export function linkRequest(changes: Partial<LinkRequest> = {}): LinkRequest {
  return {
    ...referenceOf(`checkout_${randomUUID()}`),
    mode: 'payment',
    amount: '12.5',
    currency: 'usd',
    expiresAt: new Date(Date.now() + hourMs).toISOString(),
    payBy: 'CARD',
    saveMethod: false,
    mandateLimit: null,
    customer: { token: null, name: 'Payer', email: 'payer@example.com', contact: '+919876543210' },
    pageUrl: 'http://127.0.0.1/checkout/page',
    returnUrl: 'http://127.0.0.1/checkout/page/return',
    description: 'Invoice 1',
    metadata: { environment: 'env_1', kind: 'checkout_session', id: 'checkout_1' },
    ...changes,
  };
}

/** Opens a link and answers what it is read by. */
export async function opened({ gateway }: GatewayUnderTest, changes: Partial<LinkRequest> = {}) {
  const request = linkRequest(changes);
  const { providerId, url, expiresAt } = await gateway.links!.open(request);
  return { request, reference: { ...request, providerId }, url, expiresAt };
}

export function chargeRequest(paymentMethodToken: string, customerToken: string | null = null): ChargeRequest {
  return {
    ...referenceOf(`pay_${randomUUID()}:1`),
    amount: '12.5',
    currency: 'usd',
    paymentMethodToken,
    customerToken,
    offSession: true,
    description: 'Invoice 1',
    metadata: { payment_id: 'pay_1' },
  };
}

/** Sends a charge as the product does: in one step, or prepared and confirmed. The request learns the id of what was prepared. */
export async function sent({ charges }: PaymentGateway, request: ChargeRequest): Promise<GatewayCharge> {
  if (!('prepare' in charges!)) return charges!.charge(request);
  request.providerId ??= (await charges!.prepare(request)).providerId;
  return charges!.confirm(request, request.providerId);
}

/** Sends a charge, and asks once more where its provider decides behind its answer. */
export async function decided(
  { gateway, decidesLater }: GatewayUnderTest,
  request: ChargeRequest,
): Promise<GatewayLookUp> {
  const answer = await sent(gateway, request);
  return decidesLater && answer.status === 'processing' ? gateway.charges!.lookUp(request) : answer;
}

/** Money in a fake's books that carries our name of an intent, link or refund, as `amount currency`. */
export function toldOf(money: readonly FakeCapture[], name: string): string[] {
  return money.filter(({ token }) => token === wireToken(name)).map(({ amount, currency }) => `${amount} ${currency}`);
}
