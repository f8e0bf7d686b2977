import { type AgendaItem, sortAgenda } from '../../billing/agenda.ts';
import { decimal, decimalString } from '../../billing/money/money.ts';
import { type LotFate, type LotSurroundings, leavesAt, lotFate } from '../../billing/wallet/credit-expiry.ts';
import type { CreditLot } from '../../billing/wallet/credit-lot.ts';
import { planExpiry } from '../../billing/wallet/wallet-ledger.ts';
import { customerNow } from '../../db/clock.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { noteLots } from '../ledger/wallet-agenda.ts';
import { enterDebitOf, openLedger } from '../ledger/wallet-ledger.ts';
import { writeLedger } from '../ledger/wallet-ledger-write.ts';

const entryText = `
select t.occurred_at from agenda_entry a join wallet_transaction t on t.id = a.ref
where a.environment_id = $1 and a.object_type = 'wallet' and a.object_id = $2 and a.kind = 'expireLot' and a.ref = $3 for update of a`;

/**
 * Takes the credits of a lot out of its wallet when they may go, by one debit of its own; where something holds them it writes down
 * when that is looked at again, and says nothing. Doing it again changes nothing, and so does a lot that was used up meanwhile or
 * whose wallet is frozen or closed. spec: wallets-and-payments §2.8
 */
export async function expireLot(
  tx: ScopedSql,
  { walletId, lotId }: { walletId: string; lotId: string },
): Promise<void> {
  const { environmentId } = tx.scope;
  const ledger = await openLedger(tx, tx.scope, [walletId]);
  const wallet = ledger.wallets.get(walletId);
  if (!wallet) throw missing('wallet', walletId);
  noteLots(tx, tx.scope, [walletId]);
  // Locked before anything is read of what may hold it: what lets it go meanwhile waits here, and moves the entry afterwards.
  const [entry] = await tx.rows<{ occurred_at: string }>(entryText, [environmentId, walletId, lotId]);
  const lot = wallet.lots.find(({ id }) => id === lotId);
  if (!entry || !lot || wallet.walletStatus !== 'active') return;
  const surroundings = await readSurroundings(tx, wallet, wallet.now);
  const fate = lotFate({ ...lot, grantedAt: instantText(entry.occurred_at) }, surroundings);
  if (fate.outcome === 'expired') {
    enterDebitOf(ledger, wallet, expiryOf(lot), planExpiry(wallet, lot));
    await writeLedger(ledger);
    return;
  }
  const again = 'lookAgainAt' in fate ? fate.lookAgainAt : lot.expiryDate === null ? null : leavesAt(lot.expiryDate);
  await tx.rows(
    `update agenda_entry set due_at = $4 where environment_id = $1 and object_type = 'wallet' and object_id = $2 and kind = 'expireLot' and ref = $3`,
    [environmentId, walletId, lotId, again],
  );
}

/** The entry that takes an expired lot; the lot is its key, so that it is taken once. spec: wallets-and-payments §2.8 */
function expiryOf(lot: CreditLot) {
  return {
    reason: 'CREDIT_EXPIRED',
    quantity: { credits: lot.creditsAvailable },
    referenceType: 'REQUEST' as const,
    referenceId: lot.id,
    idempotencyKey: lot.id,
    description: `Credits of ${lot.id} expired`,
    metadata: { expired_transaction_id: lot.id, expiry_date: lot.expiryDate ?? '' },
  };
}

const subscriptionsText = `
select id, subscription_status, subscription_type, current_period_end from subscription
where environment_id = $1 and invoicing_customer_id = $2 and status = 'published' and subscription_status = 'active'
  and subscription_type in ('standalone', 'parent') and current_period_end <= $3 order by id`;
const invoicesText = `
select id, invoice_type, lower(currency) as currency, invoice_status, amount_remaining, period_start, period_end, finalized_at from invoice
where environment_id = $1 and customer_id = $2 and lower(currency) = $3 and status = 'published' and invoice_type = 'SUBSCRIPTION'
  and invoice_status in ('DRAFT', 'FINALIZED') and amount_remaining > 0 order by id`;

/** Reasons to hold the lots of a wallet: subscriptions its customer pays, and its customer's invoices that are not settled. */
async function readSurroundings(
  tx: ScopedSql,
  { customerId, currency }: { customerId: string; currency: string },
  now: string,
): Promise<LotSurroundings> {
  const { environmentId } = tx.scope;
  const [subscriptions, invoices] = await Promise.all([
    tx.rows(subscriptionsText, [environmentId, customerId, now]),
    tx.rows(invoicesText, [environmentId, customerId, currency]),
  ]);
  const optional = (value: string | null) => (value === null ? null : instantText(value));
  return {
    now,
    currency,
    subscriptions: subscriptions.map((row) => ({
      id: row.id,
      subscriptionStatus: row.subscription_status,
      subscriptionType: row.subscription_type,
      currentPeriodEnd: optional(row.current_period_end),
    })),
    invoices: invoices.map((row) => ({
      id: row.id,
      invoiceType: row.invoice_type,
      currency: row.currency,
      invoiceStatus: row.invoice_status,
      amountRemaining: decimal(row.amount_remaining),
      periodStart: optional(row.period_start),
      periodEnd: optional(row.period_end),
      finalizedAt: optional(row.finalized_at),
    })),
  };
}

/** A wallet as its workflow sees it between two activities. */
export interface WalletState {
  version: number;
  walletStatus: string;
  /** The first entries of its agenda. */
  agenda: AgendaItem[];
  /** Lots of those entries: what is left of each, when it expires, and what holds it. */
  lots: { id: string; credits: string; expiryDate: string; fate: LotFate }[];
  /** Number of its lots with an expiry. */
  lotCount: number;
  /** Time of the customer's test clock where that stands still; null while it moves, and on real time. */
  clockTime: string | null;
  /** The step at which it is parked, and why; null when it is not. */
  blockedOn: string | null;
  blockedReason: string | null;
}

/** Lots that a run knows of a wallet with very many; it reads the next ones with each that goes. */
const knownEntries = 20;

const stateText = `
select w.version, w.wallet_status, w.customer_id, w.currency, case when k.target_time is null then k.frozen_time end as clock_time,
  (select array[o.step, o.reason] from parked_object o
   where o.environment_id = $1 and o.object_type = 'wallet' and o.object_id = w.id) as parked
from wallet w join customer c on c.id = w.customer_id left join test_clock k on k.id = c.test_clock_id
where w.environment_id = $1 and w.id = $2 and w.status = 'published'`;
const agendaText = `
select a.due_at, a.kind, a.ref, t.credits_available, t.expiry_date, t.occurred_at, count(*) over () as total
from agenda_entry a join wallet_transaction t on t.id = a.ref
where a.environment_id = $1 and a.object_type = 'wallet' and a.object_id = $2 order by a.due_at, a.kind, a.ref limit ${knownEntries}`;

/** The state of a wallet for its workflow. Throws `not_found`. */
export async function loadWalletState(tx: ScopedSql, walletId: string): Promise<WalletState> {
  const values = [tx.scope.environmentId, walletId];
  const [row] = await tx.rows(stateText, values);
  if (!row) throw missing('wallet', walletId);
  const entries = await tx.rows(agendaText, values);
  const now = await customerNow(tx, row.customer_id);
  const held = entries.some((entry) => leavesAt(instantText(entry.expiry_date)) <= now);
  const wallet = { customerId: row.customer_id as string, currency: row.currency as string };
  const surroundings = held
    ? await readSurroundings(tx, wallet, now)
    : { now, currency: wallet.currency, subscriptions: [], invoices: [] };
  return {
    version: row.version,
    walletStatus: row.wallet_status,
    agenda: sortAgenda(
      entries.map(({ due_at, kind, ref }) => ({ at: instantText(due_at), kind, ref })),
      lifecycleKinds.wallet.agenda,
    ),
    lots: entries.map((entry) => {
      const expiryDate = instantText(entry.expiry_date);
      const lot = { creditsAvailable: decimal(entry.credits_available), expiryDate };
      return {
        id: entry.ref,
        credits: decimalString(decimal(decimalText(entry.credits_available))),
        expiryDate,
        fate: lotFate({ ...lot, grantedAt: instantText(entry.occurred_at) }, surroundings),
      };
    }),
    lotCount: Number(entries[0]?.total ?? 0),
    clockTime: row.clock_time ? instantText(row.clock_time) : null,
    blockedOn: row.parked?.[0] ?? null,
    blockedReason: row.parked?.[1] ?? null,
  };
}
