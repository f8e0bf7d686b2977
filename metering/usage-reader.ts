import { refuse } from '../billing/refusal.ts';
import type { UsageReader } from '../db/usage-reader.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * The usage engine as billing asks it: the same function that dashboards use, inside the transaction that bills.
 * Throws `not_implemented` for a bucketed price, which needs the rows of every bucket. design: usage.md Reading
 */
export function usageReader(store: UsageStore): UsageReader {
  return async (sql, scope, questions) => {
    const bucketed = questions.find((question) => question.bucketSize !== null);
    if (bucketed)
      throw refuse(
        'not_implemented',
        `meter ${bucketed.meterId} is priced by buckets of ${bucketed.bucketSize}, which this release does not bill`,
      );
    const answers = await store.usage(
      sql,
      scope,
      questions.map(({ key, meterId, customerId, from, to, filters }) => ({
        key,
        meterId,
        customerIds: [customerId],
        from,
        to,
        ...(filters ? { filters } : {}),
      })),
    );
    return new Map([...answers].map(([key, answer]) => [key, { quantity: answer.value, watermark: answer.watermark }]));
  };
}
