import type { DisputeAtGateway } from '../billing/payment/dispute.ts';
import type { RefundElsewhere } from '../billing/payment/refund.ts';
import type { DeclineClass, GatewayReference, ResendRule } from './gateway-reference.ts';
import type { PaymentLinks } from './payment-link.ts';

/**
 * The outside world of payments behind one small interface. A gateway is a foreign system: its answer may be late, lost,
 * repeated or wrong, and only what it says about an object counts. Each capability is a member that is present or absent; what is
 * absent is refused by name before anything is sent. spec: wallets-and-payments §2.19, §2.22
 */
export interface PaymentGateway {
  readonly name: string;
  /** Charges of saved methods. */
  readonly charges?: Charges;
  /** Addresses at which a payer pays by itself. */
  readonly links?: PaymentLinks;
  /** Saved ways to pay. */
  readonly methods?: SavedMethods;
  /** Money back to where it came from. */
  readonly refunds?: Refunds;
  /** Payments that the banks of their payers take back. */
  readonly disputes?: Disputes;
  /** Only a gateway that moves no money has this. */
  readonly payer?: PlayedPayer;
}

interface ChargeCalls {
  readonly resend: ResendRule;
  /** Looks up a charge. `not_found`: it was never sent there, or never confirmed. */
  lookUp(reference: GatewayReference): Promise<GatewayLookUp>;
  /** Gives up a charge that waits for its payer. Answers what is true afterwards: a captured charge stays captured. */
  cancel(reference: GatewayReference): Promise<GatewayLookUp>;
}

/** A gateway at which one call makes the charge. */
export interface OneStepCharges extends ChargeCalls {
  /**
   * Charges a saved method. A repeated token gets the charge of its first use, whatever became of it: one intent is captured at
   * most once. Throws `GatewayOutcomeUnknown` when no answer arrived; the charge may then exist or not.
   */
  charge(request: ChargeRequest): Promise<GatewayCharge>;

  /**
   * Only a gateway that decides without a network in between has this: charges of any number, all or none of them sent. What it
   * answers is decided for good, by intent token; what it leaves out was not sent, and is asked for by `charge`.
   */
  chargeAtOnce?(requests: readonly ChargeRequest[]): Promise<ReadonlyMap<string, GatewayCharge>>;
}

/** A gateway at which a charge exists before it is confirmed. Its id is stored in between, so that it can always be asked about. */
export interface TwoStepCharges extends ChargeCalls {
  /** Creates the charge unconfirmed; no money can move by it. */
  prepare(request: ChargeRequest): Promise<{ providerId: string }>;
  /** Confirms a prepared charge. Throws `GatewayOutcomeUnknown` when no answer arrived. */
  confirm(request: ChargeRequest, providerId: string): Promise<GatewayCharge>;
}

export type Charges = OneStepCharges | TwoStepCharges;

export interface SavedMethods {
  /**
   * Saves a card by its number, which goes to the gateway and nowhere else; only the sandbox has this.
   * Throws a refusal (`validation_error`) when the gateway does not take the number.
   */
  saveCard?(card: CardDetails): Promise<SavedCard>;
}

export interface Refunds {
  readonly resend: ResendRule;
  /**
   * Gives captured money back. A repeated token gets the refund of its first use. Throws `GatewayOutcomeUnknown` when no answer
   * arrived; the refund may then exist or not. spec: wallets-and-payments §2.21
   */
  refund(request: RefundRequest): Promise<GatewayRefund>;
  /** Looks up a refund. `not_found`: it never received it. */
  lookUp(request: RefundRequest): Promise<GatewayRefundLookUp>;
  /** Refunds of a charge that somebody made at the provider itself: those that carry no name of ours. design: money-in §5 */
  madeElsewhere?(charge: GatewayReference): Promise<RefundElsewhere[]>;
  /**
   * Sum of what went back of a charge, by whomever, as a plain decimal of its currency; in place of `madeElsewhere` at a provider that shows
   * no single refunds. Null where it cannot be told. Throws `GatewayOutcomeUnknown`. design: money-in §5
   */
  givenBack?(charge: GatewayReference): Promise<string | null>;
}

export interface Disputes {
  /** Disputes of a captured charge, whatever became of them; an inquiry that took no money is none. design: money-in §5 */
  ofCharge(charge: GatewayReference): Promise<DisputeAtGateway[]>;
}

/** In place of a payer, at a gateway that moves no money. False when nothing was waiting. */
export interface PlayedPayer {
  play(intentToken: string, action: 'confirm' | 'fail'): Promise<boolean>;
  /** Pays a hosted link with a test card; one attempt at a time. What became of it, reading the link tells. */
  payLink(intentToken: string, card: CardDetails): Promise<LinkAttempt>;
  /** The attempt of a link that is not decided: `requires_action` waits for `play`. Null when there is none. */
  underWay(intentToken: string): Promise<AttemptUnderWay | null>;
}

export interface AttemptUnderWay {
  status: 'requires_action' | 'processing';
  attemptToken: string;
  cardLastFour: string | null;
}

/**
 * Outcome of an attempt to pay a link: `processing` is not decided yet, `requires_action` waits for `play` with the attempt's own
 * token, `busy` was not begun because another is under way, `closed` because the link cannot be paid any more.
 */
export interface LinkAttempt {
  status: 'paid' | 'declined' | 'requires_action' | 'processing' | 'busy' | 'closed';
  /** Actions that `play` takes. */
  attemptToken: string | null;
  declineCode: string | null;
}

export interface CardDetails {
  /** Digits only. Never stored and never logged by the product. */
  cardNumber: string;
}

export interface SavedCard {
  token: string;
  brand: string;
  lastFour: string;
}

export interface ChargeRequest extends GatewayReference {
  /** Plain decimal in units of the currency, already at the currency's precision. */
  amount: string;
  /** Lower-case three letters. */
  currency: string;
  paymentMethodToken: string;
  /** The gateway's own customer that the method belongs to; null where it needs none. */
  customerToken: string | null;
  /** True when the payer is not there to confirm. */
  offSession: boolean;
  description: string;
  metadata: Record<string, string>;
}

/**
 * A charge as the gateway tells it. `succeeded` and `declined` are final; `requires_action` waits for the payer at
 * `actionUrl`; `processing` was accepted and is not decided yet, by `expectedBy` where the gateway takes days.
 */
export interface GatewayCharge {
  status: 'succeeded' | 'declined' | 'requires_action' | 'processing';
  gatewayPaymentId: string;
  amount: string;
  currency: string;
  gatewayMetadata: Record<string, string>;
  declineReason: string | null;
  /** The gateway's code of a decline, and what it means. */
  declineCode?: string | null;
  declineClass?: DeclineClass | null;
  actionUrl: string | null;
  expectedBy?: string | null;
}

export type GatewayLookUp = GatewayCharge | { status: 'not_found' };

/** A refund as it is asked for and asked about: `token` and `providerId` are the refund's, `intentToken` and `chargeProviderId` the charge's. */
export interface RefundRequest extends GatewayReference {
  /** Refund id and number of the try; the same for every question of one try. */
  refundToken: string;
  amount: string;
  currency: string;
  metadata: Record<string, string>;
}

/** A refund as the gateway tells it. `succeeded` and `failed` are final, unless the gateway takes a success back. */
export interface GatewayRefund {
  status: 'succeeded' | 'failed' | 'processing';
  /** Null where the gateway refused and made none. */
  gatewayRefundId: string | null;
  amount: string;
  currency: string;
  failureReason: string | null;
  expectedBy?: string | null;
}

export type GatewayRefundLookUp = GatewayRefund | { status: 'not_found' };

/** No definite answer arrived: the money may have moved or not. Only a look-up or the same token again can tell. */
export class GatewayOutcomeUnknown extends Error {
  override readonly name = 'GatewayOutcomeUnknown';
}

/** The gateway turned a request away before it looked at it, so that nothing came of it: it has too many, or does not know who asks. */
export class GatewayTurnedAway extends GatewayOutcomeUnknown {}

/** Whether a token that was first sent at `createdAt` or later may be sent again at `nowMs`. */
export function mayBeResent(rule: ResendRule, createdAt: string, nowMs: number): boolean {
  return rule !== 'never' && nowMs - Date.parse(createdAt) < rule.untilMs;
}

/** The gateways of one process by name. */
export type PaymentGateways = ReadonlyMap<string, PaymentGateway>;

/** The registry of the given gateways. Two of one name are a mistake in an entry file and end the process. */
export function paymentGateways(gateways: readonly PaymentGateway[]): PaymentGateways {
  const byName = new Map(gateways.map((gateway) => [gateway.name, gateway]));
  if (byName.size !== gateways.length) throw new Error('two payment gateways have the same name');
  return byName;
}
