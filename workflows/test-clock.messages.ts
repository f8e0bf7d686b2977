import { defineQuery, defineUpdate } from '@temporalio/workflow';

export const testClockWorkflowType = 'testClock';

export function testClockWorkflowId(testClockId: string): string {
  return `test-clock/${testClockId}`;
}

export interface TestClockStart {
  tenantId: string;
  environmentId: string;
  testClockId: string;
}

export interface AdvanceCommand {
  to: string;
}

/** Accepts an advance and answers at once; the clock then moves until it shows `to`. */
export const advance = defineUpdate<{ frozenTime: string; targetTime: string }, [AdvanceCommand]>('advance');
/** How far the running advance has come. */
export const progress = defineQuery<{
  targetTime: string | null;
  advancing: boolean;
  blockedOn: string | null;
}>('progress');
