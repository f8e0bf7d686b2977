import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import {
  inPromisedOrder,
  type Preview,
  type PromisedLine,
  refuseDifferent,
  refuseStale,
} from '../../billing/line/binding-preview.ts';
import { canonicalInstant } from '../../billing/time/calendar.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import { badField } from '../../db/rows/record.ts';
import type { Sql } from '../../db/transaction.ts';

const prefix = 'pd2_';
/** What follows it is a signature, of which the API is the judge. */
export const signatureMark = '.';
/** A year of a large subscription, or a simulation of thousands, is far below. */
const maxBytes = 16 * 1024 * 1024;

/**
 * A preview as an opaque text that its execution takes. It carries what was read and what was shown, so that nothing is kept
 * between the two and a difference can be told.
 */
export function previewDigest(preview: Preview): string {
  return `${prefix}${deflateRawSync(JSON.stringify(preview)).toString('base64url')}`;
}

/** The preview behind a digest. Throws `validation_error` for a text that is none. */
export function readPreviewDigest(digest: string): Preview {
  try {
    if (digest.startsWith(prefix)) {
      const [content = ''] = digest.slice(prefix.length).split(signatureMark);
      const packed = Buffer.from(content, 'base64url');
      const preview = JSON.parse(inflateRawSync(packed, { maxOutputLength: maxBytes }).toString()) as Preview;
      const shaped = canonicalInstant(preview.at) === preview.at && Array.isArray(preview.lines);
      if (shaped && typeof preview.read === 'object' && preview.read !== null) return preview;
    }
  } catch {
    // What cannot be read was not given by a preview.
  }
  throw badField('preview_digest', 'must be the preview_digest that a preview gave');
}

/**
 * The preview that a request holds its answer to, which takes the previewed moment for its present; null for a request that
 * holds it to none. Throws `validation_error`, and `version_conflict` for one that is older than an hour.
 */
export function promisedPreview(digest: string | null | undefined, now: string): Preview | null {
  if (!digest) return null;
  const promised = readPreviewDigest(digest);
  refuseStale(promised, now);
  return promised;
}

/**
 * The digest of what was read and shown just now, held to what was shown before. Throws `version_conflict` with the difference.
 * docs: previews.md
 */
export function heldTo(promised: Preview | null, present: Preview): string {
  if (promised) refuseDifferent(promised, present);
  return previewDigest(present);
}

/**
 * Does what was previewed, at the previewed moment. Where that cannot be done because what it rests on changed, the change is
 * the answer: throws `version_conflict` with the difference in place of what `act` throws.
 */
export async function orConflict<Made>(
  promised: Preview | null,
  present: Pick<Preview, 'read' | 'request'>,
  act: () => Promise<Made>,
): Promise<Made> {
  try {
    return await act();
  } catch (error) {
    if (promised) refuseDifferent(promised, { ...promised, ...present });
    throw error;
  }
}

/** A digest of what was asked for; members in any order. */
export function requestDigest(request: unknown): string {
  return createHash('sha256').update(JSON.stringify(request, inOrder)).digest('base64url').slice(0, 22);
}

/** Members in the order of their names: what was kept as data comes back in another. */
function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What a change made: invoices, money for a wallet or for the next invoice, line items that began, ended or changed. */
export interface Made {
  subscriptionIds: readonly string[];
  invoiceIds: readonly string[];
  lineItems: readonly { id: string; action: string }[];
  returned: string;
  carried?: string;
  currency: string;
}

/**
 * What a change made, as a preview promises it: every invoice line with its amount and the totals, without the ids that each
 * execution gives anew. Read inside the transaction of the change.
 */
export async function promisedLines(sql: Sql, environmentId: string, made: Made): Promise<PromisedLine[]> {
  const lines = await sql.rows<LineRow>(invoiceLinesText, [environmentId, [...made.invoiceIds]]);
  const items = await sql.rows<LineRow & { id: string }>(lineItemsText, [
    environmentId,
    made.lineItems.map(({ id }) => id),
  ]);
  const actions = new Map(made.lineItems.map(({ id, action }) => [id, action]));
  const promised = [
    ...lines.map((row) => promisedLine(row.on, row)),
    ...items.map((row) => promisedLine(`line item ${actions.get(row.id)}`, row)),
  ];
  if (made.returned !== '0') {
    const credit = { on: 'wallet', name: made.currency, quantity: '1', amount: made.returned, start: '', end: '' };
    promised.push({ ...credit, amount: decimalText(made.returned) });
  }
  if (made.carried !== undefined && made.carried !== '0') {
    const amount = decimalText(made.carried);
    promised.push({ on: 'next invoice', name: made.currency, quantity: '1', amount, start: '', end: '' });
  }
  return inPromisedOrder(promised);
}

interface LineRow {
  on: string;
  name: string;
  quantity: string;
  amount: string;
  start: string | null;
  end: string | null;
  [column: string]: unknown;
}

const invoiceLinesText = `
select 'invoice ' || i.billing_reason as "on", l.display_name || ' ' || coalesce(l.price_id, '') as name, l.quantity, l.amount,
  l.period_start as start, l.period_end as "end"
from invoice i join invoice_line_item l on l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published'
where i.environment_id = $1 and i.id = any($2)
union all
select 'invoice ' || i.billing_reason || ' total', i.currency, 1, i.total, i.period_start, i.period_end
from invoice i where i.environment_id = $1 and i.id = any($2)`;

// Prices that a change makes have new ids each time; what they charge is on the lines.
const lineItemsText = `
select s.id, '' as "on", s.display_name || ' ' || coalesce(case when p.entity_type = 'SUBSCRIPTION' then p.parent_price_id else p.id end, '') as name,
  s.quantity, coalesce(p.amount, 0) as amount, s.start_date as start, s.end_date as "end"
from subscription_line_item s join price p on p.id = s.price_id
where s.environment_id = $1 and s.id = any($2)`;

function promisedLine(on: string, row: LineRow): PromisedLine {
  return {
    on,
    name: row.name,
    quantity: decimalText(row.quantity),
    amount: decimalText(row.amount),
    start: row.start === null ? '' : instantText(row.start),
    end: row.end === null ? '' : instantText(row.end),
  };
}

/** The versions of the prices of subscriptions' items and plans, and of other plans', as one text. */
export async function pricesDigest(
  sql: Sql,
  environmentId: string,
  subscriptionIds: readonly string[],
  otherPlanIds: readonly string[] = [],
): Promise<string> {
  const [row] = await sql.rows<{ digest: string | null }>(
    `select md5(string_agg(p.id || ' ' || p.sequence, ',' order by p.id)) as digest from price p
     where p.environment_id = $1 and p.status = 'published' and (p.id in (
       select l.price_id from subscription_line_item l where l.environment_id = $1 and l.subscription_id = any($2))
       or (p.entity_type = 'PLAN' and (p.entity_id in (select s.plan_id from subscription s where s.id = any($2))
         or p.entity_id = any($3))))`,
    [environmentId, [...subscriptionIds], [...otherPlanIds]],
    'prices-digest',
  );
  return row?.digest ?? '';
}

/** The versions of other subscriptions that are read with one, as a member of what was read; none without any. */
export function childrenRead(children: readonly { id: string; version: number }[]): { children?: string } {
  if (children.length === 0) return {};
  const versions = children.map(({ id, version }) => `${id} ${version}`).sort();
  return { children: requestDigest(versions) };
}

/** How fresh the usage on invoices was; null where none was read. */
export async function usageWatermark(
  sql: Sql,
  environmentId: string,
  invoiceIds: readonly string[],
): Promise<string | null> {
  const [row] = await sql.rows<{ watermark: string | null }>(
    `select max(part -> 'usage' ->> 'watermark') as watermark from invoice_line_item l,
       jsonb_array_elements(l.derivation -> 'parts') part
     where l.environment_id = $1 and l.invoice_id = any($2) and l.derivation is not null`,
    [environmentId, [...invoiceIds]],
  );
  return row?.watermark ?? null;
}
