import { ActivityFailure, ApplicationFailure } from '@temporalio/common';

/** Whatever a command threw as a failure that fits through an Update: a plain error in a handler would block the workflow. */
export function asFailure(name: string, error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) return error.cause;
  return ApplicationFailure.nonRetryable(`${name} failed: ${reasonOf(error)}`, 'internal_error');
}

/** What a person is told of an error, in a line. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure && error.cause ? error.cause : error;
  return cause instanceof Error ? cause.message.slice(0, 500) : String(cause).slice(0, 500);
}
