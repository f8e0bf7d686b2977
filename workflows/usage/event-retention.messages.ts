export const retentionWorkflowType = 'eventRetention';
export const retentionScheduleId = 'event-retention';

/** How long events are kept. */
export interface RetentionStart {
  days: number;
}

/** What a run dropped of one month of ingestion, in all environments together. */
export interface DroppedMonth {
  partition: string;
  eventCount: number;
  /** Why nothing was dropped of it though it is old enough; the next run tries again. */
  waitsFor?: string;
}
