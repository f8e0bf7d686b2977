import type { InvariantRule } from './invariant.ts';

const limitOf = (name: string, usual: number) => `coalesce((select (s.value ->> '${name}')::int from setting s
    where s.environment_id = a.environment_id and s.key = 'auto_topup_limits' and s.status = 'published'), ${usual})`;

/** Attempts that were opened under the limits of today: who lowers a limit breaks nothing that was charged before. */
const isUnderLimits = (
  attempt: string,
) => `not exists (select from setting s where s.environment_id = ${attempt}.environment_id
    and s.key = 'auto_topup_limits' and s.updated_at > ${attempt}.created_at)`;

const monthlyLimit = `coalesce((select (s.value -> 'monthly_amount' ->> a.currency)::numeric from setting s
    where s.environment_id = a.environment_id and s.key = 'auto_topup_limits' and s.status = 'published' and s.value ? 'monthly_amount'),
    case when a.currency in ('usd', 'eur', 'gbp') then 10000 end)`;

const isDeclined = `coalesce(b.outcome, 'declined') <> 'succeeded'`;

/** Attempts in the window that an attempt closes. */
const window = (interval: string, outcome: string) => `(select count(*) from auto_topup_attempt b
    where b.environment_id = a.environment_id and b.customer_id = a.customer_id and b.currency = a.currency and ${outcome}
      and b.opened_at <= a.opened_at and b.opened_at > a.opened_at - interval '${interval}')`;

/** I21: automatic top-ups cannot run away. design: money-in §7 */
export const autoTopupRules: readonly InvariantRule[] = [
  {
    id: 'I21',
    rule: 'a wallet has one automatic top-up under way at most, numbered without gaps',
    examines: 'select count(*) from wallet_auto_topup',
    violations: `
      select r.id as object, format('%s open, %s attempts, the last is %s', count(a.id) filter (where a.outcome is null), count(a.id),
        r.attempts) as problem
      from wallet_auto_topup r left join auto_topup_attempt a on a.environment_id = r.environment_id and a.wallet_id = r.id
      group by r.id, r.attempts
      having count(a.id) filter (where a.outcome is null) > 1 or count(a.id) <> r.attempts or coalesce(max(a.number), 0) <> r.attempts`,
  },
  {
    id: 'I21',
    rule: 'automatic top-ups stay within their windows',
    examines: 'select count(*) from auto_topup_attempt',
    violations: `
      select a.id as object, format('%s declined in a day, %s in 30 days, %s succeeded in a day', counted.declined, counted.declined_30,
        counted.succeeded) as problem
      from auto_topup_attempt a cross join lateral (
        select ${window('24 hours', isDeclined)} as declined, ${window('30 days', isDeclined)} as declined_30,
          ${window('24 hours', `b.outcome = 'succeeded'`)} as succeeded) counted
      where ${isUnderLimits('a')} and (counted.declined > ${limitOf('declined_per_day', 4)} or counted.declined_30 > ${limitOf('declined_per_30_days', 15)}
        or counted.succeeded > ${limitOf('succeeded_per_day', 24)})`,
  },
  {
    id: 'I21',
    rule: 'automatic top-ups of a month stay within the monthly amount of their currency',
    examines: 'select count(*) from auto_topup_attempt',
    violations: `
      select max(a.id) as object, format('%s charged in a month of %s at most', sum(a.amount), max(${monthlyLimit})) as problem
      from auto_topup_attempt a join customer c on c.id = a.customer_id
      where coalesce(a.outcome, 'succeeded') = 'succeeded' and ${isUnderLimits('a')}
      group by a.environment_id, a.customer_id, a.currency, date_trunc('month', a.opened_at at time zone c.timezone)
      having sum(a.amount) > max(${monthlyLimit})`,
  },
  {
    id: 'I21',
    rule: 'an automatic top-up that ended is a completed purchase, or one that failed with its invoice void, never both',
    examines: 'select count(*) from auto_topup_attempt where outcome is not null',
    violations: `
      select a.id as object, format('%s, purchase %s, invoice %s', a.outcome, t.transaction_status, i.invoice_status) as problem
      from auto_topup_attempt a join wallet_transaction t on t.id = a.purchase_id left join invoice i on i.id = a.invoice_id
      where (a.outcome is null and t.transaction_status <> 'pending')
        or (a.outcome = 'succeeded' and t.transaction_status <> 'completed')
        or (a.outcome <> 'succeeded' and t.transaction_status <> 'failed')
        or (a.outcome in ('declined', 'lapsed', 'voided') and i.invoice_status = 'FINALIZED')`,
  },
];
