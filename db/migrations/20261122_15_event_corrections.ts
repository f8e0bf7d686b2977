import { Migration } from '@mikro-orm/migrations';

/**
 * Voided events. They stay where they are, under the negative number of their environment: so whatever reads events of an
 * environment does not meet them, and what reads at a watermark asks for both and looks at `voided`, the transaction that
 * took them away. Why and by whom is told apart, one row a void.
 */
export class Migration20261122_15_event_corrections extends Migration {
  override up(): void {
    const setting = `current_setting('perennial.environment_id', true)`;
    const number = `(select number from public.environment where id = ${setting})`;
    this.addSql('alter table usage.event add column voided xid8');
    this.addSql('drop policy event_scope on usage.event');
    const both = `abs(env) = ${number} or (select ${setting}) = '*'`;
    this.addSql(`create policy event_scope on usage.event using (${both}) with check (${both})`);
    this.addSql(
      `create table usage.event_void (
        env int not null, key uuid not null, event_id text not null, voided_at timestamptz not null, reason text not null,
        actor text not null, primary key (env, key))`,
    );
    const own = `env = ${number} or (select ${setting}) = '*'`;
    this.addSql('alter table usage.event_void enable row level security');
    this.addSql(`create policy event_void_scope on usage.event_void using (${own}) with check (${own})`);
  }
}
