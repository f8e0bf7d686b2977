import type { PaymentGateway, PaymentGateways } from './payment-gateway.ts';
import type { ListedEvent, ProviderNotifications } from './provider-notification.ts';

/** A provider whose gateway is that of an account, reached through a connection and its secrets. */
export interface ProviderAdapter {
  readonly name: string;
  readonly refunds: boolean;
  /** Whether it opens payment pages. */
  readonly links: boolean;
  /** Whether a payer's method can be kept there, and charged without its payer. */
  readonly savesMethods: boolean;
  /** Ways to pay whose method is kept by the page that is paid on; every one where it is absent. Otherwise methods are saved alone. */
  readonly keepsPaid?: readonly ('CARD' | 'UPI')[];
  /** A charge without its payer is accepted there and decided later, after its answer. design: money-in-checkout §B11 */
  readonly decidesLater?: true;
  /** The gateway of the account that the secrets are of. It keeps nothing open, so it is made anew for each conversation. */
  open(secrets: Readonly<Record<string, string>>): PaymentGateway;
  /** Asks the provider whose secrets these are. One call to each of its addresses; it throws nothing. */
  account(secrets: Readonly<Record<string, string>>): Promise<ProviderAccount>;
  /** Notifications of the provider; absent where it sends none. */
  readonly notifications?: ProviderNotifications;
  /**
   * Events of the account since an instant, of the types that are passed on; absent where the provider lists none. Throws where it gives no
   * answer. design: money-in-checkout §B18
   */
  events?(secrets: Readonly<Record<string, string>>, since: string): Promise<ListedEvent[]>;
  /**
   * The provider's part of our own page; absent where its payers are sent to a page of the provider alone. Null where the secrets lack what
   * it needs. design: money-in-checkout §C paddle, moyasar
   */
  pageWay?(secrets: Readonly<Record<string, string>>): ProviderPageWay | null;
}

/** A provider's part of our page, by which something is paid or a card is saved. Nothing in it is secret. */
export type ProviderPageWay = ProviderScript | ProviderCardForm;

/** A provider's script for our payment page, and the origins that the page's policy has to let in for it. */
export interface ProviderScript {
  kind: 'script';
  url: string;
  /** Names the account to the script; made to be seen by everybody. */
  clientToken: string;
  /** No money moves. */
  isTest: boolean;
  scripts: readonly string[];
  frames: readonly string[];
  styles: readonly string[];
  connects: readonly string[];
}

/** A form of our page whose card the payer's browser sends to the provider and to nobody else. */
export interface ProviderCardForm {
  kind: 'card_form';
  /** The provider as people write it. */
  provider: string;
  /** Address that takes a card and answers the token that stands for it. */
  tokensUrl: string;
  /** Names the account to that address; made to be seen by everybody. */
  publishableKey: string;
  /** No money moves. */
  isTest: boolean;
  connects: readonly string[];
}

/**
 * An account as far as its provider tells it; `member` names the secret that the provider refuses, `mode` is
 * there where the provider's address tells whether money moves, and names the secret that is of this mode.
 */
export type ProviderAccount =
  | { status: 'known'; id: string | null; mode?: { member: string; told: 'test' | 'live' } }
  | { status: 'refused'; member: string }
  | { status: 'unknown' };

export type ProviderAdapters = ReadonlyMap<string, ProviderAdapter>;

/** The names of the gateways that can give money back, those of connections among them. */
export function refundableGateways(gateways: PaymentGateways, adapters: ProviderAdapters = new Map()): string[] {
  const own = [...gateways.values()].filter((gateway) => gateway.refunds !== undefined);
  const connected = [...adapters.values()].filter(({ refunds }) => refunds);
  return [...own, ...connected].map(({ name }) => name);
}
