import type { Bucketing } from '../billing/derivation.ts';
import type { UsageReader } from '../db/usage-reader.ts';
import type { UsageQuestion, UsageStore } from './usage-store.ts';

/**
 * The usage engine as billing asks it: the same function that dashboards use, inside the transaction that bills. The answer
 * for usage with buckets has their rows. design: usage.md Reading
 */
export function usageReader(store: UsageStore): UsageReader {
  return async (sql, scope, questions) => {
    const answers = await store.usage(
      sql,
      scope,
      questions.map(({ key, meterId, customerId, from, to, filters, bucketSize, timezone, billingAnchor }) => ({
        key,
        meterId,
        customerIds: [customerId],
        from,
        to,
        bucketSize,
        timezone,
        billingAnchor,
        ...(filters ? { filters } : {}),
      })),
    );
    return new Map(
      [...answers].map(([key, { value, watermark, buckets }]) => [
        key,
        { quantity: value, watermark, ...(buckets ? { buckets: [...buckets] } : {}) },
      ]),
    );
  };
}

/** How a line's derivation says its buckets were asked for, as members of a question. */
export function bucketQuestion(
  bucketing: Bucketing | null | undefined,
): Pick<UsageQuestion, 'bucketSize' | 'timezone' | 'billingAnchor'> {
  if (!bucketing) return {};
  const { size, timezone, billingAnchor } = bucketing;
  return { bucketSize: size, timezone, billingAnchor };
}
