import { realNow } from '../../db/clock.ts';
import { instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql, TransactionEnd } from '../../db/transaction.ts';

/** A wallet whose agenda changed so that its workflow has to know. */
export interface WokenWallet {
  id: string;
  customerId: string;
  testClockId: string | null;
  /** Time of the test clock; null on real time. */
  clockTime: string | null;
  /** First instant of its agenda; null when nothing is left on it, so that a workflow that runs can end. */
  firstAt: string | null;
}

/** Customers whose wallets they are. */
type Owner = Pick<Scope, 'tenantId' | 'environmentId'>;

/** Changes to agendas of wallets that are made at the end of a transaction. */
interface NotedLots {
  walletIds: Set<string>;
  customerIds: Set<string>;
}

const noted = new WeakMap<TransactionEnd, NotedLots>();

let tell: (owner: Owner, wallets: readonly WokenWallet[]) => void = () => undefined;

/** Sets whom this process tells of wallets whose agendas changed, once the change has committed. One a process; the next replaces it. */
export function onWalletsWoken(told: (owner: Owner, wallets: readonly WokenWallet[]) => void): void {
  tell = told;
}

/**
 * Has the agendas of locked wallets agree with their lots when the transaction ends: an entry `expireLot` for each lot with an expiry
 * that something is left of, six hours after it, and none in a wallet that is not active. spec: wallets-and-payments §2.8
 */
export function noteLots(sql: Sql, owner: Owner, walletIds: readonly string[]): void {
  const work = notedOf(sql, owner);
  for (const id of walletIds) work?.walletIds.add(id);
}

/**
 * Has lots of these customers that are past their expiry looked at again now, when the transaction ends: it rolled a period, or
 * settled, voided or finalized an invoice, any of which may have held them. design: money-in-wallets finding 31
 */
export function releaseLots(sql: Sql, owner: Owner, customerIds: readonly string[]): void {
  const work = notedOf(sql, owner);
  for (const id of customerIds) work?.customerIds.add(id);
}

/** Null in a transaction that only reads. */
function notedOf(sql: Sql, owner: Owner): NotedLots | null {
  const { end } = sql;
  if (!end) return null;
  const known = noted.get(end);
  if (known) return known;
  const work: NotedLots = { walletIds: new Set(), customerIds: new Set() };
  noted.set(end, work);
  // Agendas of wallets first, marks of usage after them: whoever writes both locks them in one order.
  end.beforeCommit.unshift(() => writeNoted(sql, owner, work, end));
  return work;
}

async function writeNoted(sql: Sql, owner: Owner, work: NotedLots, end: TransactionEnd): Promise<void> {
  const values = (ids: ReadonlySet<string>) => [owner.environmentId, [...ids].sort(), realNow()];
  const changed =
    work.walletIds.size === 0 ? [] : await sql.rows<WokenRow>(agreeText, values(work.walletIds), 'lots-agree');
  const released =
    work.customerIds.size === 0 ? [] : await sql.rows<WokenRow>(releaseText, values(work.customerIds), 'lots-release');
  const woken = new Map([...changed, ...released].map((row) => [row.id, wokenWallet(row)]));
  if (woken.size > 0) end.afterCommit.push(() => tell(owner, [...woken.values()]));
}

interface WokenRow {
  id: string;
  customer_id: string;
  test_clock_id: string | null;
  frozen_time: string | null;
  first_at: string | null;
  [column: string]: unknown;
}

function wokenWallet(row: WokenRow): WokenWallet {
  return {
    id: row.id,
    customerId: row.customer_id,
    testClockId: row.test_clock_id,
    clockTime: row.frozen_time ? instantText(row.frozen_time) : null,
    firstAt: row.first_at ? instantText(row.first_at) : null,
  };
}

const entriesOf = `a.environment_id = $1 and a.object_type = 'wallet' and a.kind = 'expireLot'`;

// $1 the environment, $2 ids, $3 real time. Answers wallets that have something earlier to do than before, or nothing at all any more
// because they are not active.
const agreeText = `
with owner as (
  select w.id, w.tenant_id, w.customer_id, w.wallet_status = 'active' as is_active, c.test_clock_id, k.frozen_time
  from wallet w join customer c on c.id = w.customer_id left join test_clock k on k.id = c.test_clock_id
  where w.environment_id = $1 and w.id = any($2) and w.status = 'published'
), lot as (
  select owner.id as wallet_id, t.id as lot_id, owner.tenant_id, owner.customer_id, owner.test_clock_id,
    greatest(t.expiry_date + interval '6 hours', coalesce(owner.frozen_time, $3::timestamptz)) as due_at
  from owner join wallet_transaction t on t.wallet_id = owner.id
  where owner.is_active and t.credits_available > 0 and t.expiry_date is not null and t.transaction_status = 'completed'
), gone as (
  delete from agenda_entry a where ${entriesOf} and a.object_id = any($2) and not exists (
    select from lot where lot.lot_id = a.ref) returning a.object_id
), come as (
  insert into agenda_entry (environment_id, tenant_id, object_type, object_id, kind, ref, due_at, customer_id, test_clock_id)
  select $1, lot.tenant_id, 'wallet', lot.wallet_id, 'expireLot', lot.lot_id, lot.due_at, lot.customer_id, lot.test_clock_id
  from lot where not exists (select from agenda_entry a where ${entriesOf} and a.object_id = lot.wallet_id and a.ref = lot.lot_id)
  returning object_id, due_at
)
select owner.id, owner.customer_id, owner.test_clock_id, owner.frozen_time, come.first_at
from owner left join (select object_id, min(due_at) as first_at from come group by object_id) come on come.object_id = owner.id
  left join lateral (select min(a.due_at) as first_at from agenda_entry a where ${entriesOf} and a.object_id = owner.id) before on true
where come.first_at < coalesce(before.first_at, 'infinity')
  or (not owner.is_active and exists (select from gone where gone.object_id = owner.id))`;

// Entries are locked before they are looked at: one that is being performed may be held in a moment by what ends here.
const releaseText = `
with past as (
  select a.object_id, a.ref, a.due_at, a.customer_id, a.test_clock_id, k.frozen_time, coalesce(k.frozen_time, $3::timestamptz) as now
  from agenda_entry a join wallet_transaction t on t.id = a.ref left join test_clock k on k.id = a.test_clock_id
  where ${entriesOf} and a.customer_id = any($2) and t.expiry_date + interval '6 hours' <= coalesce(k.frozen_time, $3::timestamptz)
  order by a.object_id, a.ref for update of a
), released as (
  update agenda_entry a set due_at = past.now from past
  where ${entriesOf} and a.object_id = past.object_id and a.ref = past.ref and past.due_at > past.now returning a.object_id
)
select distinct on (past.object_id) past.object_id as id, past.customer_id, past.test_clock_id, past.frozen_time, past.now as first_at
from past join released on released.object_id = past.object_id`;
