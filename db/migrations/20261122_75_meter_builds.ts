import { Migration } from '@mikro-orm/migrations';

/**
 * What the filters of a meter were at every time, and the version of a meter that is being built beside the one in force. While
 * it is built, writers add their events to both; the build adds those before `boundary` and has come to `position`.
 * design: usage.md Closing and afterwards
 */
export class Migration20261122_75_meter_builds extends Migration {
  override up(): void {
    for (const text of [...tables, note, ...triggers, backfill]) this.addSql(text);
    for (const table of ['meter_version', 'meter_build']) {
      const setting = `current_setting('perennial.environment_id', true)`;
      const own = `env = (select number from public.environment where id = ${setting}) or (select ${setting}) = '*'`;
      this.addSql(`alter table usage.${table} enable row level security`);
      this.addSql(`create policy ${table}_scope on usage.${table} using (${own}) with check (${own})`);
    }
  }
}

const tables = [
  // txid decides whether a version was in force at a watermark.
  `create table usage.meter_version (
    env int not null, meter int not null, version int not null, filters jsonb not null, txid xid8 not null,
    since timestamptz not null, primary key (env, meter, version))`,
  `create table usage.meter_build (
    env int not null, meter int not null, meter_id text not null, version int not null, filters jsonb not null,
    position bigint not null default 0, boundary bigint not null, asked_at timestamptz not null default now(),
    primary key (env, meter))`,
];

const note = `
create function usage.note_meter_version() returns trigger language plpgsql as $$
begin
  insert into usage.meter_version (env, meter, version, filters, txid, since)
  select number, new.number, new.version, new.filters, pg_current_xact_id(), now() from public.environment where id = new.environment_id
  on conflict do nothing;
  return null;
end $$`;

const triggers = [
  `create trigger usage_meter_created_version after insert on public.meter for each row execute function usage.note_meter_version()`,
  `create trigger usage_meter_changed_version after update of version on public.meter for each row
    when (old.version is distinct from new.version) execute function usage.note_meter_version()`,
];

const backfill = `
insert into usage.meter_version (env, meter, version, filters, txid, since)
select e.number, m.number, m.version, m.filters, '3'::xid8, m.created_at from public.meter m join public.environment e on e.id = m.environment_id`;
