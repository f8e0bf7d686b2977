import { refuse } from '../billing/refusal.ts';
import type { UsageReader } from '../db/usage-reader.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * How billing reads this store: all questions of a transaction in one statement, inside that transaction. Bucketed
 * questions are refused with `not_implemented`: no meter can ask them yet (`refuseUnsupportedAggregation`).
 * spec: catalogue-and-metering §7.1; design: usage.md Reading
 */
export function usageReader(store: UsageStore): UsageReader {
  return async (sql, scope, questions) => {
    if (questions.some((question) => question.bucketSize !== null)) {
      throw refuse('not_implemented', 'aggregation.bucket_size is not supported yet');
    }
    const answers = await store.usage(
      sql,
      scope,
      questions.map((question) => ({
        key: question.key,
        meterId: question.meterId,
        customerIds: [question.customerId],
        from: question.from,
        to: question.to,
        ...(question.filters ? { filters: question.filters } : {}),
      })),
    );
    return new Map([...answers].map(([key, answer]) => [key, { quantity: answer.value, watermark: answer.watermark }]));
  };
}
