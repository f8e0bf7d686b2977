import type { Sql } from '../transaction.ts';
import { alertRules } from './alert-rules.ts';
import { autoTopupRules } from './auto-topup-rules.ts';
import { carriedCreditRules } from './carried-credit-rules.ts';
import { checkoutRules } from './checkout-rules.ts';
import { deadlineRules } from './deadline-rules.ts';
import { environmentCloneRules } from './environment-clone-rules.ts';
import { historyRules } from './history-rules.ts';
import { inboundRules } from './inbound-rules.ts';
import { type Finding, graceSetting, type InvariantRule, maxViolations, type Violation } from './invariant.ts';
import { invoiceCountRules } from './invoice-count-rules.ts';
import { invoiceRules } from './invoice-rules.ts';
import { lotExpiryRules } from './lot-expiry-rules.ts';
import { referenceRules } from './reference-rules.ts';
import { refundRules } from './refund-rules.ts';
import { subscriptionRules } from './subscription-rules.ts';
import { taxedCreditRules } from './taxed-credit-rules.ts';
import { walletRules } from './wallet-rules.ts';

/**
 * Every rule that rows alone decide. Of I4 what is about usage, I5, I9 and I20 need the usage engine, the gateway and Temporal (activities/check/check.ts).
 * The delivery half of I10 waits for webhooks: nothing of them is stored yet.
 */
export const rowRules: readonly InvariantRule[] = [
  ...invoiceRules,
  ...invoiceCountRules,
  ...refundRules,
  ...subscriptionRules,
  ...historyRules,
  ...referenceRules,
  ...environmentCloneRules,
  ...deadlineRules,
  ...walletRules,
  ...taxedCreditRules,
  ...lotExpiryRules,
  ...carriedCreditRules,
  ...autoTopupRules,
  ...alertRules,
  ...checkoutRules,
  ...inboundRules,
];

/**
 * For this transaction, joins by hashing wherever that is possible. The policies of row-level security have a condition that holds for
 * all rows in the system scope, but PostgreSQL takes one row in two hundred to meet it, and before a table is analyzed it guesses as
 * low of other conditions. Tables look so small then that it would compare every row with every other, in a nested loop or in a merge
 * over `environment_id` alone, which takes many minutes for 10 000 subscriptions.
 */
const hashJoinsText = `select set_config('enable_nestloop', 'off', true), set_config('enable_mergejoin', 'off', true)`;

/**
 * Checks rows as one transaction of the system scope sees them. `graceMs` is how long something due may be under way.
 * design: quality.md Invariants
 */
export async function checkRows(sql: Pick<Sql, 'rows'>, options: { graceMs: number }): Promise<Finding[]> {
  await sql.rows('select set_config($1, $2, true)', [graceSetting, `${options.graceMs} milliseconds`]);
  await sql.rows(hashJoinsText);
  const counts = await examinedBy(sql, rowRules);
  const findings: Finding[] = [];
  for (const [index, { id, rule, violations, violatesOnlyExamined = false }] of rowRules.entries()) {
    const examined = counts[index] ?? 0;
    const found =
      examined === 0 && violatesOnlyExamined
        ? []
        : await sql.rows<Violation & { [column: string]: unknown }>(
            `select object, problem from (${violations}) found limit ${maxViolations}`,
          );
    findings.push({ id, rule, examined, violations: found });
  }
  return findings;
}

const countedAtOnce = 100;

/** The count of `examines` for each rule, in their order; many rules are counted in one statement. */
async function examinedBy(sql: Pick<Sql, 'rows'>, rules: readonly InvariantRule[]): Promise<number[]> {
  const counts: number[] = [];
  for (let from = 0; from < rules.length; from += countedAtOnce) {
    const counted = rules.slice(from, from + countedAtOnce).map(({ examines }) => `(${examines})::bigint`);
    const [row] = await sql.rows<{ counts: string[] }>(`select array[${counted.join(', ')}]::text[] as counts`);
    counts.push(...(row?.counts ?? []).map(Number));
  }
  return counts;
}
