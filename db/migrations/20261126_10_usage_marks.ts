import { Migration } from '@mikro-orm/migrations';

/**
 * Marks that carry money: how much usage since the last look can have cost at most, and how much may be spent before an evaluator
 * would find something new. Each evaluator keeps its own look at a customer, so marks are compared and never taken away from one that
 * works. Usage that begins to count later is dated, on the clock that its customer lives by. design: money-in §1 The trigger,
 * money-in-wallets findings 15, 55, 57
 */
export class Migration20261126_10_usage_marks extends Migration {
  override up(): void {
    for (const text of [...tables, moveMarks]) this.addSql(text);
    for (const table of ['mark', 'look', 'dated_mark', 'payer', 'meter_ceiling']) {
      const setting = `current_setting('perennial.environment_id', true)`;
      const own = `env = (select number from public.environment where id = ${setting}) or (select ${setting}) = '*'`;
      this.addSql(`alter table usage.${table} enable row level security`);
      this.addSql(`create policy ${table}_scope on usage.${table} using (${own}) with check (${own})`);
    }
    this.addSql('drop function usage.mark_customers(text, text[], timestamptz)');
    this.addSql('drop table usage.dirty_customer');
    for (const text of [markCustomers, ...payers, ...ceilings, subscriptionsPaid]) this.addSql(text);
  }
}

// `spent` only grows; `look_at` is the level of it at which some evaluator looks. `moved` is the last generation that was marked by
// something else than usage. A process that may hold back marks of a customer says so by `hot_until`.
const tables = [
  `create table usage.mark (
    env int not null, subject bigint not null, generation bigint not null default 1, moved bigint not null default 0,
    spent numeric not null default 0, look_at numeric not null default 0, looked_at timestamptz not null default '-infinity',
    hot_until timestamptz not null default '-infinity', due_at timestamptz not null,
    primary key (env, subject)) with (fillfactor = 50)`,
  'create index mark_due on usage.mark (env, due_at, looked_at)',
  `create table usage.look (
    env int not null, subject bigint not null, evaluator text not null, generation bigint not null, look_at numeric not null,
    looked_at timestamptz not null, again_at timestamptz null, primary key (env, subject, evaluator)) with (fillfactor = 70)`,
  `create table usage.dated_mark (
    env int not null, clock text not null, due_at timestamptz not null, subject bigint not null,
    primary key (env, clock, due_at, subject))`,
  'create table usage.payer (env int not null, subject bigint not null, payer bigint not null, primary key (env, subject, payer))',
  'create table usage.meter_ceiling (env int not null, meter int not null, ceiling numeric not null)',
  'create index meter_ceiling_meter on usage.meter_ceiling (env, meter, ceiling)',
];

const moveMarks = `
with kept as (
  insert into usage.mark (env, subject, moved, due_at)
  select env, subject, 1, now() from usage.dirty_customer where due_at <= now() group by env, subject)
insert into usage.dated_mark (env, clock, due_at, subject) select env, '', due_at, subject from usage.dirty_customer where due_at > now()`;

// Customers whose balances moved without events. Those who never sent any get the short key that events would have given them.
const markCustomers = `
create function usage.mark_customers(marked_environment text, customer_ids text[]) returns int language plpgsql as $$
declare
  watched int := (select w.env from usage.watched_environment w join public.environment e on e.number = w.env where e.id = marked_environment);
  marked int;
begin
  if watched is null then return 0; end if;
  perform usage.make_subjects(watched, marked_environment, customer_ids);
  insert into usage.mark as m (env, subject, moved, due_at)
    with moved as (
      select s.number from public.customer c join usage.subject s on s.env = watched and s.external_id = c.external_id and s.holder is null
      where c.environment_id = marked_environment and c.id = any(customer_ids) and c.status = 'published')
    select watched, subject, 1, now() from (
      select number as subject from moved union select p.payer from usage.payer p join moved on p.env = watched and p.subject = moved.number) marked
    order by subject
    on conflict (env, subject) do update set generation = m.generation + 1, moved = m.generation + 1,
      due_at = least(m.due_at, greatest(now(), m.looked_at + interval '1 second'));
  get diagnostics marked = row_count;
  return marked;
end $$`;

// Customers who answer for usage of another: the customer of the subscription that it inherits from, and those who pay.
const payers = [
  `create function usage.make_subjects(of_env int, of_environment text, customer_ids text[]) returns void language sql as $$
  insert into usage.subject (env, external_id)
    select of_env, c.external_id from public.customer c where c.environment_id = of_environment and c.id = any(customer_ids)
      and c.status = 'published' and not exists (
        select from usage.subject s where s.env = of_env and s.external_id = c.external_id and s.holder is null)
    order by c.external_id on conflict (env, external_id) where holder is null do nothing $$`,
  `create function usage.keep_payers(of_environment text, subscription_ids text[]) returns void language plpgsql as $$
declare
  of_env int := (select number from public.environment where id = of_environment);
  asked text[];
  answering text[];
begin
  select array_agg(a.asked), array_agg(a.answering) into asked, answering from (
    select distinct s.customer_id as asked, p.id as answering
    from public.subscription s left join public.subscription o on o.environment_id = s.environment_id and o.id = s.parent_subscription_id
    cross join lateral unnest(array[s.invoicing_customer_id, o.customer_id, o.invoicing_customer_id]) as p(id)
    where s.environment_id = of_environment and (s.id = any(subscription_ids) or s.parent_subscription_id = any(subscription_ids))
      and p.id <> s.customer_id) a;
  if asked is null then return; end if;
  perform usage.make_subjects(of_env, of_environment, asked || answering);
  insert into usage.payer (env, subject, payer)
    select distinct of_env, child.number, payer.number from unnest(asked, answering) as a(asked, answering)
    join public.customer c on c.id = a.asked join usage.subject child on child.env = of_env and child.external_id = c.external_id and child.holder is null
    join public.customer p on p.id = a.answering join usage.subject payer on payer.env = of_env and payer.external_id = p.external_id and payer.holder is null
    order by 2, 3 on conflict do nothing;
end $$`,
  `create function usage.payers_of_subscription() returns trigger language plpgsql as $$
begin
  perform usage.keep_payers(new.environment_id, array[new.id]);
  return null;
end $$`,
  `create function usage.payers_of_customer() returns trigger language plpgsql as $$
begin
  perform usage.keep_payers(new.environment_id, array(select s.id from public.subscription s where s.environment_id = new.environment_id
    and (s.customer_id = new.id or s.invoicing_customer_id = new.id) and s.subscription_status <> 'cancelled'));
  return null;
end $$`,
  `create trigger usage_payers_made_kept after insert on public.subscription for each row
   when (new.invoicing_customer_id <> new.customer_id or new.parent_subscription_id is not null) execute function usage.payers_of_subscription()`,
  `create trigger usage_payers_changed_kept after update of customer_id, invoicing_customer_id, parent_subscription_id on public.subscription for each row
   when ((old.customer_id, old.invoicing_customer_id, old.parent_subscription_id) is distinct from
     (new.customer_id, new.invoicing_customer_id, new.parent_subscription_id)) execute function usage.payers_of_subscription()`,
  `create trigger usage_payers_renamed_kept after update of external_id on public.customer for each row
   when (old.external_id <> new.external_id) execute function usage.payers_of_customer()`,
  `select usage.keep_payers(environment_id, array_agg(id)) from public.subscription
   where invoicing_customer_id <> customer_id or parent_subscription_id is not null group by environment_id`,
];

// The most that one more unit of a meter can cost, infinite where a unit can change the cost of others. It only grows: a price that is
// gone makes for looks that were not needed. Prices are added without waiting for each other, so the greatest row holds.
const ceilings = [
  `create function usage.unit_ceiling(price public.price) returns numeric language sql immutable as $$
  select case
    when price.price_unit_type <> 'FIAT' or price.min_quantity > 0 then 'Infinity'
    when price.billing_model = 'FLAT_FEE' then coalesce(price.amount, 0)
    when price.billing_model = 'PERCENTAGE' then coalesce(price.percentage_rate, 0) / 100
    when price.billing_model = 'TIERED' and price.tier_mode = 'SLAB' and not exists (
      select from jsonb_array_elements(price.tiers) t where coalesce((t ->> 'flat_amount')::numeric, 0) <> 0)
      then (select coalesce(max((t ->> 'unit_amount')::numeric), 0) from jsonb_array_elements(price.tiers) t)
    else 'Infinity' end $$`,
  `create function usage.raise_ceiling(price public.price) returns void language sql as $$
  insert into usage.meter_ceiling (env, meter, ceiling)
  select e.number, m.number, c.ceiling from public.environment e join public.meter m on m.environment_id = e.id
  cross join lateral (select usage.unit_ceiling(price) * greatest(coalesce((m.aggregation ->> 'multiplier')::numeric, 1), 1) as ceiling) c
  where e.id = price.environment_id and m.id = price.meter_id and c.ceiling > 0 and not exists (
    select from usage.meter_ceiling k where k.env = e.number and k.meter = m.number and k.ceiling >= c.ceiling) $$`,
  `create function usage.ceiling_of_price() returns trigger language plpgsql as $$
begin
  perform usage.raise_ceiling(new);
  return null;
end $$`,
  `create trigger usage_ceiling_kept after insert or update of amount, tiers, billing_model, tier_mode, percentage_rate, min_quantity, meter_id
   on public.price for each row when (new.meter_id is not null) execute function usage.ceiling_of_price()`,
  `select usage.raise_ceiling(p) from public.price p where p.meter_id is not null`,
];

// Looks ask for what a customer pays.
const subscriptionsPaid =
  'create index "subscription_environment_id_invoicing_customer_id_index" on "subscription" ("environment_id", "invoicing_customer_id")';
