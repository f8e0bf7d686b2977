import { unpricedTime } from '../../billing/subscription/unpriced-time.ts';
import { instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { writeAudit } from '../platform/audit.ts';
import type { SubscriptionRow } from './subscription-row.ts';

interface TermRow {
  start_date: string;
  end_date: string | null;
  [column: string]: unknown;
}

/**
 * Notes in the timeline of a subscription that from `from` on none of its prices is in force in the current period, if so.
 * `at` is when it is told, on the customer's clock. The items are written before. spec: `warnings` is ours
 */
export async function noteUnpriced(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  { from, at }: { from: string; at: string },
): Promise<void> {
  const items = await sql.rows<TermRow>(
    "select start_date, end_date from subscription_line_item where environment_id = $1 and subscription_id = $2 and status = 'published'",
    [scope.environmentId, row.id],
  );
  const terms = items.map(({ start_date, end_date }) => ({
    start: instantText(start_date),
    end: end_date === null ? null : instantText(end_date),
  }));
  const gap = unpricedTime({ start: from, end: row.currentPeriodEnd }, terms);
  if (gap === null) return;
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: row.id,
      action: 'no price in force',
      occurredAt: at,
      detail: { from: gap.start, until: gap.end },
    },
  ]);
}
