import { Migration } from '@mikro-orm/migrations';

/**
 * The usage tables in a schema of their own: append-only events, the keys that make them unique, later copies, roll-ups
 * and distinct values. They are named SQL (metering/postgres), never mapped. design: usage.md Tables
 */
export class Migration20261121_02_usage extends Migration {
  override up(): void {
    this.addSql('create schema usage');
    for (const text of [...lookups, ...events, ...aggregates, ...valueFunctions, partitions, catalogueTriggers]) {
      this.addSql(text);
    }
    for (let part = 0; part < keyPartitions; part += 1) {
      this.addSql(
        `create table usage.event_key_${part} partition of usage.event_key for values with (modulus ${keyPartitions}, remainder ${part})`,
      );
      this.addSql(`alter table usage.event_key_${part} enable row level security`);
    }
    this.addSql('select usage.ensure_event_partitions(3)');
    for (const table of [
      'catalogue_state',
      'subject',
      'event_name',
      'event',
      'event_key',
      'event_copy',
      'rollup',
      'distinct_value',
    ]) {
      this.protect(table);
    }
  }

  /**
   * The scalar sub-queries run once a statement, not once a row, so the second wall costs one look-up. Partitions have
   * row-level security without a policy: they are reached through their parent only.
   */
  private protect(table: string): void {
    const setting = `current_setting('perennial.environment_id', true)`;
    const own = `env = (select number from public.environment where id = ${setting}) or (select ${setting}) = '*'`;
    this.addSql(`alter table usage.${table} enable row level security`);
    this.addSql(`create policy ${table}_scope on usage.${table} using (${own}) with check (${own})`);
  }
}

const keyPartitions = 8;

const lookups = [
  // Which version of an environment's meters and of the holders of external ids a writer's cache must have.
  'create table usage.catalogue_state (env int primary key, version bigint not null)',
  // A text that events name their customer with. `holder` null: the live row, which follows whoever holds the text now.
  // Set: the customer (customer.number) that gave the text up; the usage it gathered stays with it.
  `create table usage.subject (
    number bigint generated always as identity primary key,
    env int not null,
    holder bigint,
    external_id text not null)`,
  'create unique index subject_live on usage.subject (env, external_id) where holder is null',
  'create index subject_holder on usage.subject (env, holder) where holder is not null',
  `create table usage.event_name (
    env int not null, number int generated always as identity, name text not null, primary key (env, name))`,
];

const events = [
  // The only uniqueness of events. Keys are kept as long as the events (never less than 95 days).
  'create sequence usage.event_seq',
  `create table usage.event_key (
    env int not null, key uuid not null, seq bigint not null default nextval('usage.event_seq'), primary key (env, key)
  ) partition by hash (key)`,
  // Verbatim JSON text: numbers keep every digit. txid decides whether an event was visible to a past reading.
  `create table usage.event (
    seq bigint not null,
    txid xid8 not null default pg_current_xact_id(),
    subject bigint not null,
    ts timestamptz not null,
    ingested_at timestamptz not null,
    key uuid not null,
    env int not null,
    event_name int not null,
    event_id text,
    source text,
    props json
  ) partition by range (ingested_at)`,
  'create index event_subject on usage.event (env, subject, event_name, ts)',
  'create index event_order on usage.event using brin (seq, ts) with (pages_per_range = 32)',
  'create table usage.event_default partition of usage.event default',
  'alter table usage.event_default enable row level security',
  `create table usage.event_copy (
    env int not null, key uuid not null, ingested_at timestamptz not null, ts timestamptz not null,
    event_id text not null, external_customer_id text not null, event_name text not null, source text, props json)`,
  'create index event_copy_key on usage.event_copy (env, key, ingested_at desc)',
];

const aggregates = [
  // n events, s = Σ q, st = Σ q·epoch seconds; the latest value by (lt, li, lid) only where the meter asks for it.
  `create table usage.rollup (
    env int not null, meter int not null, version int not null, subject bigint not null, bucket timestamptz not null,
    group_key text collate "C" not null default '',
    n bigint not null, s numeric not null, st numeric not null, mx numeric not null, mn numeric not null,
    lt timestamptz, li timestamptz, lid text collate "C", lv numeric,
    primary key (env, meter, version, subject, bucket, group_key)
  ) with (fillfactor = 70)`,
  `create table usage.distinct_value (
    env int not null, meter int not null, version int not null, subject bigint not null, day date not null, h uuid not null,
    primary key (env, meter, version, subject, day, h))`,
];

// The value rules of §7.1 for raw rows; metering/property-value.ts has the same rules for ingestion, and a property test
// holds the two equal. spec: catalogue-and-metering §7.1
const valueFunctions = [
  `create function usage.is_unusable_number(t text) returns boolean immutable parallel safe language sql as
   $$ select length(t) > 10000 or t ~ '[eE][+-]?0*[1-9][0-9]{3,}$' $$`,
  // In plpgsql because PostgreSQL would not inline them: a call costs 3 µs instead of 25.
  `create function usage.text_form(v json) returns text immutable parallel safe language plpgsql as $$
  declare
    kind text := json_typeof(v);
    t text;
  begin
    if kind = 'string' then return v #>> '{}'; end if;
    if kind = 'boolean' then return v::text; end if;
    if kind is distinct from 'number' then return null; end if;
    t := v::text;
    if usage.is_unusable_number(t) then return t; end if;
    return trim_scale(t::numeric)::text;
  end $$`,
  `create function usage.quantity(v json) returns numeric immutable parallel safe language plpgsql as $$
  declare
    t text;
    q numeric;
  begin
    if v is null or json_typeof(v) not in ('number', 'string') then return 0; end if;
    t := v #>> '{}';
    if t ~ '^-?[0-9]{1,15}([.][0-9]{1,15})?$' then return t::numeric; end if;
    if t !~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' or usage.is_unusable_number(t) then return 0; end if;
    q := t::numeric;
    if abs(q) >= 1e30 then return 0; end if;
    return round(q, 15);
  end $$`,
  `create function usage.matches(props json, filters jsonb) returns boolean immutable parallel safe language plpgsql as $$
  declare
    filter jsonb;
  begin
    for filter in select value from jsonb_array_elements(filters) loop
      if not coalesce((filter -> 'values') ? usage.text_form(props -> (filter ->> 'key')), false) then return false; end if;
    end loop;
    return true;
  end $$`,
  `create function usage.digest(t text) returns uuid immutable strict parallel safe language sql as
   $$ select encode(substring(sha256(convert_to(t, 'UTF8')) from 1 for 16), 'hex')::uuid $$`,
];

// Partitions are by month of ingestion, in UTC. What the default partition caught is moved before the new one is attached.
const partitions = `
create function usage.ensure_event_partitions(ahead int) returns void language plpgsql security definer
set search_path = pg_catalog set timezone = 'UTC' as $$
declare
  first timestamptz; part text;
begin
  perform pg_advisory_xact_lock(7100, 0);
  for i in 0..ahead loop
    first := date_trunc('month', now()) + make_interval(months => i);
    part := 'event_' || to_char(first, 'YYYYMM');
    continue when to_regclass('usage.' || part) is not null;
    execute format('create table usage.%I (like usage.event including all)', part);
    execute format('alter table usage.%I enable row level security', part);
    execute format('with moved as (delete from usage.event_default where ingested_at >= %L and ingested_at < %L returning *)
      insert into usage.%I select * from moved', first, first + interval '1 month', part);
    execute format('alter table usage.event attach partition usage.%I for values from (%L) to (%L)',
      part, first, first + interval '1 month');
  end loop;
end $$`;

// Writers hold a shared lock of their environment while they use what they cached (metering/postgres/catalogue-cache.ts).
// Whoever changes a meter, or who holds an external id, waits for them and raises the version: nobody can miss it.
const catalogueTriggers = `
create function usage.raise_catalogue_version(environment_id text) returns int language plpgsql as $$
declare
  changed int;
begin
  select number into changed from public.environment where id = environment_id;
  if changed is null then return null; end if;
  perform pg_advisory_xact_lock(7101, changed);
  insert into usage.catalogue_state as state (env, version) values (changed, 1)
    on conflict (env) do update set version = state.version + 1;
  return changed;
end $$;
create function usage.meter_changed() returns trigger language plpgsql as $$
begin
  perform usage.raise_catalogue_version(new.environment_id);
  return null;
end $$;
create function usage.external_id_released() returns trigger language plpgsql as $$
declare
  changed int := usage.raise_catalogue_version(old.environment_id);
begin
  update usage.subject set holder = old.number
  where env = changed and external_id = old.external_id and holder is null;
  return null;
end $$;
create trigger usage_meter_created after insert on public.meter for each row execute function usage.meter_changed();
create trigger usage_meter_changed after update of version, event_name, aggregation, filters, status on public.meter
  for each row when (old is distinct from new) execute function usage.meter_changed();
create trigger usage_external_id_released after update of external_id, status on public.customer for each row
  when (old.status = 'published' and (new.status <> 'published' or new.external_id <> old.external_id))
  execute function usage.external_id_released()`;
