import { randomUUID } from 'node:crypto';
import type pg from 'pg';

/**
 * What somebody would write by hand to close one subscription's period, without this product: read, invoice, lines, outbox,
 * advance, in one transaction. It knows one kind of price, no allowances, proration, time zones, audit, agenda or explanation.
 */

const tables = ['subscription', 'subscription_line_item', 'invoice', 'invoice_line_item', 'outbox_event'];

/** Copies of the tables, with their indexes and rows, in a schema of their own. */
export async function copyForHand(owner: pg.Client): Promise<void> {
  await owner.query('create schema bench_hand');
  for (const table of tables) {
    await owner.query(`create table bench_hand.${table} (like public.${table} including all)`);
    const written = await writtenColumns(owner, table);
    await owner.query(`insert into bench_hand.${table} (${written}) select ${written} from public.${table}`);
  }
  await owner.query('analyze');
}

/** The columns of a table that are no function of others. */
async function writtenColumns(owner: pg.Client, table: string): Promise<string> {
  const { rows } = await owner.query<{ names: string }>(
    `select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
     where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`,
    [table],
  );
  return rows[0]?.names ?? '';
}

const readSubscription = {
  name: 'hand-read',
  text: `select s.*, s.current_period_end + interval '1 month' as next_period_end from bench_hand.subscription s where s.id = $1 for update`,
};
const readItems = {
  name: 'hand-items',
  text: `select l.*, p.amount from bench_hand.subscription_line_item l join public.price p on p.id = l.price_id where l.subscription_id = $1 order by l.id`,
};
const readUsage = {
  name: 'hand-usage',
  text: `select m.id, m.aggregation->>'type' as type, sum(r.n) as n, sum(r.s) as s from usage.rollup r
    join public.meter m on m.number = r.meter and m.version = r.version
    join usage.subject u on u.number = r.subject join public.customer c on c.external_id = u.external_id
    where c.id = $1 and m.id = any($2) and r.bucket >= $3 and r.bucket < $4 group by m.id`,
};
const insertInvoice = {
  name: 'hand-invoice',
  text: `insert into bench_hand.invoice (id, tenant_id, environment_id, created_at, updated_at, customer_id, subscription_id, idempotency_key,
      invoice_type, invoice_status, payment_status, billing_reason, billing_period, billing_sequence, collection_method, currency,
      subtotal, total, amount_due, amount_remaining, period_start, period_end, due_date, last_computed_at, attended)
    values ($1, $2, $3, now(), now(), $4, $5, $6, 'SUBSCRIPTION', 'DRAFT', 'PENDING', 'SUBSCRIPTION_CYCLE', 'MONTHLY', $7, 'send_invoice', 'usd',
      $8, $8, $8, $8, $9, $10, $10, $10, true)`,
};
const insertLine = {
  name: 'hand-line',
  text: `insert into bench_hand.invoice_line_item (id, tenant_id, environment_id, created_at, updated_at, invoice_id, customer_id, subscription_id,
      subscription_line_item_id, position, display_name, price_id, price_type, meter_id, currency, quantity, amount, period_start, period_end)
    values ($1, $2, $3, now(), now(), $4, $5, $6, $7, $8, $9, $10, $11, $12, 'usd', $13, $14, $15, $16)`,
};
const insertEvent = {
  name: 'hand-outbox',
  text: `insert into bench_hand.outbox_event (id, tenant_id, environment_id, sequence, event_name, entity_type, entity_id, payload, occurred_at, created_at)
    values ($1, $2, $3, $4, 'invoice.update', 'invoice', $5, $6, $7, now())`,
};
const advance = {
  name: 'hand-advance',
  text: `update bench_hand.subscription set current_period_start = $2, current_period_end = $3, billing_sequence = $4, version = version + 1, updated_at = now() where id = $1`,
};

interface Item {
  id: string;
  price_id: string;
  price_type: string;
  display_name: string;
  meter_id: string | null;
  amount: string;
}

/** Closes the present period of one subscription. */
export async function closeByHand(client: pg.Client, subscriptionId: string): Promise<void> {
  const run = async (statement: { name: string; text: string }, values: unknown[]) =>
    (await client.query({ ...statement, values })).rows;
  await client.query('begin');
  const [row] = await run(readSubscription, [subscriptionId]);
  const items = (await run(readItems, [subscriptionId])) as Item[];
  const { current_period_start: start, current_period_end: end, next_period_end: next } = row;
  const meterIds = items.flatMap((item) => item.meter_id ?? []);
  const usage = await run(readUsage, [row.customer_id, meterIds, start, end]);
  const lines = items.map((item) => {
    const used = usage.find((each) => each.id === item.meter_id);
    const quantity = item.meter_id === null ? 1 : Number(used?.type === 'SUM' ? used?.s : used?.n);
    const period = item.meter_id === null ? [end, next] : [start, end];
    return { item, quantity, amount: quantity * Number(item.amount), period };
  });
  const total = lines.reduce((sum, line) => sum + line.amount, 0).toFixed(2);
  const [invoiceId, tenant, environment] = [randomUUID(), row.tenant_id, row.environment_id];
  const sequence = row.billing_sequence + 1;
  const invoiceKey = `${subscriptionId}/${sequence}`;
  await run(insertInvoice, [
    ...[invoiceId, tenant, environment, row.customer_id, subscriptionId, invoiceKey, sequence, total, start, end],
  ]);
  for (const [position, { item, quantity, amount, period }] of lines.entries()) {
    await run(insertLine, [
      ...[randomUUID(), tenant, environment, invoiceId, row.customer_id, subscriptionId, item.id, position],
      ...[item.display_name, item.price_id, item.price_type, item.meter_id, quantity, amount.toFixed(2), ...period],
    ]);
  }
  const payload = JSON.stringify({ invoice: { id: invoiceId } });
  await run(insertEvent, [randomUUID(), tenant, environment, sequence, invoiceId, payload, end]);
  await run(advance, [subscriptionId, end, next, sequence]);
  await client.query('commit');
}
