import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { UsageQuestion } from '../usage-store.ts';

/** What of a meter decides how a question about it is read. */
export interface MeterShape {
  readonly bucketSize: string | null;
  readonly neverResets: boolean;
}

/** A meter's aggregation never changes after its creation, so what was found once stays true. spec: §5.2 */
const known = new Map<string, MeterShape>();
const maxKnown = 100_000;

/** The shapes of the meters of questions, by meter id; a meter that does not exist has none. */
export async function meterShapes(
  sql: Sql,
  scope: Scope,
  questions: readonly UsageQuestion[],
): Promise<ReadonlyMap<string, MeterShape>> {
  const missing = new Set<string>();
  for (const question of questions) {
    if ('meterId' in question && !known.has(question.meterId)) missing.add(question.meterId);
  }
  if (missing.size === 0) return known;
  const rows = await sql.rows<{ id: string; bucket_size: string | null; reset_usage: string }>(
    `select id, aggregation ->> 'bucket_size' as bucket_size, reset_usage from meter
     where environment_id = $1 and id = any($2)`,
    [scope.environmentId, [...missing]],
  );
  if (known.size + rows.length > maxKnown) known.clear();
  for (const row of rows) known.set(row.id, { bucketSize: row.bucket_size, neverResets: row.reset_usage === 'NEVER' });
  return known;
}
