import { instantText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { readItems } from '../../charging/charged-item.ts';
import { type PlannedProration, type ProrationRequest, planProration, settleProration } from './proration.ts';

/** A time of a line item of which something was given back. */
export interface CreditedTime {
  lineItemId: string;
  start: string;
  end: string;
}

/**
 * Gives back to the customer's prepaid wallet what was charged in advance for time that a pause or an end leaves unused, in the
 * transaction of that change. What the pause that is still open gave back is not given back once more.
 * spec: subscriptions-and-invoicing §2.8.2 pause, cancellation
 */
export async function creditUnused(
  sql: Sql,
  scope: Scope,
  request: Omit<ProrationRequest, 'ended' | 'started' | 'action'> & { action: 'pause' | 'cancellation' },
): Promise<{ planned: PlannedProration; returned: string }> {
  const { row, effectiveAt } = request;
  const items = (await readItems(sql, scope.environmentId, [row.id])).get(row.id) ?? [];
  const paused = row.activePauseId === '' ? [] : await creditedByPause(sql, scope.environmentId, row.activePauseId);
  const given = new Set(paused.filter((time) => time.end > effectiveAt).map((time) => time.lineItemId));
  // An item that begins later may have been charged in advance as well.
  const ended = items.filter(({ item }) => !given.has(item.id) && (item.endDate ?? '9999') > effectiveAt);
  const planned = await planProration(sql, scope, { ...request, ended, started: [] });
  const { returned } = await settleProration(sql, scope, planned);
  return { planned, returned };
}

/** The times of which a pause gave something back. spec: subscriptions-and-invoicing §2.11 Charge at resume */
export async function creditedByPause(sql: Sql, environmentId: string, pauseId: string): Promise<CreditedTime[]> {
  const rows = await sql.rows<{ subscription_line_item_id: string; period_start: string; period_end: string }>(
    `select r.subscription_line_item_id, min(r.period_start) as period_start, max(r.period_end) as period_end
     from subscription_pause p join subscription_proration r on r.environment_id = p.environment_id
       and r.subscription_id = p.subscription_id and r.action = 'pause' and r.effective_at = p.pause_start
     where p.environment_id = $1 and p.id = $2 and r.side = 'credit'
     group by r.subscription_line_item_id having sum(r.amount) > 0`,
    [environmentId, pauseId],
  );
  return rows.map((row) => ({
    lineItemId: row.subscription_line_item_id,
    start: instantText(row.period_start),
    end: instantText(row.period_end),
  }));
}
