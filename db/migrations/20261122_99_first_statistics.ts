import { Migration } from '@mikro-orm/migrations';

/**
 * What the planner believes of `environment_id` until a table is analyzed: that half of the rows have one value. Without it, it takes
 * one row in two hundred for granted, and reads every row of the environment where it should look up a few by their keys; a year
 * on a test clock is over before autovacuum comes by. The first analysis replaces this. PostgreSQL can be told so since 18.
 */
export class Migration20261122_99_first_statistics extends Migration {
  override up(): void {
    this.addSql(`do $$ declare t record; begin
      if current_setting('server_version_num')::int < 180000 then return; end if;
      for t in
        select n.nspname, c.relname from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and c.relkind = 'r' and a.attname = 'environment_id' and not a.attisdropped
          and not exists (select from pg_statistic s where s.starelid = c.oid and s.staattnum = a.attnum)
      loop
        perform pg_restore_attribute_stats('schemaname', t.nspname::text, 'relname', t.relname::text, 'attname', 'environment_id',
          'inherited', false, 'null_frac', 0::real, 'avg_width', 32, 'n_distinct', 2::real);
      end loop;
    end $$`);
  }
}
