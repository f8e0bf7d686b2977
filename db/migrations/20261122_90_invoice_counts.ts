import { Migration } from '@mikro-orm/migrations';

/**
 * How many invoices there are by everything that lists filter broadly, so that the total of a list is a sum of few rows and exact.
 * Writers append what they changed to `invoice_count_change` and meet nobody; every 256th change folds what others committed
 * into `invoice_count`, one folder an environment, which never waits. The ranks of amounts are integers because row-level
 * security lets no comparison of decimals near an index. spec: platform §1.5 total, subscriptions-and-invoicing §1.11
 */
export class Migration20261122_90_invoice_counts extends Migration {
  override up(): void {
    for (const text of [...ranks, ...tables, ...functions, ...triggers, backfill]) this.addSql(text);
    const setting = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
    for (const table of ['invoice_count', 'invoice_count_change']) {
      this.addSql(`alter table "${table}" enable row level security`);
      this.addSql(`create policy "${table}_scope" on "${table}" using (${setting}) with check (${setting})`);
    }
  }
}

/** Hundredths, rounded up and bounded: an amount above X has a rank above that of X. */
const rank = (column: string) =>
  `add column "${column}_rank" bigint generated always as (least(greatest(ceil("${column}" * 100), (-1)::numeric), 1000000000000000::numeric)::bigint) stored null`;

const ranks = [
  `alter table "invoice" ${rank('amount_due')}, ${rank('amount_remaining')};`,
  'drop index "invoice_list_by_amount_due";',
  'drop index "invoice_list_by_amount_remaining";',
  'create index "invoice_list_by_amount_due" on "invoice" ("environment_id", "amount_due_rank") include ("status");',
  'create index "invoice_list_by_amount_remaining" on "invoice" ("environment_id", "amount_remaining_rank") include ("status");',
];

const sides = ['status', 'invoice_type', 'invoice_status', 'payment_status', 'billing_reason', 'currency'];
const ranges = ['created_at', 'period_start', 'period_end', 'amount_due', 'amount_remaining'];
const sideColumns = sides.map((side) => `"${side}" text not null`).join(', ');

const tables = [
  `create table "invoice_count" ("environment_id" text not null, "facet" text not null, "bucket" bigint not null, ${sideColumns}, "invoices" bigint not null, "first_created_at" timestamptz not null, "last_created_at" timestamptz not null, primary key ("environment_id", "facet", "bucket", ${sides.map((side) => `"${side}"`).join(', ')}));`,
  `create table "invoice_count_change" ("id" bigserial primary key, "environment_id" text not null, ${sideColumns}, "added" int not null, "created_at" timestamptz not null, "created_at_bucket" bigint not null, "period_start_bucket" bigint null, "period_end_bucket" bigint null, "amount_due_bucket" bigint not null, "amount_remaining_bucket" bigint not null);`,
  `create index "invoice_count_change_environment_id_id_index" on "invoice_count_change" ("environment_id", "id");`,
];

const bucketOf = (row: string, range: string) =>
  range.startsWith('amount') ? `invoice_amount_bucket(${row}.${range}_rank)` : `invoice_time_bucket(${row}.${range})`;

const changeColumns = ['environment_id', ...sides, 'added', 'created_at', ...ranges.map((range) => `${range}_bucket`)];
const changeOf = (row: string, added: number) =>
  [
    ...['environment_id', ...sides].map((column) => `${row}.${column}`),
    ...[added, `${row}.created_at`],
    ...ranges.map((range) => bucketOf(row, range)),
  ].join(', ');
const noted = (from: string) => `insert into invoice_count_change (${changeColumns.join(', ')}) ${from};`;

const trigger = (name: string, body: string) => `
create function ${name}() returns trigger language plpgsql as $$ begin
  ${body}
  return null;
end $$`;

const countColumns = ['environment_id', 'facet', 'bucket', ...sides];
const facets = ["('', 0::bigint)", ...ranges.map((range) => `('${range}', ${range}_bucket)`)].join(', ');
const summed = (from: string) => `
  insert into invoice_count as counted (${countColumns.join(', ')}, invoices, first_created_at, last_created_at)
  select ${countColumns.join(', ')}, sum(added), min(created_at), max(created_at)
  from ${from} cross join lateral (values ${facets}) of_facet (facet, bucket)
  where bucket is not null group by ${countColumns.join(', ')}
  on conflict (${countColumns.join(', ')}) do update set invoices = counted.invoices + excluded.invoices,
    first_created_at = least(counted.first_created_at, excluded.first_created_at),
    last_created_at = greatest(counted.last_created_at, excluded.last_created_at)`;

const functions = [
  // A day of UTC is two buckets: its first instant, on which periods like to begin, and the rest.
  `create function invoice_time_bucket(at timestamptz) returns bigint language sql stable parallel safe as $$
    select 2 * floor(extract(epoch from at) / 86400)::bigint + (extract(epoch from at) % 86400 <> 0)::int $$`,
  // Two significant digits: 90 buckets from one power of ten to the next.
  `create function invoice_amount_bucket(rank bigint) returns bigint language sql immutable parallel safe as $$
    select case when rank < 100 then rank else rank - rank % (10::numeric ^ (length(rank::text) - 2))::bigint end $$`,
  trigger('invoice_counted_insert', noted(`select ${changeOf('made', 1)} from made`)),
  trigger('invoice_counted_update', noted(`values (${changeOf('old', -1)}), (${changeOf('new', 1)})`)),
  trigger('invoice_counted_delete', noted(`select ${changeOf('gone', -1)} from gone`)),
  trigger('invoice_counted_truncate', 'delete from invoice_count_change; delete from invoice_count;'),
  trigger(
    'invoice_count_fold',
    `if current_setting('transaction_isolation') = 'read committed'
      and pg_try_advisory_xact_lock(hashtextextended('invoice_count ' || new.environment_id, 0)) then
    with folded as (
      delete from invoice_count_change where id in (
        select id from invoice_count_change where environment_id = new.environment_id order by id limit 20000
        for update skip locked) returning *)
    ${summed('folded')};
  end if;`,
  ),
];

const compared = [...sides, ...ranges];
const differs = `(${compared.map((column) => `new.${column}`).join(', ')}) is distinct from (${compared.map((column) => `old.${column}`).join(', ')})`;

const triggers = [
  `create trigger invoice_counted_insert after insert on invoice referencing new table as made
    for each statement execute function invoice_counted_insert()`,
  `create trigger invoice_counted_update after update on invoice for each row when (${differs})
    execute function invoice_counted_update()`,
  `create trigger invoice_counted_delete after delete on invoice referencing old table as gone
    for each statement execute function invoice_counted_delete()`,
  `create trigger invoice_counted_truncate after truncate on invoice
    for each statement execute function invoice_counted_truncate()`,
  `create trigger invoice_count_folded after insert on invoice_count_change for each row when (new.id % 256 = 0)
    execute function invoice_count_fold()`,
];

const backfill =
  summed(`(select ${['environment_id', ...sides, 'created_at'].map((column) => `invoice.${column}`).join(', ')}, 1 as added,
    ${ranges.map((range) => `${bucketOf('invoice', range)} as ${range}_bucket`).join(', ')} from invoice) every_invoice`);
