import { z } from 'zod';

const digest = z.string().max(2_000_000).nullish();

/** Of an execution. */
export const previewDigestInput = digest.describe(
  'Of a preview: exactly what it showed is done, or 409 version_conflict with the difference.',
);

/** Of an operation that shows what time or nobody executes. */
export const repeatedDigestInput = digest.describe(
  'Of an earlier answer to the same request, an hour old at most: the same lines are answered, or 409 version_conflict with the difference.',
);

export const previewDigestOutput = z
  .string()
  .describe('What was read and shown, for the request that is to be held to it.');

/** Of answers that are no previews each time. */
export const optionalDigestOutput = previewDigestOutput.nullable();
