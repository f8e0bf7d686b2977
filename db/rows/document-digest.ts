/** Columns that may never change once a document is issued, as texts that do not depend on how PostgreSQL pads or shows them. */
const invoiceFacts = [
  'i.id',
  'i.customer_id',
  'i.subscription_id',
  'i.invoice_number',
  'i.invoice_type',
  'i.billing_reason',
  'i.currency',
  'trim_scale(i.subtotal)',
  'trim_scale(i.total_discount)',
  'trim_scale(i.total_tax)',
  'trim_scale(i.total_prepaid_credits_applied)',
  'trim_scale(i.total)',
  'extract(epoch from i.period_start)',
  'extract(epoch from i.period_end)',
  'extract(epoch from i.issue_date)',
  'extract(epoch from i.finalized_at)',
];
const lineFacts = [
  'l.id',
  'l.position',
  'l.subscription_line_item_id',
  'l.price_id',
  'l.meter_id',
  'l.display_name',
  'l.currency',
  'trim_scale(l.quantity)',
  'trim_scale(l.amount)',
  'trim_scale(l.line_item_discount)',
  'trim_scale(l.invoice_level_discount)',
  'trim_scale(l.prepaid_credits_applied)',
  'extract(epoch from l.period_start)',
  'extract(epoch from l.period_end)',
  'l.derivation',
];
const taxFacts = [
  "'tax'",
  't.tax_rate_id',
  't.tax_behavior',
  'trim_scale(t.taxable_amount)',
  'trim_scale(t.tax_amount)',
  't.tax_rate',
];

const couponFacts = [
  "'coupon'",
  'u.coupon_association_id',
  'u.invoice_line_item_id',
  'trim_scale(u.original_price)',
  'trim_scale(u.discounted_amount)',
  'u.coupon_snapshot',
];

/** Only of lines that have a custom currency, so that the documents of others digest as they always did. */
const customFacts = `case when l.price_unit_id is null then '[]'::jsonb else jsonb_build_array(l.price_unit_id, l.price_unit,
  trim_scale(l.price_unit_amount), trim_scale(l.price_unit_cost), trim_scale(l.conversion_rate)) end`;

/** Only of an invoice that taxed credits paid, so that the documents of others digest as they always did. */
const taxedFacts = `case when i.taxed_credits_applied = 0 then '[]'::jsonb else jsonb_build_array('taxed credits', trim_scale(i.taxed_credits_applied)) end`;

/** Commitment of lines that somebody gave one, which no derivation says. */
const commitmentFacts = `case when l.derivation is not null or l.commitment_info is null then '[]'::jsonb
  else jsonb_build_array('commitment', l.commitment_info) end`;

/** Addition of a sealed paper, so that documents that were sealed without one digest as they always did. */
const paperFacts = `case when p.document_id is null then '[]'::jsonb else jsonb_build_array('paper', p.seller, p.customer, p.texts) end`;
const planFacts = `case when p.document_id is null then '[]'::jsonb else jsonb_build_array(l.plan_display_name) end`;

/**
 * Rows `(id, digest)` of the invoices `i` that `where` selects: SHA-256 over what a finalized document consists of, its lines
 * with their derivations, its taxes and coupons and what it shows of names and
 * texts (`document_paper`) included; where there are none they leave no trace. What payments, refunds and
 * people may change later is left out. design: quality.md I19
 */
export function documentDigestText(where: string): string {
  return `
select i.id, encode(sha256(convert_to((jsonb_build_array(${invoiceFacts.join(', ')}, (
  select jsonb_agg(jsonb_build_array(${lineFacts.join(', ')}) || ${customFacts} || ${commitmentFacts} || ${planFacts} order by l.position, l.id)
  from invoice_line_item l where l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published'
)) || coalesce((
  select jsonb_agg(jsonb_build_array(${taxFacts.join(', ')}) order by t.position, t.id)
  from tax_applied t where t.environment_id = i.environment_id and t.entity_id = i.id and t.status = 'published'
), '[]') || coalesce((
  select jsonb_agg(jsonb_build_array(${couponFacts.join(', ')}) order by u.position)
  from coupon_application u where u.environment_id = i.environment_id and u.invoice_id = i.id
), '[]') || ${taxedFacts} || ${paperFacts})::text, 'UTF8')), 'hex') as digest
from invoice i left join document_paper p on p.document_id = i.id and p.is_sealed where ${where}`;
}

/** SHA-256 of a paper `p` as the audit of a document without seal keeps it. */
export const paperDigestText = `encode(sha256(convert_to(jsonb_build_array(p.seller, p.customer, p.texts)::text, 'UTF8')), 'hex')`;
