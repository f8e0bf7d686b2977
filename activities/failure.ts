import type { Context, Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { refusalIn } from '../billing/refusal.ts';
import { withTellableText } from './failure-text.ts';

/** After so many tries a failure that is no outage waits for a person: the object is parked. */
const triesBeforeParking = 5;

const outageCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);
/** Of gRPC, which numbers them: cancelled, deadline exceeded, resource exhausted, unavailable. */
const grpcOutages = new Set([1, 4, 8, 14]);
// Connection exceptions, insufficient resources, operator intervention, serialization and deadlock.
const outageStates = /^(08|53|57P|40001|40P01)/;

/** True when trying again later can help without anybody doing anything: the database or a peer is away or overloaded. */
export function isOutage(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const given = (cause as { code?: unknown }).code;
    if (typeof given === 'number' && grpcOutages.has(given)) return true;
    const code = String(given ?? '');
    if (outageCodes.has(code) || outageStates.test(code)) return true;
    if (
      /connection (terminated|closed)|not queryable|timeout exceeded when trying to connect|server closed the connection|workflow task in failed state/i.test(
        cause.message,
      )
    )
      return true;
  }
  return false;
}

/**
 * Decides what becomes of an error in an activity: a refusal goes to the caller as it is, an outage is retried for as long
 * as it lasts, anything else ends the activity after a few tries. Of the latter two a history holds a text that quotes no row.
 * design: architecture §3
 */
export function activityFailure(error: unknown, info: Pick<Info, 'attempt' | 'activityType'>): unknown {
  const refusal = refusalIn(error);
  if (refusal) return error;
  const told = withTellableText(error);
  if (isOutage(error) || info.attempt < triesBeforeParking) return told;
  return ApplicationFailure.create({
    type: 'parked',
    message: `${info.activityType}: ${told.message}`,
    nonRetryable: true,
    cause: told,
  });
}

/** Puts every activity of a worker under the rule above and logs what is no refusal. */
export function failureInterceptor(context: Context): { inbound: ActivityInboundCallsInterceptor } {
  return {
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          if (!refusalIn(error) && withTellableText(error) !== error) {
            context.log.warn('an activity failed with a text that no history holds', { error });
          }
          throw activityFailure(error, context.info);
        }
      },
    },
  };
}
