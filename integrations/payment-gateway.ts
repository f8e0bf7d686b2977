/**
 * The outside world of payments behind one small interface. A gateway is a foreign system: its answer may be late, lost,
 * repeated or wrong, and only what it says about an intent counts. spec: wallets-and-payments §2.19, §2.22
 */
export interface PaymentGateway {
  readonly name: string;

  /**
   * Saves a card and returns what may be kept of it. The number goes to the gateway and nowhere else.
   * Throws a refusal (`validation_error`) when the gateway does not take the number.
   */
  savePaymentMethod(card: CardDetails): Promise<SavedCard>;

  /**
   * Charges a saved method. A repeated `intentToken` gets the charge of its first use, whatever became of it: one intent is
   * captured at most once. Throws `GatewayOutcomeUnknown` when no answer arrived; the charge may then exist or not.
   */
  charge(request: ChargeRequest): Promise<GatewayCharge>;

  /**
   * Only a gateway that decides without a network in between has this: charges of any number, all or none of them sent. What it
   * answers is decided for good, by intent token; what it leaves out was not sent, and is asked for by `charge`.
   */
  chargeAtOnce?(requests: readonly ChargeRequest[]): Promise<ReadonlyMap<string, GatewayCharge>>;

  /** What the gateway knows about an intent. `not_found`: it never received the charge, so the same token may be sent again. */
  lookUp(intentToken: string): Promise<GatewayLookUp>;

  /** Gives up a charge that waits for its payer. Answers what is true afterwards: a captured charge stays captured. */
  cancel(intentToken: string): Promise<GatewayLookUp>;

  /**
   * Gives captured money back; absent where the gateway cannot. A repeated `token` gets the refund of its first use. Throws
   * `GatewayOutcomeUnknown` when no answer arrived; the refund may then exist or not. spec: wallets-and-payments §2.21
   */
  refund?(request: RefundRequest): Promise<GatewayRefund>;

  /** What the gateway knows about a refund. `not_found`: it never received it, so the same token may be sent again. */
  lookUpRefund?(token: string): Promise<GatewayRefundLookUp>;

  /**
   * Only a gateway that moves no money has this: plays the payer who confirms or fails a waiting charge. False when nothing
   * was waiting.
   */
  playPayer?(intentToken: string, action: 'confirm' | 'fail'): Promise<boolean>;
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

export interface ChargeRequest {
  /** Payment id and number of the logical attempt; the same for every retry of one attempt. */
  intentToken: string;
  /** Plain decimal in units of the currency, already at the currency's precision. */
  amount: string;
  /** Lower-case three letters. */
  currency: string;
  paymentMethodToken: string;
  description: string;
  metadata: Record<string, string>;
}

/**
 * A charge as the gateway tells it. `succeeded` and `declined` are final; `requires_action` waits for the payer at
 * `actionUrl`; `processing` was accepted and is not decided yet.
 */
export interface GatewayCharge {
  status: 'succeeded' | 'declined' | 'requires_action' | 'processing';
  gatewayPaymentId: string;
  amount: string;
  currency: string;
  gatewayMetadata: Record<string, string>;
  declineReason: string | null;
  actionUrl: string | null;
}

export type GatewayLookUp = GatewayCharge | { status: 'not_found' };

export interface RefundRequest {
  /** Refund id and number of the try; the same for every question of one try. */
  token: string;
  /** The intent whose charge is given back. */
  intentToken: string;
  /** The gateway's own id of that charge, as it told it. */
  gatewayPaymentId: string | null;
  amount: string;
  currency: string;
}

/** A refund as the gateway tells it. `succeeded` and `failed` are final. */
export interface GatewayRefund {
  status: 'succeeded' | 'failed' | 'processing';
  gatewayRefundId: string;
  amount: string;
  currency: string;
  failureReason: string | null;
}

export type GatewayRefundLookUp = GatewayRefund | { status: 'not_found' };

/** No definite answer arrived: the money may have moved or not. Only a look-up or the same token again can tell. */
export class GatewayOutcomeUnknown extends Error {
  override readonly name = 'GatewayOutcomeUnknown';
}

/** The gateways of one process by name. */
export type PaymentGateways = ReadonlyMap<string, PaymentGateway>;

/** The registry of the given gateways. Two of one name are a mistake in an entry file and end the process. */
export function paymentGateways(gateways: readonly PaymentGateway[]): PaymentGateways {
  const byName = new Map(gateways.map((gateway) => [gateway.name, gateway]));
  if (byName.size !== gateways.length) throw new Error('two payment gateways have the same name');
  return byName;
}

/** The names of the gateways that can give money back. */
export function refundableGateways(gateways: PaymentGateways): string[] {
  return [...gateways.values()].filter((gateway) => gateway.refund !== undefined).map((gateway) => gateway.name);
}
