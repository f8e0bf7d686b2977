import { percentageBaseStart } from '../../billing/alert/alert-state.ts';
import { type Decimal, decimal } from '../../billing/money/money.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { WatchedWallet } from './wallet-alert.ts';

/** Credits that percentages of a customer's wallets are of. */
export interface PercentageBases {
  /** By wallet id, in credits. */
  readonly credits: ReadonlyMap<string, Decimal>;
  /** Wallets that were given none for a whole period: their streams end. */
  readonly stale: ReadonlySet<string>;
}

/**
 * Completed credits of wallets since the earliest start of a current period of their customer, or ever. A wallet with none in the
 * period before either is stale. spec: wallets-and-payments §2.16 Percentage; design: money-in-wallets finding 40
 */
export async function percentageBases(
  sql: Sql,
  scope: Scope,
  wallets: readonly Pick<WatchedWallet, 'id' | 'customerId' | 'alerts'>[],
): Promise<PercentageBases> {
  const asked = wallets.filter(({ alerts }) => alerts.alert_enabled && alerts.alert_threshold_type === 'percentage');
  const credits = new Map<string, Decimal>();
  const stale = new Set<string>();
  for (const [customerId, own] of Map.groupBy(asked, (wallet) => wallet.customerId)) {
    const subscriptions = await sql.rows<PeriodRow>(
      `select subscription_status, current_period_start, current_period_end from subscription
       where environment_id = $1 and invoicing_customer_id = $2 and status = 'published' and subscription_status in ('active', 'trialing')`,
      [scope.environmentId, customerId],
    );
    const start = percentageBaseStart(subscriptions.map(periodOf));
    const ids = own.map(({ id }) => id);
    const since = await creditsSince(sql, scope, ids, start);
    const before = start && (await creditsSince(sql, scope, ids, periodBefore(subscriptions, start)));
    for (const id of ids) {
      credits.set(id, since.get(id) ?? decimal(0));
      if (before && !before.has(id)) stale.add(id);
    }
  }
  return { credits, stale };
}

interface PeriodRow {
  subscription_status: string;
  current_period_start: string;
  current_period_end: string;
  [column: string]: unknown;
}

function periodOf(row: PeriodRow) {
  return {
    subscriptionStatus: row.subscription_status,
    currentPeriodStart: instantText(row.current_period_start),
    currentPeriodEnd: instantText(row.current_period_end),
  };
}

/** Instant one period of the same length before the start. */
function periodBefore(subscriptions: readonly PeriodRow[], start: string): string {
  const ends = subscriptions.map(periodOf).filter(({ currentPeriodStart }) => currentPeriodStart === start);
  const lengthMs = Math.max(...ends.map(({ currentPeriodEnd }) => Date.parse(currentPeriodEnd) - Date.parse(start)));
  return new Date(Date.parse(start) - lengthMs).toISOString();
}

/** Day sums of whole days from `from` on, and of the day that a period begins in only the entries from its start on, by an index. */
const sinceText = `
select wallet_id, sum(credits) as credits from (
  select wallet_id, credits from wallet_credit_day where environment_id = $1 and wallet_id = any($2) and day >= ($4::timestamptz at time zone 'UTC')::date
  union all
  select wallet_id, credit_amount from wallet_transaction where wallet_id = any($2) and type = 'credit' and transaction_status = 'completed'
    and occurred_at >= $3 and occurred_at < $4
) credited group by wallet_id`;

const everText = `select wallet_id, sum(credits) as credits from wallet_credit_day where environment_id = $1 and wallet_id = any($2) group by wallet_id`;

/** Completed credits of wallets since an instant, or ever, by wallet id; none for a wallet without any. design: money-in-wallets finding 54 */
async function creditsSince(
  sql: Sql,
  { environmentId }: Scope,
  walletIds: readonly string[],
  start: string | null,
): Promise<Map<string, Decimal>> {
  const wallets = [environmentId, walletIds];
  const [text, values] = start === null ? [everText, wallets] : [sinceText, [...wallets, start, firstMidnight(start)]];
  const rows = await sql.rows<{ wallet_id: string; credits: string }>(text, values);
  return new Map(rows.map((row) => [row.wallet_id, decimal(decimalText(row.credits))]));
}

const dayMs = 86_400_000;

/** The first midnight in UTC that is not before an instant. */
function firstMidnight(instant: string): string {
  return new Date(Math.ceil(Date.parse(instant) / dayMs) * dayMs).toISOString();
}
