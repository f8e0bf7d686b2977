import { type Decimal, decimalString, roundToCurrency } from '../../billing/money/money.ts';
import { isWithinMandate } from '../../billing/payment/saved-method.ts';
import { cooldownMs } from '../../billing/wallet/auto-topup-cooldown.ts';
import { minimumOf, termsOf } from '../../billing/wallet/auto-topup-decision.ts';
import {
  type AutoTopupLimits,
  attemptsWithin,
  backOffMs,
  type CountedAttempt,
  localMonth,
  monthAmount,
  monthLimitOf,
  mostTimes,
  type ReachedLimit,
  reachedWindows,
} from '../../billing/wallet/auto-topup-limits.ts';
import type { PauseReason, StandingFacts } from '../../billing/wallet/auto-topup-standing.ts';
import { creditValue } from '../../billing/wallet/wallet.ts';
import type { AutoTopup } from '../../db/entities/wallet/wallet.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { isChargedAlone } from '../collection/payment-connection.ts';
import { settingDefaults } from '../platform/setting-defaults.ts';
import { purchaseTaxes, withTax } from './purchase-tax.ts';

/** Everything that is read of a wallet's automatic top-ups, and what the pure functions are asked with. */
export interface AutoTopupRead {
  walletId: string;
  tenantId: string;
  customerId: string;
  currency: string;
  testClockId: string | null;
  topupConversionRate: string;
  config: AutoTopup;
  facts: StandingFacts;
  limits: AutoTopupLimits;
  minimum: string | null;
  /** Cost of so many times the configured amount to the payer, added tax included, at the currency's precision. */
  costOf: (times: number) => Decimal;
  /** How many times the amount is still allowed at once. */
  most: number;
  hasUnpaidInvoice: boolean;
  method: { id: string; card: string } | null;
  /** Attempt under way. */
  openAttempt: { id: string; invoiceId: string | null; paymentId: string | null } | null;
  counts: { attempts24h: number; attempts30d: number; monthAmount: string; monthLimit: string | null };
  row: {
    state: string;
    reason: string | null;
    until: string | null;
    attempts: number;
    evaluatedAt: string | null;
    consecutiveDeclines: number;
    version: number;
  };
}

interface ReadRow {
  tenant_id: string;
  customer_id: string;
  currency: string;
  wallet_status: string;
  wallet_type: string;
  topup_conversion_rate: string;
  auto_topup: AutoTopup | null;
  test_clock_id: string | null;
  frozen_time: string | null;
  timezone: string;
  tenant_state: string;
  method: { id: string; card: string; max_amount: string | null } | null;
  open: OpenRow | null;
  last: { is_pending: boolean; opened_at: string; ended_at: string | null; outcome: string | null } | null;
  pending_purchase: { ends_at: string | null } | null;
  has_unpaid_invoice: boolean;
  is_used: boolean;
  limits: Partial<AutoTopupLimits> | null;
  minimums: Record<string, string> | null;
  state: string;
  reason: string | null;
  until: string | null;
  pause: PauseReason | null;
  consecutive_declines: number;
  attempts: number;
  evaluate_at: string | null;
  evaluated_at: string | null;
  version: number;
  [column: string]: unknown;
}

interface OpenRow {
  id: string;
  opened_at: string;
  invoice_id: string | null;
  payment_id: string | null;
  payment_status: string | null;
  attended: boolean | null;
  awaits_payer_since: string | null;
  asked_to_lapse_at: string | null;
}

const setting = (key: string) =>
  `(select s.value from setting s where s.environment_id = $1 and s.key = '${key}' and s.status = 'published')`;

const attemptColumns = `jsonb_build_object('id', a.id, 'opened_at', a.opened_at, 'invoice_id', a.invoice_id, 'payment_id', a.payment_id,
    'asked_to_lapse_at', a.asked_to_lapse_at, 'payment_status', p.payment_status, 'attended', p.attended,
    'awaits_payer_since', coalesce(p.awaits_payer_since, a.needs_action_since))`;

// $2 the wallet, $3 real time. A purchase of somebody else's holds top-ups up while money for it may be on its way.
const readText = `
select w.tenant_id, w.customer_id, w.currency, w.wallet_status, w.wallet_type, w.topup_conversion_rate, w.auto_topup, c.test_clock_id, k.frozen_time,
  c.timezone, e.state as tenant_state, r.state, r.reason, r.until, r.pause, r.consecutive_declines, r.attempts, r.evaluate_at,
  r.evaluated_at, r.version,
  (select jsonb_build_object('id', m.id, 'card', m.gateway || '/' || coalesce(m.fingerprint, m.gateway_token), 'max_amount', m.max_amount::text)
    from payment_method m
    where m.environment_id = $1 and m.customer_id = w.customer_id and m.status = 'published' and m.is_default
      and ${isChargedAlone}) as method,
  (select ${attemptColumns} from auto_topup_attempt a left join payment p on p.id = a.payment_id
    where a.environment_id = $1 and a.wallet_id = w.id and a.outcome is null) as open,
  (select jsonb_build_object('is_pending', a.outcome is null, 'opened_at', a.opened_at, 'ended_at', a.ended_at, 'outcome', a.outcome)
    from auto_topup_attempt a where a.environment_id = $1 and a.customer_id = w.customer_id and a.currency = w.currency
    order by a.opened_at desc, a.number desc limit 1) as last,
  (select jsonb_build_object('ends_at', case when bool_and(p.payment_status in ('INITIATED', 'PENDING')) and k.id is null
      then max(p.created_at) + interval '30 minutes' end)
    from wallet_transaction t left join invoice i on i.purchase_id = t.id and i.environment_id = $1
    join payment p on p.environment_id = $1 and (p.purchase_id = t.id or p.destination_id = i.id)
    where t.wallet_id = w.id and t.transaction_status = 'pending' and (p.payment_status = 'PROCESSING'
      or (p.payment_status in ('INITIATED', 'PENDING') and p.created_at > $3::timestamptz - interval '30 minutes'))
      and not exists (select from auto_topup_attempt a where a.environment_id = $1 and a.purchase_id = t.id)
    having count(*) > 0) as pending_purchase,
  exists (select from wallet_transaction t join invoice i on i.environment_id = $1 and i.purchase_id = t.id
    where t.wallet_id = w.id and t.transaction_status = 'pending' and i.billing_reason = 'WALLET_AUTO_TOPUP'
      and i.invoice_status = 'FINALIZED') as has_unpaid_invoice,
  exists (select from subscription s where s.environment_id = $1 and s.status = 'published' and s.subscription_status in ('active', 'trialing')
    and (s.invoicing_customer_id = w.customer_id or s.customer_id in (
      select d.id from customer d where d.environment_id = $1 and d.parent_customer_id = w.customer_id)))
  or exists (select from wallet o cross join lateral (select t.occurred_at from wallet_transaction t where t.wallet_id = o.id
      and t.transaction_reason = 'MANUAL_BALANCE_DEBIT' order by t.position desc limit 1) newest
    where o.environment_id = $1 and o.customer_id = w.customer_id
    and newest.occurred_at > coalesce(k.frozen_time, $3::timestamptz) - interval '30 days') as is_used,
  ${setting('auto_topup_limits')} as limits, ${setting('min_topup_amount_per_currency')} as minimums
from wallet_auto_topup r join wallet w on w.id = r.id join customer c on c.id = w.customer_id join tenant e on e.id = w.tenant_id
left join test_clock k on k.id = c.test_clock_id
where r.environment_id = $1 and r.id = $2`;

const countedText = `
select opened_at, outcome, amount, card, customer_id, currency from auto_topup_attempt
where environment_id = $1 and opened_at > $5::timestamptz - interval '32 days' and (customer_id = $2 and currency = $3
  or (card = $4 and test_clock_id is not distinct from $6))`;

/** Reads how the top-ups of a wallet stand; null for a wallet that never had any. */
export async function readAutoTopup(sql: Sql, scope: Scope, walletId: string): Promise<AutoTopupRead | null> {
  const realTime = new Date().toISOString();
  const [row] = await sql.rows<ReadRow>(readText, [scope.environmentId, walletId, realTime]);
  if (!row) return null;
  const now = row.frozen_time ? instantText(row.frozen_time) : realTime;
  const card = row.method?.card ?? null;
  const counted = await sql.rows<Record<string, string | null>>(countedText, [
    scope.environmentId,
    row.customer_id,
    row.currency,
    card,
    now,
    row.test_clock_id,
  ]);
  const toAttempt = (each: Record<string, string | null>): CountedAttempt => ({
    openedAt: instantText(each.opened_at!),
    outcome: each.outcome ?? null,
    amount: decimalText(each.amount!),
  });
  const own = counted.filter((each) => each.customer_id === row.customer_id && each.currency === row.currency);
  const ofCard = card === null ? [] : counted.filter((each) => each.card === card);
  return assembled(
    walletId,
    row,
    now,
    await costOfTimes(sql, scope, row, now),
    own.map(toAttempt),
    ofCard.map(toAttempt),
  );
}

function assembled(
  walletId: string,
  row: ReadRow,
  now: string,
  costOf: (times: number) => Decimal,
  own: readonly CountedAttempt[],
  ofCard: readonly CountedAttempt[],
): AutoTopupRead {
  const config: AutoTopup = { ...noAutoTopup, ...row.auto_topup };
  const limits: AutoTopupLimits = { ...settingDefaults.auto_topup_limits, ...row.limits };
  const terms = termsOf({ ...config, cooldownMs: cooldownMs(config.cooldown) });
  const exact = creditValue(terms.amount, row.topup_conversion_rate);
  const minimum = minimumOf({ ...settingDefaults.min_topup_amount_per_currency, ...row.minimums }, row.currency);
  const month = localMonth(now, row.timezone);
  const monthLimit = monthLimitOf(limits, row.currency);
  const spent = monthAmount(own, month);
  const mandate = row.method?.max_amount ?? null;
  const most = mostTimes(costOf, limits, { spent, monthLimit }, mandate);
  const monthReached: ReachedLimit[] =
    mostTimes(costOf, limits, { spent, monthLimit }) < 1 ? [{ reason: 'monthly_amount', until: month.end }] : [];
  const { open, last } = row;
  const failedAt =
    last !== null && last.outcome !== null && last.outcome !== 'succeeded' ? instantOf(last.ended_at) : null;
  const facts: StandingFacts = {
    now,
    walletStatus: row.wallet_status,
    isTenantSuspended: row.tenant_state === 'suspended',
    terms,
    collection: config.collection ?? 'charge',
    hasMethod: row.method !== null,
    open: open && openOf(open),
    invoiceLifetimeDays: config.invoice_lifetime_days ?? 7,
    pause: row.pause,
    consecutiveDeclines: row.consecutive_declines,
    last: last && {
      isPending: last.is_pending,
      createdAt: instantText(last.opened_at),
      failedAt,
      waitAfterFailureMs: backOffMs(row.consecutive_declines),
    },
    limits: [...reachedWindows(own, limits, now), ...reachedWindows(ofCard, limits, now, 'card_'), ...monthReached],
    pendingPurchase: row.pending_purchase && { endsAt: instantOf(row.pending_purchase.ends_at) },
    isUnused: !row.is_used,
    isBelowMinimum: minimum !== null && exact.lessThan(minimum),
    isBelowGatewayMinimum: costOf(1).isZero(),
    isAboveMandate: !isWithinMandate(mandate, costOf(1)),
    evaluateAt: instantOf(row.evaluate_at),
  };
  return {
    walletId,
    tenantId: row.tenant_id,
    customerId: row.customer_id,
    currency: row.currency,
    testClockId: row.test_clock_id,
    topupConversionRate: decimalText(row.topup_conversion_rate),
    config,
    facts,
    limits,
    minimum,
    costOf,
    most,
    hasUnpaidInvoice: row.has_unpaid_invoice,
    method: row.method,
    openAttempt: open && { id: open.id, invoiceId: open.invoice_id, paymentId: open.payment_id },
    counts: {
      attempts24h: attemptsWithin(own, now, 1),
      attempts30d: attemptsWithin(own, now, 30),
      monthAmount: decimalString(spent),
      monthLimit,
    },
    row: {
      state: row.state,
      reason: row.reason,
      until: instantOf(row.until),
      attempts: row.attempts,
      evaluatedAt: instantOf(row.evaluated_at),
      consecutiveDeclines: row.consecutive_declines,
      version: row.version,
    },
  };
}

/** Cost of top-ups: only an invoice bears tax, where the setting has credits taxed as they are bought. design: money-in-wallets finding 6 */
async function costOfTimes(sql: Sql, scope: Scope, row: ReadRow, now: string): Promise<(times: number) => Decimal> {
  const { customer_id: customerId, currency, wallet_type: walletType, auto_topup: config } = row;
  const exact = creditValue(config?.amount ?? '0', row.topup_conversion_rate);
  const amount = roundToCurrency(exact, currency);
  const untaxed = (times: number) => amount.times(times);
  if (!config?.invoicing) return untaxed;
  const taxes = await purchaseTaxes(sql, scope, { customerId, currency, walletType, now });
  return taxes.rates.length === 0 ? untaxed : (times) => withTax(exact.times(times), taxes, currency);
}

/** A wallet that does not fill itself. */
export const noAutoTopup: AutoTopup = {
  enabled: false,
  amount: null,
  threshold: null,
  invoicing: false,
  cooldown: null,
};

function openOf(open: OpenRow): StandingFacts['open'] {
  const isOpen = open.payment_status === 'PROCESSING';
  return {
    openedAt: instantText(open.opened_at),
    unsentPaymentId: isOpen && open.attended === false ? open.payment_id : null,
    hasPayment: isOpen,
    awaitsPayerSince: instantOf(open.awaits_payer_since),
    askedToLapseAt: instantOf(open.asked_to_lapse_at),
  };
}

function instantOf(text: string | null): string | null {
  return text === null ? null : instantText(text);
}
