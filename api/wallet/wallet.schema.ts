import { z } from 'zod';
import { decimalString } from '../../billing/money/money.ts';
import { priceTypes, walletTypes } from '../../billing/wallet/wallet.ts';
import type { Customer } from '../../db/entities/customer/customer.ts';
import type { Wallet } from '../../db/entities/wallet/wallet.ts';
import type { WalletFilters } from '../../services/wallet/wallet.ts';
import type { WalletBalance } from '../../services/wallet/wallet-balance.ts';
import { customer, viewCustomer } from '../customer/customer.schema.ts';
import { jsonNumber } from '../decimal.ts';
import { expandInput, listOf, listQuery, searchBody } from '../list.ts';
import {
  booleanQuery,
  decimalOutput,
  idListInput,
  idListQuery,
  metadataOutput,
  numberOutput,
  recordOutput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';
import { autoTopupStanding } from './auto-topup.schema.ts';

const walletStatus = z.enum(['active', 'frozen', 'closed']);
const alertState = z.enum(['ok', 'info', 'warning', 'in_alarm']);
const expand = ['customer', 'credits_available_breakdown'];
const id = z.string().min(1).max(255);

export const walletListQuery = listQuery(
  {
    status: walletStatus.optional(),
    wallet_ids: idListQuery().optional(),
    customer_id: id.optional(),
    alert_enabled: booleanQuery().optional(),
  },
  expand,
);

export const walletSearchBody = searchBody(
  {
    status: walletStatus.nullish(),
    wallet_ids: idListInput().nullish(),
    alert_enabled: z.boolean().nullish(),
  },
  expand,
);

export const balanceQuery = z.object({
  expand: expandInput(expand).optional(),
  from_cache: booleanQuery().optional(),
});

export const customerWalletsQuery = z.object({
  id: id.optional(),
  lookup_key: id.optional(),
  include_real_time_balance: booleanQuery().optional(),
  from_cache: booleanQuery().optional(),
  expand: expandInput(expand).optional(),
});

/** How old a cached balance may be; balances are computed on every read, which no age forbids. spec: wallets-and-payments §2.10 */
export const balanceHeaders = z.object({
  'x-max-live': z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number of seconds, 0 or more')
    .optional(),
});

const autoTopup = z.object({
  enabled: z.boolean(),
  amount: numberOutput().nullable(),
  threshold: numberOutput().nullable(),
  invoicing: z.boolean(),
  cooldown: z.string().nullable(),
  collection: z.enum(['charge', 'invoice', 'elsewhere']).nullable().describe('Own: how top-ups are paid.'),
  cover_shortfall: z.boolean(),
  invoice_lifetime_days: z.int(),
  allow_concurrent: z.boolean(),
});

const breakdown = z.object({ free: decimalOutput(), purchased: decimalOutput() });

const walletFields = {
  ...recordOutput,
  customer_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  currency: z.string(),
  wallet_status: walletStatus,
  wallet_type: z.enum(walletTypes),
  balance: decimalOutput(),
  credit_balance: decimalOutput(),
  real_time_balance: decimalOutput().nullable(),
  real_time_credit_balance: decimalOutput().nullable(),
  credits_available_breakdown: breakdown.nullable(),
  conversion_rate: decimalOutput(),
  topup_conversion_rate: decimalOutput(),
  config: z.object({ allowed_price_types: z.array(z.enum(priceTypes)) }),
  auto_topup: autoTopup.nullable(),
  auto_topup_standing: autoTopupStanding.nullable(),
  alert_settings: z.record(z.string(), z.unknown()).nullable(),
  alert_state: alertState,
  metadata: metadataOutput(),
  customer: customer.nullable().describe('Shown where `expand` asks for it.'),
};

export const wallet = z.object(walletFields).meta({ id: 'Wallet' });
export const walletList = listOf(wallet, 'ListWalletsResponse');
export const terminatedWallet = z.object({ ...walletFields, message: z.string() }).meta({ id: 'TerminatedWallet' });
export const modifiedWallet = z
  .object({ original_wallet: wallet, new_wallet: wallet })
  .meta({ id: 'WalletModificationResponse' });

export const walletBalance = z
  .object({
    ...walletFields,
    balance_updated_at: timestampOutput().nullable(),
    current_period_usage: decimalOutput().nullable(),
    unpaid_invoices_amount: decimalOutput().nullable(),
    is_cached_fallback: z.boolean(),
  })
  .meta({ id: 'WalletBalance' });
export const walletBalances = z.array(walletBalance);

export function walletFilters(input: Record<string, unknown> | null | undefined): WalletFilters {
  return {
    walletIds: input?.wallet_ids as string[] | undefined,
    customerId: input?.customer_id as string | undefined,
    status: input?.status as string | undefined,
    alertEnabled: input?.alert_enabled as boolean | undefined,
  };
}

/** A wallet; the figures and the standing of its top-ups, which only some reads compute, are null elsewhere. */
export function viewWallet(
  row: Wallet,
  standing: z.output<typeof autoTopupStanding> | null = null,
): z.output<typeof wallet> {
  return {
    ...viewRecord(row),
    customer_id: row.customerId,
    name: row.name,
    description: row.description ?? null,
    currency: row.currency,
    wallet_status: row.walletStatus as z.output<typeof walletStatus>,
    wallet_type: row.walletType as z.output<typeof wallet>['wallet_type'],
    balance: row.balance,
    credit_balance: row.creditBalance,
    real_time_balance: null,
    real_time_credit_balance: null,
    credits_available_breakdown: null,
    conversion_rate: row.conversionRate,
    topup_conversion_rate: row.topupConversionRate,
    config: { allowed_price_types: row.allowedPriceTypes as z.output<typeof wallet>['config']['allowed_price_types'] },
    auto_topup: row.autoTopup ? viewAutoTopup(row.autoTopup) : null,
    auto_topup_standing: standing,
    alert_settings: row.alertSettings ?? null,
    alert_state: row.alertState as z.output<typeof alertState>,
    metadata: row.metadata,
    customer: null,
  };
}

/** Objects shown with wallets where `expand` asks for them: customers by their ids, parts of credits by the wallet's. */
export interface WalletCompany {
  customers: ReadonlyMap<string, Customer>;
  breakdowns: ReadonlyMap<string, { free: string; purchased: string }>;
}

/** A wallet of a list with what was expanded. design: money-in-wallets finding 46 */
export function viewListedWallet(row: Wallet, { customers, breakdowns }: WalletCompany): z.output<typeof wallet> {
  const owner = customers.get(row.customerId);
  return {
    ...viewWallet(row),
    credits_available_breakdown: breakdowns.get(row.id) ?? null,
    customer: owner ? viewCustomer(owner) : null,
  };
}

function viewAutoTopup(given: NonNullable<Wallet['autoTopup']>): z.output<typeof autoTopup> {
  const { enabled, amount, threshold, invoicing, cooldown } = given;
  return {
    enabled,
    amount: amount === null ? null : jsonNumber(amount),
    threshold: threshold === null ? null : jsonNumber(threshold),
    invoicing,
    cooldown,
    collection: given.collection ?? null,
    cover_shortfall: given.cover_shortfall ?? false,
    invoice_lifetime_days: given.invoice_lifetime_days ?? 7,
    allow_concurrent: given.allow_concurrent ?? false,
  };
}

/** A wallet with its real-time figures, where they were asked for, and the parts its credits come from, when expanded. */
export function viewWalletBalance(
  row: Wallet,
  balance: WalletBalance | undefined,
  expanded: readonly string[] | undefined,
  owner: Customer | null = null,
): z.output<typeof walletBalance> {
  const shown = { ...viewWallet(row), customer: owner ? viewCustomer(owner) : null };
  const figures = { balance_updated_at: null, current_period_usage: null, unpaid_invoices_amount: null };
  if (!balance) return { ...shown, ...figures, is_cached_fallback: false };
  return {
    ...shown,
    real_time_balance: decimalString(balance.balance),
    real_time_credit_balance: decimalString(balance.creditBalance),
    credits_available_breakdown: expanded?.includes('credits_available_breakdown') ? balance.breakdown : null,
    balance_updated_at: balance.now,
    current_period_usage: decimalString(balance.pending),
    unpaid_invoices_amount: decimalString(balance.unpaidInvoices),
    is_cached_fallback: false,
  };
}
