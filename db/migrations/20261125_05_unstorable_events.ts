import { Migration } from '@mikro-orm/migrations';

/**
 * Events whose data the database refused while their batch was stored, kept as they can be told. They have no short keys: the name or
 * the customer may be what was refused. `seq` is of the order of events, so that they are listed among the rejected ones.
 * spec: catalogue-and-metering §6.6
 */
export class Migration20261125_05_unstorable_events extends Migration {
  override up(): void {
    this.addSql(`create table usage.unstorable_event (
      env int not null, seq bigint not null default nextval('usage.event_seq'), event_id text not null, event_name text not null,
      external_customer_id text not null, ts timestamptz not null, rejected_at timestamptz not null, problem text not null,
      primary key (env, seq))`);
    this.addSql('create index unstorable_event_name on usage.unstorable_event (env, event_name, rejected_at)');
    const setting = `current_setting('perennial.environment_id', true)`;
    const own = `env = (select number from public.environment where id = ${setting}) or (select ${setting}) = '*'`;
    this.addSql('alter table usage.unstorable_event enable row level security');
    this.addSql(`create policy unstorable_event_scope on usage.unstorable_event using (${own}) with check (${own})`);
  }
}
