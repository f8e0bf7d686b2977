import { createHash } from 'node:crypto';

/**
 * Verdict on a notification: `clock` is signed rightly and too old or too new, which is told apart because it means that a clock is
 * wrong, here or there. design: money-in-checkout §B16
 */
export type SignatureVerdict = 'valid' | 'missing' | 'bad' | 'clock';

/** A notification as it came in. */
export interface RawNotification {
  /** By lower-case names; a header that came twice is joined by commas. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array;
  /** Address that its sender called, with its query; absent where nothing is signed with it. */
  url?: string;
}

/** Name of a notification that has none of its own: the digest of its bytes, the same each time that it is sent. */
export function digestOf(body: Uint8Array): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

/**
 * A notification as far as it says what it is about. It is a hint and no truth: where it leads to an object of ours, the provider is asked.
 * spec: platform §16; design: money-in §6
 */
export interface ProviderNotification {
  /** The provider's own id of the event, the same each time that it is sent. */
  eventId: string;
  eventType: string;
  /** Our name of the object, as it was left with the provider; null where it has none. */
  marker: NotificationMarker | null;
  /** The provider's ids of the object and of those it belongs to, the object's own first. */
  objectIds: string[];
}

/** An event that was listed, and its bytes as a notification has them. */
export interface ListedEvent extends ProviderNotification {
  /** Instant at which it happened. */
  at: string;
  /** Made from an object of a provider that lists no events: no notification has its id. */
  isDerived?: true;
  body: Uint8Array;
}

/** An object of ours, and its environment. design: money-in-checkout §A13 */
export interface NotificationMarker {
  environment: string;
  kind: string;
  id: string;
}

/** How notifications of a provider are verified and read. */
export interface ProviderNotifications {
  /** Words that say what proves its sender, as the reference tells them. */
  readonly proof: string;
  /** Headers that sign or name a notification, in lower case: they are kept beside it. None of them is a credential. */
  readonly headers: readonly string[];
  /** Verifies who sent a notification, by one of the secrets. Only over the raw bytes, before anything of them is read. */
  verify(notification: RawNotification, secrets: readonly string[], nowMs: number): SignatureVerdict;
  /** Verifies by another secret of a connection that has no webhook secret; absent where nothing else verifies. spec: README decision 31 */
  readonly byKey?: {
    /** Name of the secret. */
    member: string;
    verify(notification: RawNotification, key: string, nowMs: number): SignatureVerdict;
  };
  /** Reads a notification; null for bytes that are none. It throws nothing. */
  read(notification: RawNotification): ProviderNotification | null;
  /** The bytes as they are kept, without credentials; absent where they hold none. spec: platform §16 */
  kept?(body: Uint8Array): Uint8Array;
  /** Status of a notification whose signature is missing or does not fit; 400 where it is absent. spec: README decision 30 */
  readonly refusedBy?: 401;
  /** Secrets of the connection by which it is verified, in words; `webhook_secret` where it is absent. */
  readonly verifiedBy?: string;
  /** Whether events of a type may be about money or methods of ours; the others are kept and passed on to nobody. */
  concerns(eventType: string): boolean;
  /** True for types of events about money that goes back: a refund made at the provider itself, or a dispute. */
  tellsOfRefund(eventType: string): boolean;
}
