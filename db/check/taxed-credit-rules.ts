import { currencyPrecision } from '../../billing/money/money.ts';
import type { InvariantRule } from './invariant.ts';

const currenciesOf = (digits: number) => {
  const codes = Intl.supportedValuesOf('currency').filter((code) => currencyPrecision(code) === digits);
  return `array[${codes.map((code) => `'${code.toLowerCase()}'`).join(', ')}]::text[]`;
};

/** Smallest amount of the currency of an invoice `i`. */
const smallestAmount = `case when lower(i.currency) = any(${currenciesOf(0)}) then 1 when lower(i.currency) = any(${currenciesOf(3)}) then 0.001
  when lower(i.currency) = any(${currenciesOf(4)}) then 0.0001 else 0.01 end`;

/** I6 and I7: credits that were taxed when they were bought are not taxed again, and no other credits go untaxed. design: money-in-wallets finding 6 */
export const taxedCreditRules: readonly InvariantRule[] = [
  {
    id: 'I7',
    rule: 'a bought lot is marked as taxed exactly when its invoice bears tax, and another only when it gives such credits back',
    examines: 'select count(*) from wallet_transaction where is_taxed',
    violations: `
      select t.id as object, format('%s %s, %s, of invoice %s', case when t.is_taxed then 'taxed' else 'untaxed' end, t.transaction_reason,
        t.idempotency_key, coalesce(i.id, 'none')) as problem
      from wallet_transaction t left join invoice i on i.environment_id = t.environment_id and i.purchase_id = t.id
      where (t.is_taxed or i.id is not null) and t.is_taxed <> (coalesce(i.no_tax_reason is null and i.id is not null, false)
        or t.transaction_reason = 'INVOICE_VOID_REFUND' and t.idempotency_key = t.reference_id || '_prepaid_taxed')`,
  },
  {
    id: 'I6',
    rule: 'what is not taxed of an invoice is what wallets paid with credits that were taxed when they were bought',
    examines: 'select count(*) from invoice where taxed_credits_applied <> 0',
    violations: `
      with used as materialized (
        select d.id, d.reference_id, d.amount, coalesce(sum((taken ->> 'credits')::numeric) filter (where not lot.is_taxed), 0) * d.conversion_rate as untaxed,
          coalesce(bool_or(lot.is_taxed), false) as is_taxed, row_number() over (partition by d.wallet_id, d.reference_id order by d.position desc) as newest
        from wallet_transaction d cross join lateral jsonb_array_elements(d.consumed_lots) taken
        join wallet_transaction lot on lot.id = taken ->> 'id'
        where d.type = 'debit' and d.transaction_status = 'completed' and d.reference_type = 'INVOICE'
        group by d.id, d.reference_id, d.amount, d.conversion_rate, d.wallet_id, d.position
      ), paid as (
        select reference_id, sum(case when is_taxed then amount - least(untaxed, amount) else 0 end) as taxed, count(*) filter (where is_taxed) as debits
        from used where newest = 1 group by reference_id
      )
      select i.id as object, format('%s not taxed of %s paid with credits, %s of it with taxed ones', i.taxed_credits_applied,
        i.total_prepaid_credits_applied, coalesce(paid.taxed, 0)) as problem
      from invoice i left join paid on paid.reference_id = i.id
      where (i.taxed_credits_applied <> 0 or coalesce(paid.debits, 0) > 0)
        and (i.taxed_credits_applied < 0 or i.taxed_credits_applied > i.total_prepaid_credits_applied
          or abs(i.taxed_credits_applied - coalesce(paid.taxed, 0)) >= ${smallestAmount} * greatest(coalesce(paid.debits, 0), 1))`,
  },
];
