import { Migration } from '@mikro-orm/migrations';

/**
 * How far a second usage engine has been fed, one row for the deployment. What it knows is everything that `snapshot` sees, in
 * rows of rounds up to `round`; `planned` is the round under way, of which chunks up to `fed_chunk` have arrived. `meters` are
 * the meters whose expressions it holds values of; a round with `planned_meter` brings those of a new one.
 * design: usage.md The engine contract
 */
export class Migration20261122_76_engine_feed extends Migration {
  override up(): void {
    this.addSql(`create table usage.engine_feed (
      only_row boolean primary key default true check (only_row),
      generation int not null,
      round bigint not null default 0,
      snapshot pg_snapshot not null,
      meters int[] not null default '{}',
      planned pg_snapshot,
      planned_meter int,
      fed_chunk bigint,
      fed_rows bigint not null default 0,
      fed_at timestamptz not null default now())`);
    this.addSql('alter table usage.engine_feed enable row level security');
    this.addSql('create policy engine_feed_read on usage.engine_feed for select using (true)');
    const everything = `(select current_setting('perennial.environment_id', true)) = '*'`;
    this.addSql(
      `create policy engine_feed_write on usage.engine_feed using (${everything}) with check (${everything})`,
    );
    // Only a deployment with a second engine pays for the index; new partitions get it with the parent.
    this.addSql(`create function usage.index_for_engine_feed() returns void language plpgsql security definer
      set search_path = pg_catalog as $$
      begin
        create index if not exists event_written on usage.event
          using brin ((txid::text::bigint)) with (pages_per_range = 32);
      end $$`);
  }
}
