import type { z } from 'zod';
import type { ProviderAdapter } from './provider-adapter.ts';
import type { ProviderNotifications } from './provider-notification.ts';

/** A member of a provider's secrets whose text tells whether money moves. */
export interface ModeTelling {
  member: string;
  test: RegExp;
  live: RegExp;
  /** Word for the member, where it is no key. */
  kind?: string;
}

/** Directions in which a provider can exchange an entity. */
export interface Exchange {
  inbound: boolean;
  outbound: boolean;
}

/** Facts of a provider that there are connections to: everything the product has to be told of one. spec: platform §13 */
export interface Provider {
  /** Its name on the wire. */
  name: string;
  /** Its name as people write it. */
  title: string;
  /** The secret members of a connection. */
  secrets: z.ZodObject;
  /** Members that tell the mode; a text that says nothing is taken as it is. design: money-in-checkout §A12 */
  tellsMode?: readonly ModeTelling[];
  /** Entities it can exchange; absent where it has no capabilities to show. spec: platform §13 Capabilities */
  exchanges?: Readonly<Partial<Record<'customer' | 'invoice', Exchange>>>;
  /** Opens what payments are made through; absent where it takes none. `baseUrl` is another address than its own: that of a fake. */
  adapter?(baseUrl?: string): ProviderAdapter;
  /** Notifications of one that takes no payments; absent where it sends none. spec: platform §16 */
  notifications?: ProviderNotifications;
}

/** Directions of an exchange: to a provider, from one, both ways. */
export const outbound: Exchange = { inbound: false, outbound: true };
export const inbound: Exchange = { inbound: true, outbound: false };
export const bothWays: Exchange = { inbound: true, outbound: true };
