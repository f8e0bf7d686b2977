import type { InvariantRule } from './invariant.ts';

const balances = `
  select environment_id, subscription_id, sum(given) as given, sum(used) as used from (
    select environment_id, subscription_id, amount as given, 0 as used from carried_credit
    union all
    select l.environment_id, l.subscription_id, 0, -l.amount from invoice_line_item l
      join invoice i on i.environment_id = l.environment_id and i.id = l.invoice_id
    where l.is_carried_credit and l.status = 'published' and i.invoice_status in ('DRAFT', 'FINALIZED')
  ) entry group by environment_id, subscription_id`;

/** I7 of credits that changes of subscriptions leave for the next invoice. spec: README decision 50 */
export const carriedCreditRules: readonly InvariantRule[] = [
  {
    id: 'I7',
    rule: 'invoices of a subscription use no more credit than its changes left',
    examines: 'select count(distinct subscription_id) from carried_credit',
    violations: `
      select subscription_id as object, format('invoices use %s, changes left %s', used, given) as problem
      from (${balances}) balance where used > given`,
  },
  {
    id: 'I7',
    rule: 'no credit is left on a subscription that has ended and has no draft',
    examines: 'select count(distinct subscription_id) from carried_credit',
    violations: `
      select s.id as object, format('cancelled with a credit of %s', b.given - b.used) as problem
      from (${balances}) b join subscription s on s.environment_id = b.environment_id and s.id = b.subscription_id
      where b.given > b.used and s.subscription_status = 'cancelled' and not exists (
        select from invoice i where i.environment_id = s.environment_id and i.subscription_id = s.id and i.invoice_status = 'DRAFT')`,
  },
];
