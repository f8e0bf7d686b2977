import { z } from 'zod';
import { alertConfig } from '../../billing/alert/alert-config.ts';
import { parseCooldown, refuseLongCooldown } from '../../billing/wallet/auto-topup-cooldown.ts';
import { topupReasons } from '../../billing/wallet/topup.ts';
import { creditScale, priceTypes, walletTypes } from '../../billing/wallet/wallet.ts';
import type { AutoTopup } from '../../db/entities/wallet/wallet.ts';
import { badField } from '../../db/rows/record.ts';
import type { WalletChange } from '../../services/wallet/wallet.ts';
import type { DebitRequest } from '../../services/wallet/wallet-debit.ts';
import type { WalletInput } from '../../services/wallet/wallet-open.ts';
import type { TopupRequest } from '../../services/wallet/wallet-topup.ts';
import { alertSettingsInput } from '../alert/alert.schema.ts';
import { checkoutInput } from '../payment/checkout.schema.ts';
import { currencyInput, decimalInput, metadataInput, timestampInput } from '../scalars.schema.ts';

const id = z.string().min(1).max(255);
const text = (length: number) => z.string().max(length);
const key = z.string().min(1).max(255);
const atMost = (decimals: number) => (value: string) => (value.split('.')[1]?.length ?? 0) <= decimals;
const rate = decimalInput({ min: '0' }).refine(atMost(5), { message: 'must have at most 5 decimals' });
const topupRate = decimalInput({ above: '0' }).refine(atMost(5), { message: 'must have at most 5 decimals' });
const nineDecimals = { message: 'must have at most 9 decimals' };
const credits = decimalInput({ above: '0' }).refine(atMost(creditScale), nineDecimals);

const reserved = ['auto_topup', 'wallet_transaction_id', 'consumed_credit_tx_ids'];
const entryMetadata = metadataInput().refine((map) => reserved.every((name) => !Object.hasOwn(map, name)), {
  message: `must not contain ${reserved.join(', ')}, which are reserved`,
});

/** Nanoseconds, or a value with its unit; the handler gets nanoseconds, null for 0. spec: wallets-and-payments §2.11 */
const cooldown = z
  .union([z.string(), z.number(), z.object({ value: z.union([z.number(), z.string()]), unit: z.string() })])
  .transform((given) => {
    const nanoseconds = parseCooldown(given);
    refuseLongCooldown(nanoseconds);
    return nanoseconds;
  });

const autoTopup = z.object({
  enabled: z.boolean().nullish(),
  amount: decimalInput({ above: '0', exactNumbers: true }).refine(atMost(creditScale), nineDecimals).nullish(),
  threshold: decimalInput({ min: '0', exactNumbers: true }).refine(atMost(creditScale), nineDecimals).nullish(),
  invoicing: z.boolean().nullish(),
  cooldown: cooldown.nullish(),
  cover_shortfall: z.boolean().nullish().describe('Own: one top-up covers the whole shortfall, in whole amounts.'),
  invoice_lifetime_days: z.int().min(1).max(90).nullish().describe('Own: days that an invoice waits for its payer.'),
  allow_concurrent: z.boolean().nullish().describe('Own: takes top-ups by hand while an automatic one is charged.'),
  collection: z.enum(['charge', 'invoice', 'elsewhere']).nullish().describe('Read-only; what is sent is passed over.'),
});

export const createWalletBody = z
  .object({
    customer_id: id.nullish(),
    external_customer_id: id.nullish(),
    currency: currencyInput().nullish(),
    price_unit: text(255).nullish().describe('Code of a custom currency: its base currency and rate hold.'),
    wallet_type: z.enum(walletTypes).nullish(),
    name: z.string().trim().max(255).nullish(),
    description: text(10_000).nullish(),
    conversion_rate: rate.nullish(),
    topup_conversion_rate: topupRate.nullish(),
    initial_credits_to_load: decimalInput({ min: '0' }).refine(atMost(creditScale), nineDecimals).nullish(),
    initial_credits_to_load_expiry_date: z
      .int()
      .refine((day) => dayOf(day) !== null, { message: 'must be a date as YYYYMMDD' })
      .nullish(),
    initial_credits_expiry_date_utc: timestampInput().nullish(),
    auto_topup: autoTopup.nullish(),
    alert_settings: alertSettingsInput.nullish(),
    metadata: metadataInput().nullish(),
  })
  .meta({ examples: [{ external_customer_id: 'acme', currency: 'usd', initial_credits_to_load: '100' }] });

export const updateWalletBody = z
  .object({
    name: z.string().trim().min(1).max(255).nullish(),
    description: text(10_000).nullish(),
    metadata: metadataInput().nullish(),
    auto_topup: autoTopup.nullish(),
    alert_settings: alertSettingsInput.nullish(),
    config: z.object({ allowed_price_types: z.array(z.enum(priceTypes)).min(1).max(3).nullish() }).nullish(),
    wallet_status: z.enum(['active', 'frozen']).nullish(),
    customer_id: id.nullish(),
    currency: currencyInput().nullish(),
    wallet_type: z.enum(walletTypes).nullish(),
    conversion_rate: decimalInput().nullish(),
    topup_conversion_rate: decimalInput().nullish(),
  })
  .meta({ examples: [{ name: 'Team wallet', wallet_status: 'frozen' }] });

export const topupBody = z
  .object({
    transaction_reason: z.enum(topupReasons),
    credits_to_add: credits.nullish(),
    amount: credits.nullish(),
    expiry_date_utc: timestampInput().nullish(),
    priority: z.int().min(0).max(1_000_000_000).nullish(),
    idempotency_key: key.nullish(),
    bonus_credits_to_add: credits.nullish(),
    bonus_credits_expiry_date_utc: timestampInput().nullish(),
    checkout: checkoutInput.nullish(),
    force_sync_invoice: z.boolean().nullish(),
    description: text(10_000).nullish(),
    metadata: entryMetadata.nullish(),
  })
  .meta({ examples: [{ transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '50' }] });

export const debitBody = z
  .object({
    credits,
    transaction_reason: z.literal('MANUAL_BALANCE_DEBIT', 'must be MANUAL_BALANCE_DEBIT'),
    idempotency_key: key,
    description: text(10_000).nullish(),
    metadata: entryMetadata.nullish(),
  })
  .meta({ examples: [{ credits: '5', transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: 'fee-7' }] });

export const modifyBody = z
  .object({ modification_type: z.literal('prepaid_to_postpaid', 'must be prepaid_to_postpaid') })
  .meta({ examples: [{ modification_type: 'prepaid_to_postpaid' }] });

/** The first instant of a day written as 20260131; null when there is no such day. */
function dayOf(day: number): string | null {
  const digits = /^(\d{4})(\d\d)(\d\d)$/.exec(String(day));
  if (!digits) return null;
  const instant = `${digits[1]}-${digits[2]}-${digits[3]}T00:00:00.000Z`;
  const date = new Date(instant);
  return !Number.isNaN(date.getTime()) && date.toISOString() === instant ? instant : null;
}

/** A new wallet as the store takes it. Throws `validation_error`. spec: wallets-and-payments §1.1, §3 rows 3, 6 */
export function newWallet(body: z.output<typeof createWalletBody>): WalletInput {
  if (!body.customer_id && !body.external_customer_id) {
    throw badField('customer_id', 'or external_customer_id is required');
  }
  if (!body.currency && !body.price_unit) throw badField('currency', 'or price_unit is required');
  const day = body.initial_credits_to_load_expiry_date;
  return {
    customerId: body.customer_id ?? null,
    externalCustomerId: body.external_customer_id ?? null,
    currency: body.currency ?? null,
    priceUnit: body.price_unit ?? null,
    walletType: body.wallet_type ?? 'PRE_PAID',
    name: body.name ?? null,
    description: body.description ?? null,
    conversionRate: body.conversion_rate ?? null,
    topupConversionRate: body.topup_conversion_rate ?? null,
    initialCredits: body.initial_credits_to_load ?? '0',
    initialCreditsExpiry: body.initial_credits_expiry_date_utc ?? (day ? dayOf(day) : null),
    autoTopup: body.auto_topup ? newAutoTopup(body.auto_topup) : null,
    alertSettings: body.alert_settings ? alertConfig('wallet', body.alert_settings, { path: 'alert_settings.' }) : null,
    metadata: body.metadata ?? {},
  };
}

function newAutoTopup(given: z.output<typeof autoTopup>): AutoTopup {
  const { enabled, amount, threshold: below, invoicing, cooldown: pause } = given;
  if (enabled === undefined || enabled === null) throw badField('auto_topup.enabled', 'is required');
  const missing = Object.entries({ amount, threshold: below, invoicing }).find(
    ([, value]) => value === undefined || value === null,
  );
  if (enabled && missing) throw badField(`auto_topup.${missing[0]}`, 'is required while auto_topup is enabled');
  return {
    enabled,
    amount: amount ?? null,
    threshold: below ?? null,
    invoicing: invoicing ?? false,
    cooldown: pause ?? null,
    ...ownTerms(given),
  };
}

/** Own members of the terms of top-ups that were sent. */
function ownTerms({
  cover_shortfall,
  invoice_lifetime_days,
  allow_concurrent,
}: z.output<typeof autoTopup>): Partial<AutoTopup> {
  const own = { cover_shortfall, invoice_lifetime_days, allow_concurrent };
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined && value !== null));
}

/** A change as the store takes it. spec: wallets-and-payments §1.1 PUT */
export function walletChange(body: z.output<typeof updateWalletBody>): WalletChange {
  const { amount, threshold, enabled, invoicing, cooldown: pause } = body.auto_topup ?? {};
  // A pause of null is one that was cleared.
  const given = { amount: amount ?? undefined, threshold: threshold ?? undefined, enabled: enabled ?? undefined };
  const terms = { ...given, invoicing: invoicing ?? undefined, cooldown: pause, ...ownTerms(body.auto_topup ?? {}) };
  const autoTopupChange = Object.entries(terms).filter(([, value]) => value !== undefined);
  return {
    name: body.name ?? undefined,
    description: body.description ?? undefined,
    metadata: body.metadata ?? undefined,
    autoTopup: body.auto_topup ? (Object.fromEntries(autoTopupChange) as Partial<AutoTopup>) : undefined,
    alertSettings: body.alert_settings ?? undefined,
    allowedPriceTypes: body.config?.allowed_price_types ?? undefined,
    walletStatus: body.wallet_status ?? undefined,
    fixed: {
      customer_id: body.customer_id ?? undefined,
      currency: body.currency ?? undefined,
      wallet_type: body.wallet_type ?? undefined,
      conversion_rate: body.conversion_rate ?? undefined,
      topup_conversion_rate: body.topup_conversion_rate ?? undefined,
    },
  };
}

/** A top-up as the store takes it. Throws `validation_error`. */
export function topupOf(walletId: string, body: z.output<typeof topupBody>, headerKey: string | null): TopupRequest {
  const { transaction_reason: reason } = body;
  if (body.checkout && reason !== 'PURCHASED_CREDIT_INVOICED') {
    throw badField('checkout', 'goes with the reason PURCHASED_CREDIT_INVOICED only');
  }
  if (!body.credits_to_add && !body.amount) throw badField('credits_to_add', 'or amount is required');
  if (body.bonus_credits_expiry_date_utc && !body.bonus_credits_to_add) {
    throw badField('bonus_credits_expiry_date_utc', 'goes with bonus_credits_to_add only');
  }
  return {
    walletId,
    reason,
    creditsToAdd: body.credits_to_add ?? null,
    amount: body.amount ?? null,
    expiryDate: body.expiry_date_utc ?? null,
    priority: body.priority ?? null,
    idempotencyKey: body.idempotency_key ?? headerKey,
    bonusCredits: body.bonus_credits_to_add ?? null,
    bonusExpiryDate: body.bonus_credits_expiry_date_utc ?? null,
    description: body.description ?? '',
    metadata: body.metadata ?? {},
  };
}

/** A debit as the store takes it. */
export function debitOf(walletId: string, body: z.output<typeof debitBody>): DebitRequest {
  const { credits: taken, idempotency_key, description, metadata } = body;
  return {
    walletId,
    credits: taken,
    idempotencyKey: idempotency_key,
    description: description ?? '',
    metadata: metadata ?? {},
  };
}
