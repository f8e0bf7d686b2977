import type { DeclineClass, GatewayReference, ResendRule } from './gateway-reference.ts';

/**
 * Addresses of a provider, or pages of ours, at which a payer pays by itself. A link outlives what it was opened for, so closing is
 * a question too: it answers what is true afterwards. spec: wallets-and-payments §2.17; design: money-in-checkout §A4, §A5, §A6
 */
export interface PaymentLinks {
  readonly resend: ResendRule;
  /** Shortest time from opening to expiry that the provider takes; shorter ones are lengthened, and closed by us in time. */
  readonly minimumLifeMs: number;
  /** False where an open link ends by its own expiry alone. */
  readonly closable: boolean;
  /**
   * Opens a link that one payment can be made by. A repeated token gets the link of its first use. Throws a refusal for what the
   * provider cannot express, and `GatewayOutcomeUnknown` when no answer arrived; the link may then exist or not.
   */
  open(request: LinkRequest): Promise<OpenedLink>;
  /** Reads the state of a link. Throws `GatewayOutcomeUnknown` when the provider does not say. */
  read(reference: LinkReference): Promise<LinkState>;
  /** Ends a link and answers how it stands then: one that was paid meanwhile is `paid`. A link that never arrived is `dead`. */
  close(reference: LinkReference): Promise<LinkState>;
}

/** A link as it is asked about. */
export interface LinkReference extends GatewayReference {
  /** Cards that a payer's browser had the provider keep and named to our page, the first first; absent where pages are the provider's. */
  methodTokens?: readonly string[];
}

/** A link as it is asked for; `intentToken` is that of the payment it is for, by which the books of both sides are compared. */
export interface LinkRequest extends LinkReference {
  /** `setup` takes no money and keeps the payer's method. */
  mode: 'payment' | 'setup';
  /** Plain decimal at the currency's precision; `0` in setup mode. */
  amount: string;
  currency: string;
  /** Real time at which it is to end. */
  expiresAt: string;
  /** Way of paying that the page offers, where its provider has more than cards. */
  payBy: 'CARD' | 'UPI';
  /** Whether the method is kept so that it can be charged without the payer. */
  saveMethod: boolean;
  /** Most that the method may be charged at once without its payer, in units of the currency; null for no limit of ours. */
  mandateLimit: string | null;
  customer: LinkCustomer;
  /** Our own page of this payment; the sandbox's link is that page. */
  pageUrl: string;
  /** Address to which the provider sends the payer back, paid or not. */
  returnUrl: string;
  description: string;
  metadata: Record<string, string>;
}

export interface LinkCustomer {
  /** The provider's own customer, where it has one of ours. */
  token: string | null;
  name: string;
  email: string | null;
  contact: string | null;
}

export interface OpenedLink {
  providerId: string;
  url: string;
  /** The provider's own end of it; null where it names none. */
  expiresAt: string | null;
}

/**
 * State of a link: `paid` has at least one capture (or, in setup mode, a saved method), `open` can be paid, `processing` has an
 * attempt that is not decided, so that it is neither, and `dead` cannot be paid any more and nothing is under way.
 */
export interface LinkState {
  status: 'paid' | 'open' | 'processing' | 'dead';
  providerId: string | null;
  url: string | null;
  expiresAt: string | null;
  /** Everything that was taken by it, the first first; a second one is given back. */
  captures: readonly LinkCapture[];
  /** Attempts that were declined, the first first. */
  declines: readonly LinkDecline[];
  /** The method that was kept, where that was asked for. */
  savedMethod: LinkedMethod | null;
}

export interface LinkCapture {
  /** The provider's id of the payment, by which it is refunded; unique in a connection. */
  chargeProviderId: string;
  amount: string;
  currency: string;
  capturedAt: string;
}

export interface LinkDecline {
  chargeProviderId: string;
  code: string;
  class: DeclineClass;
}

export interface LinkedMethod {
  token: string;
  customerToken: string | null;
  brand: string;
  lastFour: string;
  /** The same for every saving of one card; absent where the provider tells none. */
  fingerprint?: string | null;
  /** Most that its provider lets be charged at once without the payer; absent where the provider tells none. */
  maxAmount?: string | null;
}

/** State of a link that never arrived at its provider. */
export const neverOpened: LinkState = {
  status: 'dead',
  providerId: null,
  url: null,
  expiresAt: null,
  captures: [],
  declines: [],
  savedMethod: null,
};
