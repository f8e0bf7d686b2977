import { ApplicationFailure } from '@temporalio/common';

/** The published error codes with the status each answers. spec: platform §2.2 */
export const statusOfCode = {
  not_found: 404,
  already_exists: 409,
  version_conflict: 409,
  validation_error: 400,
  invalid_operation: 400,
  permission_denied: 403,
  http_client_error: 500,
  database_error: 500,
  system_error: 500,
  internal_error: 500,
  service_unavailable: 503,
  too_many_requests: 429,
  not_implemented: 501,
} as const;

export type RefusalCode = keyof typeof statusOfCode;

/** Machine-readable facts of a refusal; `fields` maps a wire field to what is wrong with it. spec: platform §2.3 */
export type RefusalDetails = Record<string, unknown>;

/**
 * The failure for everything a caller did wrong. It is a non-retryable ApplicationFailure whose type is the code, so it
 * crosses activity, workflow Update and API unchanged. The message names the field, what is wrong and what is accepted.
 *
 * Use as `throw refuse('validation_error', 'limit must be between 1 and 1000', { fields: { limit: '…' } })`.
 */
export function refuse(code: RefusalCode, message: string, details?: RefusalDetails): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message, nonRetryable: true, details: details ? [details] : [] });
}

/** The refusal inside an error, however many Temporal wrappers are around it; null when the error is a bug or an outage. */
export function refusalIn(
  error: unknown,
): { code: RefusalCode; message: string; details: RefusalDetails | undefined } | null {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ApplicationFailure && cause.type && cause.type in statusOfCode) {
      return {
        code: cause.type as RefusalCode,
        message: cause.message,
        details: cause.details?.[0] as RefusalDetails | undefined,
      };
    }
  }
  return null;
}
