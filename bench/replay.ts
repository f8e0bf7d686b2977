import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { bundleWorkflows } from '../activities/workflow-bundle.ts';
import { workflowEntry } from '../activities/workflow-entry.ts';
import { WorkflowWorker } from '../activities/workflow-worker/workflow-worker.ts';
import { type RecordedHistory, recordedHistories } from '../test/replay/history.ts';
import { compare, percentile } from './measure.ts';

const repetitions = 5;
const shortReplays = 200;
const maxWorkers = 10;

/**
 * Milliseconds to replay the slowest recorded history, which is a subscription just before it rolls over, against a history
 * of five events. Each history counts with the median of its replays; p99 is over histories.
 */
export async function run(): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const beside = [fileURLToPath(new URL('./workflows/empty.ts', import.meta.url))];
  const { code } = await bundleWorkflows(workflowEntry({ beside }));
  const recorded = [...recordedHistories()].map(([file, history]) => ({ file, history }));
  await compare({
    bench: 'replay',
    reference: async () =>
      median(
        await replayMs(
          code,
          Array.from({ length: shortReplays }, () => fiveEvents),
        ),
      ),
    product: async () => {
      const times = await replayMs(
        code,
        recorded.flatMap(({ history }) => Array.from({ length: repetitions }, () => history)),
      );
      const medians = recorded.map((_, index) => median(times.slice(index * repetitions, (index + 1) * repetitions)));
      return percentile(medians, 0.99);
    },
  });
  const longest = recorded.toSorted((a, b) => b.history.events.length - a.history.events.length)[0];
  const created = { bench: 'replay', histories: recorded.length, longest: longest?.file };
  console.log(JSON.stringify({ ...created, events: longest?.history.events.length }));
}

/** The time each history took, in order. A history that does not replay is an error. */
async function replayMs(code: string, histories: readonly RecordedHistory[]): Promise<number[]> {
  const times: number[] = [];
  // A replay worker sometimes ends before its last history on a crowded machine; another goes on where it was.
  for (let workers = 0; times.length < histories.length; workers += 1) {
    if (workers === maxWorkers) throw new Error(`replay workers ended ${maxWorkers} times by themselves`);
    await replayInto(times, code, histories.slice(times.length)).catch((error: unknown) => {
      if ((error as Error).name !== 'ShutdownError') throw error;
    });
  }
  return times;
}

async function replayInto(times: number[], code: string, histories: readonly RecordedHistory[]): Promise<void> {
  const waiting = histories.map((history, index) => ({ workflowId: `replay-${index}`, history }));
  let began = 0;
  async function* oneByOne() {
    for (const each of waiting) {
      began = performance.now();
      yield each;
    }
  }
  for await (const { error } of WorkflowWorker.runReplayHistories({ workflowBundle: { code } }, oneByOne())) {
    if (error) throw error;
    times.push(performance.now() - began);
  }
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

const queue = { name: 'lifecycle', kind: 'TASK_QUEUE_KIND_NORMAL' };
const emptyInput = {
  payloads: [
    {
      metadata: { encoding: Buffer.from('json/plain').toString('base64') },
      data: Buffer.from('{"waitMs":0}').toString('base64'),
    },
  ],
};
/** The shortest a workflow can live: started, one task, completed. */
const fiveEvents = {
  events: [
    {
      eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
      workflowExecutionStartedEventAttributes: {
        workflowType: { name: 'empty' },
        taskQueue: queue,
        input: emptyInput,
        workflowTaskTimeout: '10s',
        originalExecutionRunId: '00000000-0000-4000-8000-000000000001',
        firstExecutionRunId: '00000000-0000-4000-8000-000000000001',
        attempt: 1,
      },
    },
    {
      eventType: 'EVENT_TYPE_WORKFLOW_TASK_SCHEDULED',
      workflowTaskScheduledEventAttributes: { taskQueue: queue, startToCloseTimeout: '10s', attempt: 1 },
    },
    {
      eventType: 'EVENT_TYPE_WORKFLOW_TASK_STARTED',
      workflowTaskStartedEventAttributes: { scheduledEventId: '2' },
    },
    {
      eventType: 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED',
      workflowTaskCompletedEventAttributes: { scheduledEventId: '2', startedEventId: '3' },
    },
    {
      eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED',
      workflowExecutionCompletedEventAttributes: { workflowTaskCompletedEventId: '4' },
    },
  ].map((event, index) => ({ eventId: String(index + 1), eventTime: '2026-01-01T00:00:00Z', ...event })),
};
