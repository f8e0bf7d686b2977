import type { InvariantRule } from './invariant.ts';

const key =
  'environment_id, facet, bucket, status, invoice_type, invoice_status, payment_status, billing_reason, currency';
const facets = (of: (range: string) => string) =>
  ['created_at', 'period_start', 'period_end', 'amount_due', 'amount_remaining']
    .map((range) => `('${range}', ${of(range)})`)
    .join(', ');

/** I4 of lists: what their totals are added up from is what counting the invoices again gives. spec: platform §1.5 total */
export const invoiceCountRules: readonly InvariantRule[] = [
  {
    id: 'I4',
    rule: 'the counts that totals of lists are added up from are those of the invoices',
    examines: 'select count(*) from invoice',
    violations: `
      with kept as (
        select ${key}, sum(invoices) as invoices from (
          select ${key}, invoices from invoice_count
          union all select ${key}, added from invoice_count_change cross join lateral
            (values ('', 0::bigint), ${facets((range) => `${range}_bucket`)}) of_facet (facet, bucket) where bucket is not null
        ) every group by ${key}
      ), counted as (
        select ${key}, count(*) as invoices from invoice cross join lateral (values ('', 0::bigint), ${facets(
          (range) =>
            range.startsWith('amount') ? `invoice_amount_bucket(${range}_rank)` : `invoice_time_bucket(${range})`,
        )}) of_facet (facet, bucket) where bucket is not null group by ${key}
      )
      select environment_id as object, format('%s: %s are counted and there are %s', concat_ws(' ', ${key}), coalesce(k.invoices, 0), coalesce(c.invoices, 0)) as problem
      from kept k full join counted c using (${key}) where coalesce(k.invoices, 0) <> coalesce(c.invoices, 0)`,
  },
];
