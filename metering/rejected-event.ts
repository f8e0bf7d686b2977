import type { PreparedEvent } from './event.ts';

/** Reasons for which no meter counted an event, and, own, for which the database could not store it. spec: catalogue-and-metering §6.6 */
export const rejectionReasons = ['no_meter_for_event_name', 'no_matching_meter', 'not_storable'] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** An event that no meter counted when it came, or that could not be stored. */
export interface RejectedEvent {
  /** The position right after this event in the listing. */
  readonly cursor: string;
  readonly eventId: string;
  readonly eventName: string;
  readonly externalCustomerId: string;
  readonly timestamp: string;
  readonly rejectedAt: string;
  readonly reason: RejectionReason;
  /** The database's words about an event that it could not store; null for every other. */
  readonly problem: string | null;
}

/** An event whose data the database refused, with its words: it was left out of its batch, and kept as a rejected one. */
export interface UnstorableEvent {
  readonly event: PreparedEvent;
  readonly problem: string;
}

/** What a listing of rejected events selects; newest first. */
export interface RejectedEventQuery {
  readonly eventName?: string;
  readonly externalCustomerId?: string;
  readonly reason?: RejectionReason;
  readonly after?: string;
  readonly limit: number;
}
