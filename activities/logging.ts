import { types } from 'node:util';
import type { Logger as SdkLogger } from '@temporalio/common';
import type { RuntimeOptions } from '@temporalio/worker';
import { type DestinationStream, type Logger, pino } from 'pino';
import { statusOfCode } from '../billing/refusal.ts';
import { describeError, withoutSecrets } from '../db/error-description.ts';

/**
 * The log of a worker process: JSON lines of the same form as the API's, with `process: worker`. Errors are described by an
 * allow-list, so that no statement or secret gets into them. spec: platform §23 Logs
 */
export function workerLogger(options: { level: string; stream?: DestinationStream }): Logger {
  const settings = {
    level: options.level,
    base: { process: 'worker' },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => ({ ...describeError(error) }) },
  };
  return options.stream ? pino(settings, options.stream) : pino(settings);
}

/**
 * What Temporal's runtime is installed with: its lines, those of its Rust core included, go to `logger`, and it serves its
 * metrics for Prometheus on `metricsAddress` (`host:port`) unless that is null. The caller handles signals of shutdown by it.
 */
export function runtimeOptions(options: { logger: Logger; metricsAddress: string | null }): RuntimeOptions {
  const bindAddress = options.metricsAddress;
  return {
    shutdownSignals: ['SIGINT', 'SIGTERM'],
    logger: runtimeLogger(options.logger),
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(bindAddress === null ? {} : { metrics: { prometheus: { bindAddress } } }),
    },
  };
}

type Attributes = Record<string | symbol, unknown>;

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Temporal's logger interface over ours. An expected refusal is an answer and no fault: its line has the level debug. */
export function runtimeLogger(logger: Logger): SdkLogger {
  const log: SdkLogger['log'] = (sdkLevel, message, attributes: Attributes = {}) => {
    const failure = failureIn(attributes.error);
    const level = failure !== null && isExpected(failure) ? 'debug' : levels[sdkLevel];
    if (!logger.isLevelEnabled(level)) return;
    logger[level]({ ...fieldsOf(attributes), ...(failure === null ? {} : { failure }) }, withoutSecrets(message));
  };
  return {
    log,
    trace: (message, attributes) => log('TRACE', message, attributes),
    debug: (message, attributes) => log('DEBUG', message, attributes),
    info: (message, attributes) => log('INFO', message, attributes),
    warn: (message, attributes) => log('WARN', message, attributes),
    error: (message, attributes) => log('ERROR', message, attributes),
  };
}

// The SDK's attributes that are logged, by the names they have here. The task token is a credential: it is not among them.
const fieldNames: Record<string, string> = {
  sdkComponent: 'component',
  target: 'target',
  workflowId: 'workflow_id',
  workflowRunId: 'run_id',
  runId: 'run_id',
  workflowType: 'workflow_type',
  activityId: 'activity_id',
  activityType: 'activity_type',
  attempt: 'attempt',
  taskQueue: 'task_queue',
  durationMs: 'duration_ms',
  state: 'state',
};

function fieldsOf(attributes: Attributes): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fieldNames)) {
    const value = attributes[name];
    if (typeof value === 'string') fields[field] = withoutSecrets(value);
    else if (typeof value === 'number') fields[field] = value;
  }
  // The core says what went wrong as text.
  const { error } = attributes;
  if (typeof error === 'string') fields.reason = withoutSecrets(error);
  else if (error !== undefined) fields.err = error;
  return fields;
}

/** The type of the first failure in an error that has one: a refusal's code, or `parked`. */
function failureIn(error: unknown): string | null {
  // An error of a workflow is of another realm, where `instanceof` is false.
  for (let cause = error; types.isNativeError(cause); cause = cause.cause) {
    const { type } = cause as { type?: unknown };
    if (typeof type === 'string') return type;
  }
  return null;
}

function isExpected(failure: string): boolean {
  const status: number = (statusOfCode as Record<string, number>)[failure] ?? 500;
  return status < 500 || failure === 'not_implemented';
}
