import type { UsageAnswer as BillingAnswer } from '../billing/line/charge.ts';
import type { Bucketing } from '../billing/price/derivation.ts';
import type { UsageReader, UsageReadQuestion } from '../services/usage-reader.ts';
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
      questions
        .filter(({ eachEvent }) => !eachEvent)
        .map(({ bucketSize, timezone, billingAnchor, ...question }) => ({
          ...asked(question),
          bucketSize,
          timezone,
          billingAnchor,
        })),
    );
    const told = await store.eachEvent(
      sql,
      scope,
      questions.flatMap(({ eachEvent, ...question }) => (eachEvent ? [{ ...asked(question), begin: eachEvent }] : [])),
    );
    return new Map<string, BillingAnswer>([
      ...[...answers].map(([key, { value, watermark, buckets }]): [string, BillingAnswer] => [
        key,
        { quantity: value, watermark, ...(buckets ? { buckets: [...buckets] } : {}) },
      ]),
      ...[...told].map(([key, { fold, watermark }]): [string, BillingAnswer] => [
        key,
        // The line's own usage is a part of these events; what measures them knows which.
        { quantity: '0', watermark, granted: fold },
      ]),
    ]);
  };
}

function asked({ key, meterId, customerId, inherited, from, to, filters }: AskedQuestion) {
  const customers = { customerIds: [customerId], ...(inherited?.length ? { inherited } : {}) };
  return { key, meterId, ...customers, from, to, ...(filters ? { filters } : {}) };
}

type AskedQuestion = Pick<
  UsageReadQuestion,
  'key' | 'meterId' | 'customerId' | 'inherited' | 'from' | 'to' | 'filters'
>;

/** How a line's derivation says its buckets were asked for, as members of a question. */
export function bucketQuestion(
  bucketing: Bucketing | null | undefined,
): Pick<UsageQuestion, 'bucketSize' | 'timezone' | 'billingAnchor'> {
  if (!bucketing) return {};
  const { size, timezone, billingAnchor } = bucketing;
  return { bucketSize: size, timezone, billingAnchor };
}
