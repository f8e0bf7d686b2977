import { type Decimal, decimalString } from '../../../billing/money/money.ts';
import { decideAutoTopup, timesOf } from '../../../billing/wallet/auto-topup-decision.ts';
import { autoTopupStanding, waitsUntil } from '../../../billing/wallet/auto-topup-standing.ts';
import { type BonusConfig, planBonus } from '../../../billing/wallet/topup.ts';
import { newId } from '../../../db/id.ts';
import { insertText, recordColumnTypes, writeRowsAndWait } from '../../../db/rows/bulk.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { openPayment } from '../../collection/payment.ts';
import { writeAudit } from '../../platform/audit.ts';
import { readSetting } from '../../platform/setting.ts';
import { type AutoTopupRead, readAutoTopup } from '../../topup/auto-topup-read.ts';
import { type AutoTopupState, lockAutoTopup, refreshAutoTopup } from '../../topup/auto-topup-standing.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { chargeForCredits } from '../charged-topup.ts';
import { buyCredits } from '../invoiced-topup.ts';
import { findWallet } from '../wallet.ts';
import { walletBalances } from '../wallet-balance.ts';
import { type TopupRequest, topUpWallet } from '../wallet-topup.ts';

/** What a look at a wallet is asked with. `isForced`: a person asks, so that pauses between top-ups do not hold; limits do. */
export interface Evaluation {
  walletId: string;
  readUsage: UsageReader;
  isForced?: boolean;
}

/**
 * Looks at a wallet and opens one top-up where its balance has fallen to the threshold and nothing holds it: guards, counters, attempt,
 * pending purchase and bonus, finalized invoice and payment in the caller's transaction, under the locks of the wallet, of its row and of
 * the card. Nothing is sent. However often it is asked, one attempt is open at most. Null for a wallet that never had top-ups.
 * spec: wallets-and-payments §2.11; design: money-in §1; money-in-wallets findings 1, 3, 8, 9, 11
 */
export async function evaluateAutoTopup(tx: Transaction, evaluation: Evaluation): Promise<AutoTopupState | null> {
  const { walletId, isForced = false } = evaluation;
  await tx.rows('select id from wallet where environment_id = $1 and id = $2 for update', [
    tx.scope.environmentId,
    walletId,
  ]);
  if (!(await lockAutoTopup(tx, tx.scope, walletId))) return null;
  const read = await readUnderCard(tx, walletId);
  if (!read) return null;
  await tx.rows(
    'update wallet_auto_topup set evaluate_at = null, evaluated_at = $3 where environment_id = $1 and id = $2',
    [tx.scope.environmentId, walletId, read.facts.now],
  );
  const standing = autoTopupStanding(read.facts);
  const isHeldByPause = standing.state === 'cooling' || standing.state === 'backing_off';
  if (standing.state === 'armed' || (isForced && isHeldByPause && read.facts.limits.length === 0)) {
    await openWhenLow(tx, read, evaluation);
  }
  return refreshAutoTopup(tx, tx.scope, walletId);
}

/** Reads a locked wallet behind the lock of its card: two wallets of one card count its attempts one after the other. */
async function readUnderCard(tx: Transaction, walletId: string): Promise<AutoTopupRead | null> {
  let locked: string | undefined;
  for (;;) {
    const read = await readAutoTopup(tx, tx.scope, walletId);
    const card = read?.method?.card;
    if (card === undefined || card === locked) return read;
    await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 1))', [`${tx.scope.environmentId} ${card}`]);
    locked = card;
  }
}

async function openWhenLow(tx: Transaction, read: AutoTopupRead, { readUsage, isForced }: Evaluation): Promise<void> {
  const { facts, method, walletId } = read;
  const wallet = await findWallet(tx, walletId);
  const balances = await walletBalances(tx, read.customerId, [wallet], readUsage);
  const { creditBalance: realTimeCreditBalance, spendable } = balances.get(walletId)!;
  const decided = decideAutoTopup({
    ...facts,
    realTimeCreditBalance,
    spendable,
    topupConversionRate: read.topupConversionRate,
    minimum: read.minimum,
    isOffSession: method !== null,
    hasCheckoutSession: false,
    hasUnpaidInvoice: read.hasUnpaidInvoice,
    last: isForced ? null : facts.last,
  });
  if (decided.action === 'skip') return;
  const bonuses = (await readSetting(tx, 'bonus_credits_topup_config')) as BonusConfig;
  const bonusOf = (credits: Decimal) =>
    planBonus({ credits, reason: decided.transactionReason, now: facts.now }, bonuses).credits;
  const shortfall = { balance: spendable, terms: facts.terms, most: read.most };
  const times = timesOf({ ...shortfall, coversShortfall: read.config.cover_shortfall ?? false }, bonusOf);
  if (times === null) return;
  await open(tx, read, times, readUsage);
}

/** Opened rows of an attempt; null where it has none. */
interface Opened {
  transactionId: string;
  invoiceId: string | null;
  paymentId: string | null;
  /** True for credits that are paid elsewhere, which are there at once. */
  isCompleted: boolean;
}

async function open(tx: Transaction, read: AutoTopupRead, times: number, readUsage: UsageReader): Promise<void> {
  const { walletId, facts, config, method } = read;
  const credits = facts.terms.amount.times(times);
  const number = read.row.attempts + 1;
  const request: TopupRequest & { idempotencyKey: string } = {
    walletId,
    reason: config.invoicing ? 'PURCHASED_CREDIT_INVOICED' : 'PURCHASED_CREDIT_DIRECT',
    creditsToAdd: decimalString(credits),
    amount: null,
    expiryDate: null,
    priority: null,
    idempotencyKey: `${walletId}:topup:${number}`,
    bonusCredits: null,
    bonusExpiryDate: null,
    description: 'Automatic top-up',
    metadata: { auto_topup: 'true' },
  };
  const opened = await openPurchase(tx, read, request, readUsage);
  const now = new Date().toISOString();
  const { tenantId, environmentId, actor } = tx.scope;
  const attempt = {
    id: newId('topup'),
    ...{ tenantId, environmentId, createdAt: now, createdBy: actor, updatedAt: now, updatedBy: actor },
    walletId,
    customerId: read.customerId,
    currency: read.currency,
    number,
    openedAt: facts.now,
    credits: decimalString(credits),
    amount: decimalString(read.costOf(times)),
    card: method?.card ?? null,
    purchaseId: opened.transactionId,
    invoiceId: opened.invoiceId,
    paymentId: opened.paymentId,
    outcome: opened.isCompleted ? 'succeeded' : null,
    endedAt: opened.isCompleted ? facts.now : null,
    testClockId: read.testClockId,
  };
  await writeRowsAndWait(tx, insertAttempt, [attempt]);
  // What is paid elsewhere came at once: without a pause the wallet is looked at again until it is above the threshold.
  await tx.rows(
    `update wallet_auto_topup set attempts = $3, evaluate_at = case when $4 then $5::timestamptz end where environment_id = $1 and id = $2`,
    [environmentId, walletId, number, opened.isCompleted, facts.now],
  );
  if (method) await rememberCharge(tx, walletId);
  await writeAudit(tx, tx.scope, [
    {
      objectType: 'wallet',
      objectId: walletId,
      action: 'auto top-up opened',
      occurredAt: facts.now,
      detail: { attempt_id: attempt.id, number, credits: attempt.credits, amount: attempt.amount },
    },
  ]);
}

async function openPurchase(
  tx: Transaction,
  { config, method, facts }: AutoTopupRead,
  request: TopupRequest & { idempotencyKey: string },
  readUsage: UsageReader,
): Promise<Opened> {
  if (config.invoicing) {
    const { transactionId, invoiceId } = await buyCredits(tx, request, readUsage, {
      automatic: { dueAt: method === null ? waitsUntil(facts) : null },
    });
    if (method === null) return { transactionId, invoiceId, paymentId: null, isCompleted: false };
    const { idempotencyKey } = request;
    const charge = {
      invoiceId,
      idempotencyKey,
      intentToken: idempotencyKey,
      at: facts.now,
      paymentMethodId: method.id,
    };
    const payment = await openPayment(tx, charge);
    if (payment.kind !== 'opened')
      throw new Error(`invoice ${invoiceId} of a top-up cannot be charged: ${payment.kind}`);
    return { transactionId, invoiceId, paymentId: payment.paymentId, isCompleted: false };
  }
  if (method !== null) {
    const { transactionId, paymentId } = await chargeForCredits(tx, request, method.id);
    return { transactionId, invoiceId: null, paymentId, isCompleted: false };
  }
  const { entry } = await topUpWallet(tx, request);
  return { transactionId: entry.id, invoiceId: null, paymentId: null, isCompleted: true };
}

/** A wallet that was charged once is never given credits for nothing when its card is lost. design: money-in-wallets finding 3 */
async function rememberCharge(tx: Transaction, walletId: string): Promise<void> {
  await tx.rows(
    `update wallet set auto_topup = auto_topup || '{"collection": "charge"}' where environment_id = $1 and id = $2`,
    [tx.scope.environmentId, walletId],
  );
}

const insertAttempt = insertText('auto_topup_attempt', {
  ...recordColumnTypes,
  walletId: 'text',
  customerId: 'text',
  currency: 'text',
  number: 'int',
  openedAt: 'timestamptz',
  credits: 'numeric',
  amount: 'numeric',
  card: 'text',
  purchaseId: 'text',
  invoiceId: 'text',
  paymentId: 'text',
  outcome: 'text',
  endedAt: 'timestamptz',
  testClockId: 'text',
});
