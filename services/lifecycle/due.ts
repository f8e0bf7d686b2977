import { instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { lastTypesText } from './lifecycle-types.ts';

/** An object on a test clock that has something to do. */
export interface DueObject {
  objectType: string;
  objectId: string;
  customerId: string;
  dueAt: string;
  /** How far it may go on by itself, instant after instant, before the others of the clock are looked at again. */
  through: string;
}

/** From the notice of a renewal, a day before a period ends, until that period's invoice is finalized and charged. */
const aheadHours = 26;

/**
 * The objects of a clock that act next, up to `until`: those whose first entry is the earliest of all act at that instant, together.
 * A subscription that shares nothing with another object that is due within the next `aheadHours`, no customer, payer, parent,
 * child or wallet, also goes on alone through these hours, unless usage is watched, which is looked at instant by instant: it is the
 * same whether another acted before it or after, and one message does instead of three. Wallets act after everything else of their
 * instant: an invoice that is finalized then still uses the credits that leave then. Parked objects wait for a person and hold nobody
 * up. design: architecture §4
 */
export async function nextDue(sql: Sql, scope: Scope, testClockId: string, until: string): Promise<DueObject[]> {
  const rows = await sql.rows<RawDueObject>(dueText, [scope.environmentId, testClockId, until], 'due-on-clock');
  return rows.map((row) => ({
    objectType: row.object_type,
    objectId: row.object_id,
    customerId: row.customer_id,
    dueAt: instantText(row.due_at),
    through: instantText(row.through),
  }));
}

interface RawDueObject {
  object_type: string;
  object_id: string;
  customer_id: string;
  due_at: string;
  through: string;
  [column: string]: unknown;
}

const dueText = `with pending as (
    select a.object_type, a.object_id, a.customer_id, min(a.due_at) as due_at
    from agenda_entry a
    where a.environment_id = $1 and a.test_clock_id = $2 and a.due_at <= $3
      and not exists (select 1 from parked_object o where o.environment_id = a.environment_id and o.object_type = a.object_type and o.object_id = a.object_id)
    group by a.object_type, a.object_id, a.customer_id),
  span as (
    select min(due_at) as first_at, least(min(due_at) + interval '${aheadHours} hours', $3) as last_at from pending),
  near as (
    select p.*, span.first_at, span.last_at, s.invoicing_customer_id as payer_id,
      coalesce(not s.in_hierarchy and s.invoicing_customer_id = s.customer_id, false) as standalone
    from span join pending p on p.due_at <= span.last_at
    left join subscription s on p.object_type = 'subscription' and s.environment_id = $1 and s.id = p.object_id),
  shared as (
    select customer_id from (
      select object_id, customer_id from near union select object_id, payer_id from near where payer_id is not null) touched
    group by customer_id having count(*) > 1),
  marked as (
    select near.*, standalone and customer_id not in (select customer_id from shared)
      and not exists (select 1 from wallet w where w.environment_id = $1 and w.customer_id = near.customer_id and w.wallet_status <> 'closed' and w.status = 'published')
      and not exists (select 1 from usage.watched_environment u join environment e on e.number = u.env where e.id = $1) as alone from near)
  select object_type, object_id, customer_id, due_at, case when alone then last_at else first_at end as through
  from marked where alone or (due_at = first_at and (object_type not in (${lastTypesText}) or not exists (
    select from marked m where m.due_at = m.first_at and m.object_type not in (${lastTypesText})))) order by due_at, object_id`;
