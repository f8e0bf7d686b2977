import { Migration } from '@mikro-orm/migrations';

/**
 * Events in a foreign shape, as they came: what an event was made of, and what waits until the mapping of the environment
 * can read it. spec: catalogue-and-metering §6.1
 */
export class Migration20261122_40_raw_event extends Migration {
  override up(): void {
    const setting = `current_setting('perennial.environment_id', true)`;
    const own = `env = (select number from public.environment where id = ${setting}) or (select ${setting}) = '*'`;
    this.addSql(
      `create table usage.raw_event (
        env int not null, seq bigint generated always as identity, received_at timestamptz not null default now(),
        fallback_id text not null, payload json not null, key uuid, problem text, changed_at timestamptz not null default now(),
        primary key (env, seq))`,
    );
    this.addSql('create index raw_event_received on usage.raw_event (env, received_at)');
    this.addSql('create index raw_event_pending on usage.raw_event (env, seq) where key is null');
    this.addSql('alter table usage.raw_event enable row level security');
    this.addSql(`create policy raw_event_scope on usage.raw_event using (${own}) with check (${own})`);
  }
}
