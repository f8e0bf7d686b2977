import type { TaxRateSnapshot } from '../../billing/invoice/own-terms.ts';
import type { TaxLink } from '../../billing/invoice/tax.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';

/** A link of a rate to a customer or a subscription, with the rate. */
export type LinkedTax = TaxLink & { rate: TaxRateSnapshot };

/** A link as `taxLinksText` reads it. */
export interface TaxLinkRow {
  association_id: string;
  tax_behavior: 'inclusive' | 'exclusive';
  currency: string;
  auto_apply: boolean;
  start_date: string;
  end_date: string | null;
  priority: number;
  created_at: string;
  percentage: string;
  rate: Record<string, unknown>;
}

/** Links of rates to an entity as a column of named SQL, of the environment `$1`; `entityId` is an expression. */
export const taxLinksText = (entityType: 'subscription' | 'customer', entityId: string) => `coalesce((
  select jsonb_agg(jsonb_build_object('association_id', a.id, 'tax_behavior', a.tax_behavior, 'currency', a.currency, 'auto_apply', a.auto_apply,
    'start_date', a.start_date, 'end_date', a.end_date, 'priority', a.priority, 'created_at', a.created_at,
    'percentage', r.percentage_value::text, 'rate', to_jsonb(r)))
  from tax_association a join tax_rate r on r.id = a.tax_rate_id
  where a.environment_id = $1 and a.entity_type = '${entityType}' and a.entity_id = ${entityId} and a.status = 'published'
), '[]')`;

/** A link of a rate from its row. */
export function taxLinkOf(link: TaxLinkRow): LinkedTax {
  const rate = taxRateSnapshot(link.rate, decimalText(link.percentage));
  return {
    associationId: link.association_id,
    rateId: rate.id,
    percentage: rate.percentageValue,
    taxBehavior: link.tax_behavior,
    currency: link.currency,
    autoApply: link.auto_apply,
    start: instantText(link.start_date),
    end: link.end_date === null ? null : instantText(link.end_date),
    priority: link.priority,
    createdAt: instantText(link.created_at),
    rateStatus: rate.taxRateStatus,
    scope: rate.scope,
    rate,
  };
}

/** The record of a rate from its row as PostgreSQL's `to_jsonb` shows it. */
export function taxRateSnapshot(row: Record<string, unknown>, percentageValue: string): TaxRateSnapshot {
  const members = Object.entries(row).map(([column, value]) => [
    column.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
    column.endsWith('_at') ? instantText(String(value)) : value,
  ]);
  return { ...(Object.fromEntries(members) as TaxRateSnapshot), percentageValue };
}
