import { decimal, decimalString, sum } from '../../billing/money/money.ts';
import { insertText, writeRows } from '../../db/rows/bulk.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/** A completed credit, at its instant on the customer's clock. */
export interface CompletedCredit {
  walletId: string;
  creditAmount: string;
  occurredAt: string;
}

const upsertDays = insertText(
  'wallet_credit_day',
  { environmentId: 'text', walletId: 'text', day: 'date', tenantId: 'text', credits: 'numeric' },
  `on conflict (environment_id, wallet_id, day) do update set credits = wallet_credit_day.credits + excluded.credits`,
);

/**
 * Adds completed credits of locked wallets to the sums of their days in UTC, in the transaction that completes them: a percentage of the
 * credits of a period is known without reading them. One statement, none without credits. design: money-in-wallets finding 54
 */
export async function countCredits(sql: Sql, scope: Scope, credits: readonly CompletedCredit[]): Promise<void> {
  const { environmentId, tenantId } = scope;
  const byDay = Map.groupBy(credits, ({ walletId, occurredAt }) => `${walletId} ${occurredAt.slice(0, 10)}`);
  const days = [...byDay.values()].map((own) => ({
    environmentId,
    tenantId,
    walletId: own[0]!.walletId,
    day: own[0]!.occurredAt.slice(0, 10),
    credits: decimalString(sum(own.map(({ creditAmount }) => decimal(creditAmount)))),
  }));
  await writeRows(sql, upsertDays, days);
}
