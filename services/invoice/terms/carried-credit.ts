import { decimal, decimalString, sum } from '../../../billing/money/money.ts';
import { newId } from '../../../db/id.ts';
import { anyOf } from '../../../db/rows/bulk.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { creditPrepaidWallet } from '../../ledger/wallet-credit.ts';

/** What changes of a subscription left for its next invoices. Amounts in its currency. spec: README decision 50 */
export interface CarriedCredit {
  /** All that was given, less what went to the wallet. */
  given: string;
  /** What drafts and final invoices use of it, by invoice id. */
  usedBy: Readonly<Record<string, string>>;
}

interface CreditRow {
  subscription_id: string;
  given: string;
  used_by: Record<string, string>;
  reads_only: boolean;
  [column: string]: unknown;
}

const creditsText = `
select c.subscription_id, sum(c.amount)::text as given, current_setting('transaction_read_only') = 'on' as reads_only,
  coalesce((select jsonb_object_agg(u.invoice_id, u.used) from (
    select l.invoice_id, (-sum(l.amount))::text as used from invoice_line_item l
      join invoice i on i.environment_id = l.environment_id and i.id = l.invoice_id
    where l.environment_id = $1 and l.subscription_id = c.subscription_id and l.is_carried_credit and l.status = 'published'
      and i.invoice_status in ('DRAFT', 'FINALIZED') group by l.invoice_id) u), '{}') as used_by
from carried_credit c where c.environment_id = $1 and c.subscription_id = ${anyOf('$2')} group by c.subscription_id`;

/**
 * The credits of subscriptions that have any, by subscription id. Where the transaction may write they are locked, so that two
 * invoices that are computed at once never use the same credit. Void and skipped invoices use nothing.
 */
export async function readCarriedCredits(
  sql: Sql,
  environmentId: string,
  subscriptionIds: readonly string[],
): Promise<Map<string, CarriedCredit>> {
  if (subscriptionIds.length === 0) return new Map();
  const ids = [...new Set(subscriptionIds)];
  let rows = await sql.rows<CreditRow>(creditsText, [environmentId, ids], 'carried-credits');
  if (rows.length > 0 && !rows[0]!.reads_only) {
    await sql.rows(
      'select id from carried_credit where environment_id = $1 and subscription_id = any($2) order by id for update',
      [environmentId, rows.map((row) => row.subscription_id)],
    );
    rows = await sql.rows<CreditRow>(creditsText, [environmentId, ids], 'carried-credits');
  }
  return new Map(rows.map((row) => [row.subscription_id, { given: decimalText(row.given), usedBy: row.used_by }]));
}

/** What an invoice can use: all that no other invoice uses. */
export function creditLeftFor({ given, usedBy }: CarriedCredit, invoiceId: string): string {
  const others = Object.entries(usedBy).flatMap(([id, used]) => (id === invoiceId ? [] : decimal(used)));
  return decimalString(decimal(given).minus(sum(others)));
}

/** Keeps what a change gave back for the next invoice of the subscription that bills it. The same change again is refused by its key. */
export async function giveCarriedCredit(
  sql: Sql,
  scope: Scope,
  credit: {
    subscriptionId: string;
    customerId: string;
    currency: string;
    amount: string;
    changeKey: string;
    at: string;
  },
): Promise<void> {
  await insertCredit(sql, scope, { ...credit, id: newId('ccred') });
}

async function insertCredit(
  sql: Sql,
  scope: Scope,
  credit: {
    id: string;
    subscriptionId: string;
    customerId: string;
    currency: string;
    amount: string;
    changeKey: string | null;
    at: string;
  },
): Promise<void> {
  await sql.rows(
    `insert into carried_credit (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, subscription_id, customer_id,
       currency, amount, change_key, occurred_at) values ($1, $2, $3, $4, $5, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      credit.id,
      scope.tenantId,
      scope.environmentId,
      new Date().toISOString(),
      scope.actor,
      credit.subscriptionId,
      credit.customerId,
      credit.currency,
      credit.amount,
      credit.changeKey,
      credit.at,
    ],
  );
}

const endedText = `
select s.id, min(c.customer_id) as customer_id, min(c.currency) as currency
from subscription s join carried_credit c on c.environment_id = s.environment_id and c.subscription_id = s.id
where s.environment_id = $1 and s.id = any($2) and s.subscription_status = 'cancelled'
  and not exists (select from invoice i where i.environment_id = $1 and i.subscription_id = s.id and i.invoice_status = 'DRAFT' and i.status = 'published')
group by s.id order by s.id`;

/**
 * Moves what is left of the credits of subscriptions that have ended to the prepaid wallet, once no draft can use it any more: no
 * other invoice will come. Others are left alone, and asked again it changes nothing. spec: README decision 50
 */
export async function releaseCarriedCredits(
  sql: Sql,
  scope: Scope,
  subscriptionIds: readonly string[],
  at: string,
): Promise<void> {
  if (subscriptionIds.length === 0) return;
  const ended = await sql.rows<{ id: string; customer_id: string; currency: string }>(endedText, [
    scope.environmentId,
    [...subscriptionIds],
  ]);
  if (ended.length === 0) return;
  const credits = await readCarriedCredits(
    sql,
    scope.environmentId,
    ended.map(({ id }) => id),
  );
  for (const { id, customer_id: customerId, currency } of ended) {
    const credit = credits.get(id);
    const left = credit ? creditLeftFor(credit, '') : '0';
    if (!decimal(left).greaterThan(0)) continue;
    const movedId = newId('ccred');
    const moved = { id: movedId, subscriptionId: id, customerId, currency, changeKey: null, at };
    await insertCredit(sql, scope, { ...moved, amount: decimalString(decimal(left).negated()) });
    await creditPrepaidWallet(sql, scope, {
      customerId,
      currency,
      amount: left,
      cause: 'proration',
      causeId: id,
      description: `Credit of subscription ${id} that no invoice used`,
      idempotencyKey: `carried:${movedId}`,
      at,
    });
  }
}
