import { Migration } from '@mikro-orm/migrations';

/**
 * Events that no meter counted, kept with the reason where the environment asks for it, and when each kind of them was last
 * told. The setting is part of what a writer caches, so a batch pays nothing while it is off.
 * spec: catalogue-and-metering §6.6
 */
export class Migration20261122_16_event_rejection extends Migration {
  override up(): void {
    for (const text of tables) this.addSql(text);
    this.addSql(settingTrigger);
    for (const table of ['rejected_event', 'rejection_notice']) this.protect(table);
  }

  private protect(table: string): void {
    const setting = `current_setting('perennial.environment_id', true)`;
    const own = `env = (select number from public.environment where id = ${setting}) or (select ${setting}) = '*'`;
    this.addSql(`alter table usage.${table} enable row level security`);
    this.addSql(`create policy ${table}_scope on usage.${table} using (${own}) with check (${own})`);
  }
}

const tables = [
  `create table usage.rejected_event (
    env int not null, seq bigint not null, key uuid not null, event_id text, event_name int not null, subject bigint not null,
    ts timestamptz not null, rejected_at timestamptz not null, reason text not null, primary key (env, seq))`,
  `create table usage.rejection_notice (
    env int not null, event_name int not null, reason text not null, noticed_at timestamptz not null,
    primary key (env, event_name, reason))`,
];

const settingTrigger = `
create function usage.rejection_setting_changed() returns trigger language plpgsql as $$
begin
  perform usage.raise_catalogue_version(case when tg_op = 'DELETE' then old.environment_id else new.environment_id end);
  return null;
end $$;
create trigger usage_rejection_set after insert or update on public.setting for each row
  when (new.key = 'event_rejection_config') execute function usage.rejection_setting_changed();
create trigger usage_rejection_unset after delete on public.setting for each row
  when (old.key = 'event_rejection_config') execute function usage.rejection_setting_changed()`;
