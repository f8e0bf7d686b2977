import type { AlertState } from '../../billing/alert/alert-state.ts';
import { decimalString } from '../../billing/money/money.ts';
import { realNow } from '../../db/clock.ts';
import { instantText } from '../../db/rows/columns.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import { balanceEvent, type OngoingBalance, type Present, type WatchedWallet } from '../ledger/wallet-alert.ts';
import { writeEvents } from '../platform/outbox.ts';

/** A balance that keeps moving is told this often. design: money-in-wallets finding 16 */
const toldEveryMs = 330_000;

interface ToldRow {
  id: string;
  version: number;
  alert_state: AlertState;
  balance: string | null;
  told_at: string | null;
  moved: boolean;
  [column: string]: unknown;
}

/**
 * Sends `wallet.ongoing_balance.updated` for locked wallets whose balance after usage is another than was told: at once after a ledger
 * entry or a change of the alert state, otherwise once in 330 s. The first balance is kept and not told. Answers when one is to be
 * told that waits. spec: wallets-and-payments §2.10; design: money-in-wallets finding 16
 */
export async function tellOngoingBalances(
  tx: ScopedSql,
  wallets: readonly WatchedWallet[],
  ongoing: ReadonlyMap<string, OngoingBalance>,
  present: Present,
): Promise<string | null> {
  if (wallets.length === 0) return null;
  const { environmentId, tenantId } = tx.scope;
  const rows = await tx.rows<ToldRow>(
    `select w.id, w.version, w.alert_state, t.balance, t.told_at,
       t.wallet_version is distinct from w.version or t.alert_state is distinct from w.alert_state as moved
     from wallet w left join ongoing_balance t on t.environment_id = w.environment_id and t.wallet_id = w.id
     where w.environment_id = $1 and w.id = any($2) order by w.id`,
    [environmentId, wallets.map(({ id }) => id)],
  );
  const now = realNow();
  const byId = new Map(wallets.map((wallet) => [wallet.id, wallet]));
  const changed = rows.filter((row) => row.balance === null || !ongoing.get(row.id)!.balance.equals(row.balance));
  const isDue = (row: ToldRow) => row.moved || present.isTestClock || toldAgainAt(row) <= now;
  const due = changed.filter(isDue);
  await tx.rows(
    `insert into ongoing_balance (environment_id, tenant_id, wallet_id, balance, wallet_version, alert_state, told_at)
     select $1, $2, t.*, $7 from unnest($3::text[], $4::numeric[], $5::int[], $6::text[]) as t
     on conflict (environment_id, wallet_id) do update set balance = excluded.balance, wallet_version = excluded.wallet_version,
       alert_state = excluded.alert_state, told_at = excluded.told_at`,
    [
      environmentId,
      tenantId,
      due.map(({ id }) => id),
      due.map(({ id }) => decimalString(ongoing.get(id)!.balance)),
      due.map(({ version }) => version),
      due.map(({ alert_state }) => alert_state),
      now,
    ],
  );
  const events = due
    .filter(({ balance }) => balance !== null)
    .map(({ id, alert_state: state }) =>
      balanceEvent('wallet.ongoing_balance.updated', byId.get(id)!, ongoing.get(id)!, {
        state,
        alertType: 'low_ongoing_balance',
        now: present.now,
      }),
    );
  await writeEvents(tx, tx.scope, events);
  const waiting = changed.filter((row) => !isDue(row)).map(toldAgainAt);
  return waiting.sort()[0] ?? null;
}

function toldAgainAt({ told_at }: ToldRow): string {
  return told_at === null ? '' : new Date(Date.parse(instantText(told_at)) + toldEveryMs).toISOString();
}
