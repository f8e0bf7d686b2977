import { randomUUID } from 'node:crypto';
import type { AlertConfig } from '../../billing/alert/alert-config.ts';
import { decimal } from '../../billing/money/money.ts';
import { planTopup } from '../../billing/wallet/topup.ts';
import { type WalletType, walletRates } from '../../billing/wallet/wallet.ts';
import { customerNow } from '../../db/clock.ts';
import type { AutoTopup } from '../../db/entities/wallet/wallet.ts';
import { missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { keepAlertSetting } from '../alert/alert-setting.ts';
import { findPriceUnitByCode } from '../catalogue/price/price-unit.ts';
import { findCustomer, findCustomerByExternalId } from '../customer/customer.ts';
import type { CreditFacts } from '../ledger/wallet-ledger.ts';
import { createToppedUpWallet } from './auto-topup/auto-topup-wallet.ts';
import { refusePastExpiry, topupLimits } from './wallet-topup.ts';

/** A wallet as a caller asks for it. spec: wallets-and-payments §1.1 POST body */
export interface WalletInput {
  customerId: string | null;
  externalCustomerId: string | null;
  currency: string | null;
  /** Code of a custom currency, whose base currency and rate hold. */
  priceUnit: string | null;
  walletType: WalletType;
  name: string | null;
  description: string | null;
  conversionRate: string | null;
  topupConversionRate: string | null;
  initialCredits: string;
  initialCreditsExpiry: string | null;
  autoTopup: AutoTopup | null;
  alertSettings: AlertConfig | null;
  metadata: Record<string, string>;
  /** The key of the first lot, where the same request may come again. */
  firstCreditKey?: string;
}

/**
 * Opens a wallet of a published customer, with its first free credits; returns its id. Throws `not_found` for an unknown customer
 * or custom currency, `validation_error` for credits that expired or are above the free limit, `already_exists` for a second live
 * wallet of the same kind. spec: wallets-and-payments §1.1, §2.1, §2.5
 */
export async function openWallet(tx: Transaction, input: WalletInput): Promise<string> {
  const customerId = await customerIdOf(tx, input);
  refusePastExpiry('initial_credits_expiry_date_utc', input.initialCreditsExpiry, await customerNow(tx, customerId));
  const { initialCredits, initialCreditsExpiry, customerId: _id, currency: _currency, ...terms } = input;
  const unit = input.priceUnit ? await findPriceUnitByCode(tx, input.priceUnit) : null;
  const currency = (unit?.baseCurrency ?? input.currency ?? '').toLowerCase();
  const conversionRate = unit?.conversionRate ?? input.conversionRate;
  const firstCredit = decimal(initialCredits).isZero()
    ? undefined
    : await freeCredit(tx, { ...input, conversionRate, currency, initialCreditsExpiry });
  const wallet = { ...terms, customerId, currency, conversionRate, firstCredit };
  const id = await createToppedUpWallet(tx, tx.scope, wallet);
  await keepAlertSetting(tx, 'wallet', id, input.alertSettings);
  return id;
}

async function customerIdOf(tx: Transaction, { customerId, externalCustomerId }: WalletInput): Promise<string> {
  if (!customerId) return (await findCustomerByExternalId(tx, externalCustomerId ?? '')).id;
  const customer = await findCustomer(tx, customerId, 'customer_id');
  if (customer.status !== 'published') throw missing('customer', customerId, 'customer_id');
  return customer.id;
}

async function freeCredit(tx: Transaction, input: WalletInput & { currency: string }): Promise<CreditFacts> {
  const key = input.firstCreditKey ?? randomUUID();
  const { currency, initialCredits } = input;
  const topup = { creditsToAdd: initialCredits, reason: 'FREE_CREDIT_GRANT', currency, ...walletRates(input) };
  return {
    reason: 'FREE_CREDIT_GRANT',
    quantity: planTopup(topup, await topupLimits(tx)),
    referenceType: 'EXTERNAL',
    referenceId: key,
    idempotencyKey: key,
    description: 'Initial credits',
    expiryDate: input.initialCreditsExpiry,
  };
}
