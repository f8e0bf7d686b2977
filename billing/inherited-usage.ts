import type { UsageAnswer } from './charge.ts';
import { decimal, decimalString, sum } from './money.ts';

/**
 * The usage of a parent and its inherited children as one quantity, which is priced as if one customer had used it: sums, and
 * bucket by bucket where usage has buckets. spec: subscriptions-and-invoicing §2.13
 */
export function rolledUp(answers: readonly UsageAnswer[]): UsageAnswer {
  const [own] = answers;
  if (answers.length === 1) return own!;
  const quantity = decimalString(sum(answers.map((answer) => decimal(answer.quantity))));
  if (!answers.some(({ buckets }) => buckets)) return { ...own, quantity };
  const rows = answers.flatMap(({ buckets }) => buckets ?? []);
  const byBucket = Map.groupBy(rows, ({ start, group }) => `${start} ${group}`);
  const buckets = [...byBucket.keys()].sort().map((key) => {
    const same = byBucket.get(key)!;
    return { ...same[0]!, value: decimalString(sum(same.map(({ value }) => decimal(value)))) };
  });
  return { ...own, quantity, buckets };
}
