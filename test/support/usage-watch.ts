import { afterAll, vi } from 'vitest';
import { usageLooks } from '../../activities/alert/usage-look.ts';
import { usageEvaluator } from '../../activities/usage-rules.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { nextMarkAt, takeUpDated } from '../../metering/postgres/due-mark.ts';
import { openPostgresUsageStore } from '../../metering/postgres/usage-store.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import type { TestPlatform } from './billing.ts';

/**
 * Gives a function that looks at every customer that is marked in real time, by the evaluators of the workers, until no mark is left. The
 * usage watch of the environment does the same, and pauses for a second between two looks, which no test has to wait for.
 */
export function usageWatch({ base: { database, scope }, temporal }: Pick<TestPlatform, 'base' | 'temporal'>) {
  const metering = openPostgresUsageStore(database);
  afterAll(() => metering.close());
  const onFailure = (_customerId: string, error: unknown) => {
    throw error;
  };
  const readUsage = usageReader(metering);
  const evaluator = usageEvaluator({ database, readUsage, temporal: temporal.client, onFailure });
  const looks = usageLooks({ database, evaluators: [evaluator] });
  const lookAtAll = async () => {
    await inSqlTransaction(database, scope, (tx) => takeUpDated(tx, scope, 'now', new Date().toISOString()));
    for (const name of await looks.due(scope, 'now')) while ((await looks.look(scope, name, 'now')) > 0);
    const next = await inSqlTransaction(database, scope, (tx) => nextMarkAt(tx, scope));
    if (next !== null) throw new Error(`a mark waits until ${next}`);
  };
  return () => vi.waitFor(lookAtAll, { timeout: 30_000, interval: 50 });
}
