import type pg from 'pg';

/**
 * What somebody would write by hand to give every subscription of a plan a new price, without this product: line item,
 * audit, event and version in set-based statements, two hundred subscriptions a transaction. It decides nothing: no
 * currency, cadence, override, end or clock is looked at, and nobody can see how far it is.
 */

const tables = ['subscription', 'subscription_line_item', 'audit_entry', 'outbox_event', 'outbox_sequence'];
const setSize = 200;

/** Copies of the tables, with their indexes and rows, in a schema of their own. */
export async function copyForPriceSync(owner: pg.Client): Promise<void> {
  await owner.query('create schema bench_hand');
  for (const table of tables) {
    await owner.query(`create table bench_hand.${table} (like public.${table} including all)`);
    await owner.query(`insert into bench_hand.${table} select * from public.${table}`);
  }
  await owner.query('analyze');
}

const next = `select array_agg(id) as ids from (
  select id from bench_hand.subscription where plan_id = $1 and id > $2 order by id limit ${setSize} for update) s`;
const insertItems = `
insert into bench_hand.subscription_line_item (id, tenant_id, environment_id, created_at, updated_at, subscription_id, customer_id,
  entity_type, entity_id, display_name, price_id, price_type, meter_id, currency, quantity, billing_period, invoice_cadence, start_date)
select gen_random_uuid()::text, s.tenant_id, s.environment_id, now(), now(), s.id, s.customer_id, 'plan', s.plan_id, p.display_name, p.id,
  p.type, p.meter_id, p.currency, 0, p.billing_period, p.invoice_cadence, greatest(s.start_date, p.start_date)
from bench_hand.subscription s join public.price p on p.id = $2 where s.id = any($1)`;
const advance = `
update bench_hand.subscription s set synced_price_sequence = p.sequence, version = version + 1, updated_at = now()
from public.price p where p.id = $2 and s.id = any($1)`;
const insertAudit = `
insert into bench_hand.audit_entry (tenant_id, environment_id, object_type, object_id, version, action, actor, occurred_at, recorded_at, detail)
select tenant_id, environment_id, 'subscription', id, version, 'prices synced', 'system', now(), now(), jsonb_build_object('created', $2::text)
from bench_hand.subscription where id = any($1)`;
const insertEvents = `
with taken as (
  insert into bench_hand.outbox_sequence (environment_id, entity_id, last) select environment_id, id, 1 from bench_hand.subscription where id = any($1)
  on conflict (environment_id, entity_id) do update set last = bench_hand.outbox_sequence.last + 1 returning entity_id, last
)
insert into bench_hand.outbox_event (id, tenant_id, environment_id, sequence, event_name, entity_type, entity_id, payload, occurred_at, created_at)
select gen_random_uuid()::text, s.tenant_id, s.environment_id, t.last, 'subscription.updated', 'subscription', s.id,
  jsonb_build_object('subscription', to_jsonb(s)), now(), now()
from bench_hand.subscription s join taken t on t.entity_id = s.id`;

/** Gives every subscription of the plan the price. */
export async function syncByHand(client: pg.Client, { planId, priceId }: { planId: string; priceId: string }) {
  for (let after = ''; ; ) {
    await client.query('begin');
    const { rows } = await client.query<{ ids: string[] | null }>(next, [planId, after]);
    const ids = rows[0]?.ids ?? [];
    if (ids.length > 0) {
      await client.query(insertItems, [ids, priceId]);
      await client.query(advance, [ids, priceId]);
      await client.query(insertAudit, [ids, priceId]);
      await client.query(insertEvents, [ids]);
    }
    await client.query('commit');
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
  }
}
