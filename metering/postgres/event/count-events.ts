import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SeriesWindow } from '../../series-window.ts';
import type { EventCounts } from '../../usage-store.ts';
import { environmentNumber } from '../environment-number.ts';

/** How many events fall into each window, those without any left out. spec: catalogue-and-metering §6.1 GET /events/monitoring */
export async function countEvents(
  sql: Sql,
  scope: Scope,
  interval: { from: string; to: string },
  windows: readonly SeriesWindow[],
): Promise<EventCounts> {
  const env = await environmentNumber(sql, scope);
  const rows = await sql.rows<{ win: number; n: string }>(
    `select width_bucket(ts, $4::timestamptz[]) as win, count(*)::text as n from usage.event
     where env = $1 and ts >= $2 and ts < $3 group by win order by win`,
    [env, interval.from, interval.to, windows.map(({ start }) => start)],
  );
  const windowed = rows.flatMap(({ win, n }) => {
    const window = windows[win - 1];
    return window ? [{ timestamp: window.start, count: Number(n) }] : [];
  });
  return { total: rows.reduce((total, { n }) => total + Number(n), 0), windows: windowed };
}
