/** Why no meter counted an event. spec: catalogue-and-metering §6.6 */
export const rejectionReasons = ['no_meter_for_event_name', 'no_matching_meter'] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** A stored event that no meter counted when it came. */
export interface RejectedEvent {
  /** The position right after this event in the listing. */
  readonly cursor: string;
  readonly eventId: string;
  readonly eventName: string;
  readonly externalCustomerId: string;
  readonly timestamp: string;
  readonly rejectedAt: string;
  readonly reason: RejectionReason;
}

/** What a listing of rejected events selects; newest first. */
export interface RejectedEventQuery {
  readonly eventName?: string;
  readonly externalCustomerId?: string;
  readonly reason?: RejectionReason;
  readonly after?: string;
  readonly limit: number;
}
