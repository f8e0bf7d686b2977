import { runInNewContext } from 'node:vm';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { runtimeLogger, runtimeOptions, workerLogger } from '../../../activities/logging.ts';
import { refuse } from '../../../billing/refusal.ts';

/** The lines that reach the log of a worker at a level. */
function logOf(level: 'debug' | 'info') {
  const lines: string[] = [];
  const logger = workerLogger({ level, stream: { write: (line) => void lines.push(line) } });
  return { sdk: runtimeLogger(logger), logger, lines: () => lines.map((line) => JSON.parse(line)) };
}

const ofActivity = {
  sdkComponent: 'worker',
  workflowId: 'subscription/subs_1',
  workflowRunId: 'run-1',
  activityType: 'closePeriod',
  attempt: 2,
  taskToken: 'c2VjcmV0IHRhc2sgdG9rZW4=',
};

test('a line of the SDK has the form of the API, with ids and without tokens', () => {
  const { sdk, lines } = logOf('info');
  sdk.warn('Activity failed', { ...ofActivity, durationMs: 7, error: new Error('the ledger is bewitched') });
  expect(lines()).toEqual([
    {
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      process: 'worker',
      component: 'worker',
      workflow_id: 'subscription/subs_1',
      run_id: 'run-1',
      activity_type: 'closePeriod',
      attempt: 2,
      duration_ms: 7,
      err: expect.objectContaining({ type: 'Error', message: 'the ledger is bewitched' }),
      msg: 'Activity failed',
    },
  ]);
});

test('a refusal is an answer and no fault: it is logged at debug, wherever it was wrapped', () => {
  const refusal = refuse('validation_error', 'currency must be eur');
  const wrapped = new Error('Activity task failed', { cause: refusal });
  const { sdk, lines } = logOf('info');
  sdk.warn('Activity failed', { ...ofActivity, error: refusal });
  sdk.log('WARN', 'Workflow failed', { error: wrapped });
  expect(lines()).toEqual([]);

  const talkative = logOf('debug');
  talkative.sdk.warn('Activity failed', { ...ofActivity, error: refusal });
  expect(talkative.lines()).toMatchObject([{ level: 'debug', failure: 'validation_error', msg: 'Activity failed' }]);
});

test('a worker that changes its state says to which', () => {
  const { sdk, lines } = logOf('info');
  sdk.info('Worker state changed', { sdkComponent: 'worker', taskQueue: 'lifecycle', state: 'DRAINING' });
  expect(lines()).toMatchObject([{ task_queue: 'lifecycle', state: 'DRAINING' }]);
});

test('what waits for a person, and what a refusal blames on us, stays a warning', () => {
  const { sdk, lines } = logOf('info');
  const parked = ApplicationFailure.create({ type: 'parked', message: 'closePeriod: broken', nonRetryable: true });
  sdk.warn('Activity failed', { error: parked });
  sdk.warn('Activity failed', { error: refuse('internal_error', 'closePeriod failed') });
  expect(lines()).toMatchObject([
    { level: 'warn', failure: 'parked' },
    { level: 'warn', failure: 'internal_error' },
  ]);
});

test('no secret gets into a line: not by a message, not by an error, not by what a workflow threw', () => {
  const key = 'sk_01M809W1NC7XH1Q7VRRCD5T1G3';
  const { sdk, logger, lines } = logOf('info');
  const ofWorkflow = runInNewContext(`new Error('no customer for ${key}')`);
  sdk.warn(`called with ${key}`, { error: new Error(`postgres://app:hunter2@db/perennial does not answer`) });
  sdk.error('Workflow failed', { error: ofWorkflow });
  sdk.error('Core failed', { sdkComponent: 'core', target: 'temporal_client', error: `Status with ${key}` });
  logger.error({ err: Object.assign(new Error('insert … values (1) - bad: "x"'), { code: '22P02' }) }, 'failed');
  const text = JSON.stringify(lines());
  expect(text).not.toMatch(/sk_01M|hunter2|values \(1\)/);
  expect(lines()[1]).toMatchObject({ err: { type: 'Error', message: 'no customer for [redacted]' } });
  expect(lines()[2]).toMatchObject({ component: 'core', target: 'temporal_client', reason: 'Status with [redacted]' });
});

test('the lines of the Rust core go the same way, and metrics are served where METRICS_ADDRESS says', () => {
  const logger = workerLogger({ level: 'info' });
  expect(runtimeOptions({ logger, metricsAddress: '0.0.0.0:9464' })).toMatchObject({
    telemetryOptions: { logging: { forward: {} }, metrics: { prometheus: { bindAddress: '0.0.0.0:9464' } } },
  });
  expect(runtimeOptions({ logger, metricsAddress: null }).telemetryOptions).not.toHaveProperty('metrics');
});
