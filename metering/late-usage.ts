import { decimal, decimalString } from '../billing/money/money.ts';
import type { LateUsageReader } from '../services/usage-reader.ts';
import { isDroppedRefusal } from './postgres/retention.ts';
import { bucketQuestion } from './usage-reader.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * What came after the watermark of each window: what its meter answers now less what it answers at the watermark, both
 * under the meter's definition of now, so that only late and voided events differ. Nothing once
 * retention dropped events of them. Every window is asked in one call.
 * spec: README decision 11, catalogue-and-metering §14
 */
export function lateUsageReader(store: UsageStore): LateUsageReader {
  return async (sql, scope, windows) => {
    const questions = windows.flatMap(
      ({ key, meterId, customerId, inherited, from, to, filters, watermark, bucketing }) => {
        const question = {
          meterId,
          customerIds: [customerId],
          ...(inherited?.length ? { inherited } : {}),
          from,
          to,
          ...(filters ? { filters } : {}),
          ...bucketQuestion(bucketing),
        };
        return [
          { ...question, key: `now ${key}` },
          { ...question, key: `then ${key}`, watermark },
        ];
      },
    );
    const answers = await store.usage(sql, scope, questions).catch((error: unknown) => {
      if (isDroppedRefusal(error)) return null;
      throw error;
    });
    if (!answers) return new Map();
    const voided = await store.countVoided(sql, scope, windows);
    const answerOf = (key: string) => {
      const answer = answers.get(key);
      if (!answer) throw new Error(`usage question ${key} has no answer`);
      return answer;
    };
    return new Map(
      windows.map(({ key }) => {
        const now = answerOf(`now ${key}`);
        const then = answerOf(`then ${key}`);
        const quantity = decimalString(decimal(now.value).minus(then.value));
        const voidedCount = voided.get(key) ?? 0;
        return [key, { eventCount: now.eventCount - then.eventCount + voidedCount, voidedCount, quantity }];
      }),
    );
  };
}
