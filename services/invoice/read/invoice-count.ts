import { decimal, greatest, least } from '../../../billing/money/money.ts';
import type { ListQuery } from '../../../db/list.ts';
import type { Transaction } from '../../../db/transaction.ts';
import type { InvoiceFilters } from './invoice-filters.ts';

/** How many invoices match, and between which instants they were created (PostgreSQL's texts; null for any). */
export interface InvoiceTotal {
  total: number;
  created: { from: string; until: string } | null;
}

/** A range as its whole buckets, which are added up, and what is left of it at its ends, which is counted in the index. */
interface Range {
  facet: 'created_at' | 'period_start' | 'period_end' | 'amount_due' | 'amount_remaining';
  /** Whole numbers as text: a rank of an amount never becomes a float. */
  firstBucket: string;
  lastBucket: string;
  /** Each holds for the same column as the others and for no invoice of the buckets. */
  ends: readonly End[];
}

type End = readonly (readonly [column: string, operator: '>' | '>=' | '<' | '<=', value: string | number])[];

const everyInvoice = { facet: '', firstBucket: '0', lastBucket: '0', ends: [] };

/**
 * The exact total of a list that compares by equality with what has few values, and by one range: a sum over InvoiceCount and
 * what is not folded into it, in one statement and so in one snapshot. Null where the matches have to be counted themselves:
 * other filters, which match few as a rule, and two ranges at once. spec: platform §1.5 total, §1.11
 */
export async function totalOfInvoices(
  tx: Transaction,
  query: ListQuery,
  filters: InvoiceFilters,
): Promise<InvoiceTotal | null> {
  const ranges =
    query.filters.length > 0 || query.metadata !== null || isNarrow(filters) ? null : rangesOf(query, filters);
  if (ranges === null || ranges.length > 1) return null;
  const range = ranges[0] ?? everyInvoice;
  const values: unknown[] = [tx.scope.environmentId];
  const bound = (value: unknown) => `$${values.push(value)}`;
  const ofKind = `environment_id = $1 ${sidesOf(query, filters)
    .map(([column, matches]) => `and ${column} = any(${bound(matches)})`)
    .join(' ')}`;
  const between = `between ${bound(range.firstBucket)} and ${bound(range.lastBucket)}`;
  const ends = range.ends.map(
    (end) => `union all select 1, created_at, created_at from invoice
      where ${ofKind} ${end.map(([column, operator, value]) => `and ${column} ${operator} ${bound(value)}`).join(' ')}`,
  );
  const [row] = await tx.rows<{ total: string; first: string | null; last: string | null }>(
    `select coalesce(sum(invoices), 0)::text as total, min(first_created_at)::text as first, max(last_created_at)::text as last from (
      select invoices, first_created_at, last_created_at from invoice_count
      where ${ofKind} and facet = ${bound(range.facet)} and bucket ${between}
      union all select added, created_at, created_at from invoice_count_change
      where ${ofKind} ${range.facet === '' ? '' : `and ${range.facet}_bucket ${between}`} ${ends.join(' ')}) matching`,
    values,
  );
  const isBounded = range.facet !== '' && range.facet !== 'created_at' && row?.first && row.last;
  return {
    total: Number(row?.total),
    created: isBounded ? { from: row.first as string, until: row.last as string } : null,
  };
}

function isNarrow(filters: InvoiceFilters): boolean {
  const { invoiceIds, customerId, externalCustomerId, subscriptionCustomerIds, subscriptionId } = filters;
  const lists = [invoiceIds, subscriptionCustomerIds].some((ids) => ids && ids.length > 0);
  return lists || Boolean(customerId || externalCustomerId || subscriptionId);
}

function sidesOf(query: ListQuery, filters: InvoiceFilters): [column: string, matches: readonly string[]][] {
  const sides: [string, readonly (string | null | undefined)[] | null | undefined][] = [
    ['status', [query.status ?? 'published']],
    ['invoice_type', [filters.invoiceType]],
    ['invoice_status', filters.invoiceStatuses],
    ['payment_status', filters.paymentStatuses],
    ['billing_reason', [filters.billingReason]],
    ['currency', [filters.currency]],
  ];
  return sides
    .map(([column, matches]): [string, string[]] => [column, (matches ?? []).filter((match) => match) as string[]])
    .filter(([, matches]) => matches.length > 0);
}

/** The ranges asked for; null where one of them lies within a bucket. */
function rangesOf(query: ListQuery, filters: InvoiceFilters): Range[] | null {
  const { periodStartFrom, periodStartUntil, periodEndFrom, periodEndUntil } = filters;
  const asked = [
    timeRange('created_at', query.startTime, query.endTime, '<'),
    timeRange('period_start', periodStartFrom, periodStartUntil, '<='),
    timeRange('period_end', periodEndFrom, periodEndUntil, '<='),
    amountRange('amount_due', filters.amountDueAbove),
    amountRange('amount_remaining', filters.amountRemainingAbove),
  ].filter((range) => range !== 'any');
  return asked.includes(null) ? null : (asked as Range[]);
}

const dayMs = 86_400_000;
type Maybe<Value> = Value | null | undefined;

/** Buckets as `invoice_time_bucket` counts them: the first instant of a day of UTC, and the rest of the day. */
function timeRange(
  facet: Range['facet'],
  from: Maybe<string>,
  until: Maybe<string>,
  below: '<' | '<=',
): Range | 'any' | null {
  if (!from && !until) return 'any';
  const ends: End[] = [];
  let firstBucket = Number.MIN_SAFE_INTEGER;
  let lastBucket = Number.MAX_SAFE_INTEGER;
  if (from) {
    const { bucket, isWhole, dayEnd } = timeBucket(from);
    firstBucket = isWhole ? bucket : bucket + 1;
    if (!isWhole)
      ends.push([
        [facet, '>=', from],
        [facet, '<', dayEnd],
      ]);
  }
  if (until) {
    const { bucket, isWhole, dayStart } = timeBucket(until);
    lastBucket = isWhole && below === '<=' ? bucket : bucket - 1;
    if (!isWhole)
      ends.push([
        [facet, '>', dayStart],
        [facet, below, until],
      ]);
  }
  if (firstBucket > lastBucket) return null;
  return { facet, firstBucket: String(firstBucket), lastBucket: String(lastBucket), ends };
}

function timeBucket(at: string) {
  const day = Math.floor(Date.parse(at) / dayMs);
  const isWhole = day * dayMs === Date.parse(at);
  const dayStart = new Date(day * dayMs).toISOString();
  const dayEnd = new Date((day + 1) * dayMs).toISOString();
  return { bucket: 2 * day + (isWhole ? 0 : 1), isWhole, dayStart, dayEnd };
}

/** The greatest rank that an amount has. */
const lastRank = 10 ** 15;

/** A rank that every amount above `amount` exceeds, to be compared with the columns of ranks. */
export function rankBelow(amount: string): string {
  return least(greatest(decimal(amount).times(100).floor(), decimal(-2)), decimal(lastRank - 1)).toFixed();
}

/** Buckets as `invoice_amount_bucket` counts them: ranks cut to two digits. */
function amountRange(facet: 'amount_due' | 'amount_remaining', above: Maybe<string>): Range | 'any' {
  if (!above) return 'any';
  const rank = least(greatest(decimal(above).times(100).ceil(), decimal(-1)), decimal(lastRank));
  const digits = rank.toFixed().length;
  const step = rank.lt(100) ? decimal(1) : decimal(10).pow(digits - 2);
  const nextBucket = rank.divToInt(step).plus(1).times(step);
  const isLast = rank.eq(lastRank);
  const end: End = [
    [`${facet}_rank`, '>', rankBelow(above)],
    ...(isLast ? [] : ([[`${facet}_rank`, '<', nextBucket.toFixed()]] as const)),
    [facet, '>', above],
  ];
  const beyond = String(Number.MAX_SAFE_INTEGER);
  return { facet, firstBucket: isLast ? beyond : nextBucket.toFixed(), lastBucket: beyond, ends: [end] };
}
