import { WorkflowIdReusePolicy } from '@temporalio/common';
import { defineQuery, defineUpdate } from '@temporalio/workflow';
import { environmentIdKey, tenantIdKey, testClockIdKey } from '../search-attributes.ts';
import { lifecycleTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const testClockWorkflowType = 'testClock';

export function testClockWorkflowId(testClockId: string): string {
  return `test-clock/${testClockId}`;
}

export interface TestClockStart {
  tenantId: string;
  environmentId: string;
  testClockId: string;
}

/** Start options of the workflow of a clock; the caller says what becomes of one that runs. A closed one is started again. */
export function testClockStartOptions(start: TestClockStart) {
  return {
    workflowId: testClockWorkflowId(start.testClockId),
    taskQueue: lifecycleTaskQueue,
    args: [start] as [TestClockStart],
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: `Test clock ${start.testClockId}`,
    typedSearchAttributes: [
      { key: tenantIdKey, value: start.tenantId },
      { key: environmentIdKey, value: start.environmentId },
      { key: testClockIdKey, value: start.testClockId },
    ],
  };
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
