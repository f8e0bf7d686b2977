import { entitlementEvents, featureEvents } from './catalogue-events.ts';
import { customerEvents } from './customer-events.ts';
import type { EventFamily, EventOf } from './event-family.ts';
import { creditNoteEvents, invoiceEvents } from './invoice-events.ts';
import { checkoutEvents, paymentEvents, refundEvents } from './payment-events.ts';
import { phaseEvents, spendEvents, subscriptionEvents } from './subscription-events.ts';
import { grantEvents, rejectionEvents } from './usage-events.ts';
import {
  balanceEvents,
  featureAlertEvents,
  settledTransactionEvents,
  walletEvents,
  walletTransactionEvents,
} from './wallet-events.ts';

const families = [
  ...[customerEvents, featureEvents, entitlementEvents, subscriptionEvents, phaseEvents, spendEvents, rejectionEvents],
  ...[grantEvents, invoiceEvents, creditNoteEvents, paymentEvents, refundEvents, checkoutEvents],
  ...[walletEvents, balanceEvents, walletTransactionEvents, settledTransactionEvents, featureAlertEvents],
] as const;

type OneOf<Family> = Family extends unknown ? EventOf<Family> : never;

/** An outbound event as a service reports it: of a type of the catalogue, with that type's payload. spec: platform §17.2 */
export type OutboundEvent = OneOf<(typeof families)[number]>;

export type OutboundEventType = OutboundEvent['name'];

/** A type of outbound event, the sentence that tells when it is sent, and the family whose payload it carries. */
export interface CatalogueEntry {
  type: OutboundEventType;
  sentence: string;
  family: EventFamily;
}

/** Every type that is sent, by name. */
export const eventCatalogue: ReadonlyMap<string, CatalogueEntry> = new Map(
  families
    .flatMap((family: EventFamily) =>
      Object.entries(family.events).map(([type, sentence]) => ({
        type: type as OutboundEventType,
        sentence,
        family,
      })),
    )
    .sort((a, b) => (a.type < b.type ? -1 : 1))
    .map((entry) => [entry.type, entry]),
);
