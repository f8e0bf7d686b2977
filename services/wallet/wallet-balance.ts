import { decimal, decimalString, sum } from '../../billing/money/money.ts';
import { type CreditLot, creditsBreakdown } from '../../billing/wallet/credit-lot.ts';
import { type RealTimeBalance, realTimeBalance, type WalletClaims } from '../../billing/wallet/wallet-balance.ts';
import { customerNow, realNow } from '../../db/clock.ts';
import type { Wallet } from '../../db/entities/wallet/wallet.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { ScopedSql, Transaction } from '../../db/transaction.ts';
import { type RunningCost, runningCosts } from '../charging/running-cost.ts';
import { lotOf } from '../ledger/wallet-ledger.ts';
import type { UsageReader } from '../usage-reader.ts';

/** What a wallet has now, beside what it is owed. */
export interface WalletBalance extends RealTimeBalance {
  now: string;
  breakdown: { free: string; purchased: string };
}

/**
 * The real-time balances of wallets of one customer, by wallet id. Usage under way is what the current periods of its
 * subscriptions cost up to now, as their invoices would bill it. spec: wallets-and-payments §2.10
 */
export async function walletBalances(
  tx: Transaction,
  customerId: string,
  wallets: readonly Wallet[],
  readUsage: UsageReader,
): Promise<Map<string, WalletBalance>> {
  const paid = wallets.some(answersForUsage) ? await paidSubscriptions(tx, customerId) : [];
  return balancesAfter(tx, customerId, wallets, await runningCosts(tx, tx.scope, paid, readUsage));
}

/** The same where the costs of the customer's `paidSubscriptions` are known, by subscription id; those of others are ignored. */
export async function balancesAfter(
  tx: Transaction,
  customerId: string,
  wallets: readonly Wallet[],
  costs: ReadonlyMap<string, RunningCost>,
): Promise<Map<string, WalletBalance>> {
  const now = await customerNow(tx, customerId);
  const claims = wallets.some(answersForUsage)
    ? await readClaims(tx, customerId, now, costs)
    : { subscriptions: [], invoices: [], now };
  const lots = await openLots(
    tx,
    wallets.map((wallet) => wallet.id),
  );
  return new Map(
    wallets.map((wallet) => {
      const own = lots.get(wallet.id) ?? [];
      const { free, purchased } = creditsBreakdown(own, now);
      // Expired lots that are still to leave the balance pay nothing any more.
      const unusable = sum(own.map((lot) => lot.creditsAvailable))
        .minus(free)
        .minus(purchased);
      const measured = {
        ...wallet,
        balance: decimal(wallet.balance),
        creditBalance: decimal(wallet.creditBalance),
        usableCredits: decimal(wallet.creditBalance).minus(unusable),
      };
      const breakdown = { free: decimalString(free), purchased: decimalString(purchased) };
      return [wallet.id, { ...realTimeBalance(measured, claims), now, breakdown }];
    }),
  );
}

/**
 * Usable credits of wallets by where they came from, by wallet id, each at its customer's now.
 * spec: wallets-and-payments §2.10 Breakdown
 */
export async function walletBreakdowns(
  tx: Transaction,
  wallets: readonly Wallet[],
): Promise<Map<string, WalletBalance['breakdown']>> {
  const ids = wallets.map((wallet) => wallet.id);
  const lots = await openLots(tx, ids);
  const nows = await tx.rows<{ id: string; now: string }>(
    `select w.id, coalesce(k.frozen_time, $2::timestamptz) as now from wallet w join customer c on c.id = w.customer_id
     left join test_clock k on k.id = c.test_clock_id where w.id = any($1)`,
    [ids, realNow()],
  );
  return new Map(
    nows.map(({ id, now }) => {
      const { free, purchased } = creditsBreakdown(lots.get(id) ?? [], instantText(now));
      return [id, { free: decimalString(free), purchased: decimalString(purchased) }];
    }),
  );
}

/** True for a wallet that usage under way lowers. */
export function answersForUsage({ walletStatus, walletType }: Wallet): boolean {
  return walletStatus === 'active' && walletType === 'PRE_PAID';
}

async function openLots(tx: Transaction, walletIds: readonly string[]): Promise<Map<string, CreditLot[]>> {
  if (walletIds.length === 0) return new Map();
  const rows = await tx.rows(
    `select id, wallet_id, credit_amount, credits_available, expiry_date, priority, created_at, transaction_reason, transaction_status, status
     from wallet_transaction where wallet_id = any($1) and credits_available > 0`,
    [walletIds],
  );
  const byWallet = Map.groupBy(rows, (row) => row.wallet_id as string);
  return new Map([...byWallet].map(([id, own]) => [id, own.map(lotOf)]));
}

const owedText = `
select i.currency, i.invoice_status, i.payment_status, i.period_end, i.amount_remaining, i.amount_paid, coalesce((
  select sum(l.amount - l.line_item_discount - l.invoice_level_discount - l.prepaid_credits_applied) from invoice_line_item l
  where l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published' and l.price_type = 'USAGE'), 0) as net_usage
from invoice i where i.environment_id = $1 and i.customer_id = $2 and i.status = 'published'
  and i.invoice_status in ('DRAFT', 'FINALIZED') and i.amount_remaining <> 0 and i.payment_status <> 'SUCCEEDED'`;

/** Subscriptions whose usage a customer pays, by their ids, in their order. */
export async function paidSubscriptions(tx: ScopedSql, customerId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from subscription
     where environment_id = $1 and invoicing_customer_id = $2 and status = 'published' and subscription_status in ('active', 'trialing')
       and subscription_type in ('standalone', 'parent') order by id`,
    [tx.scope.environmentId, customerId],
  );
  return rows.map(({ id }) => id);
}

async function readClaims(
  tx: Transaction,
  customerId: string,
  now: string,
  costs: ReadonlyMap<string, RunningCost>,
): Promise<WalletClaims> {
  const { environmentId } = tx.scope;
  const paid = [...costs.values()].filter(({ subscription }) => subscription.invoicingCustomerId === customerId);
  const subscriptions = paid.map(({ subscription: { currency, status, subscriptionType }, usageAmount }) => ({
    currency,
    subscriptionStatus: status,
    subscriptionType,
    usageAmount,
  }));
  const invoices = await tx.rows(owedText, [environmentId, customerId]);
  return {
    now,
    subscriptions,
    invoices: invoices.map((row) => ({
      currency: (row.currency as string).toLowerCase(),
      invoiceStatus: row.invoice_status as string,
      paymentStatus: row.payment_status as string,
      periodEnd: row.period_end ? instantText(row.period_end as string) : null,
      amountRemaining: decimal(decimalText(row.amount_remaining as string)),
      amountPaid: decimal(decimalText(row.amount_paid as string)),
      netUsage: decimal(decimalText(row.net_usage as string)),
    })),
  };
}
