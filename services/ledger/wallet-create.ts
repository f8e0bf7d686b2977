import { decimalString } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';
import {
  creditValue,
  defaultPriceTypes,
  defaultWalletName,
  type WalletType,
  walletRates,
} from '../../billing/wallet/wallet.ts';
import type { AutoTopup } from '../../db/entities/wallet/wallet.ts';
import { newId } from '../../db/id.ts';
import { type Columns, insertText, recordColumnTypes, writeRowsAndWait } from '../../db/rows/bulk.ts';
import type { Scope } from '../../db/scope.ts';
import { type Sql, violatedUniqueIndex } from '../../db/transaction.ts';
import { walletEvent } from './wallet-event.ts';
import { type CreditFacts, enterCredit, openLedger } from './wallet-ledger.ts';
import { writeLedger } from './wallet-ledger-write.ts';

/** A wallet to be made; what is absent has its default. spec: wallets-and-payments §1.1 POST body */
export interface NewWallet {
  customerId: string;
  /** Lower case. */
  currency: string;
  walletType?: WalletType | undefined;
  name?: string | null | undefined;
  description?: string | null | undefined;
  conversionRate?: string | null | undefined;
  topupConversionRate?: string | null | undefined;
  /** Terms as they are kept, the way of payment decided. */
  autoTopup?: AutoTopup | null | undefined;
  alertSettings?: object | null | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  /** Its first lot, in the same transaction. */
  firstCredit?: CreditFacts | undefined;
}

const walletColumns: Columns = {
  ...recordColumnTypes,
  customerId: 'text',
  name: 'text',
  description: 'text',
  currency: 'text',
  walletStatus: 'text',
  walletType: 'text',
  balance: 'numeric',
  creditBalance: 'numeric',
  conversionRate: 'numeric',
  topupConversionRate: 'numeric',
  allowedPriceTypes: 'jsonb',
  autoTopup: 'jsonb',
  alertSettings: 'jsonb',
  metadata: 'jsonb',
};
const insertWallets = insertText('wallet', walletColumns);

/**
 * Makes an active wallet, with its first lot if there is one, and tells it. Returns its id. Throws `already_exists` while the
 * customer has another wallet of the currency and type that is not closed. spec: wallets-and-payments §1.1, §2.1
 */
export async function createWallet(sql: Sql, scope: Scope, input: NewWallet): Promise<string> {
  const walletType = input.walletType ?? 'PRE_PAID';
  const rates = walletRates(input);
  const now = new Date().toISOString();
  const wallet = {
    id: newId('wallet'),
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    createdAt: now,
    createdBy: scope.actor,
    updatedAt: now,
    updatedBy: scope.actor,
    customerId: input.customerId,
    name: input.name || defaultWalletName(walletType, input.currency),
    description: input.description ?? null,
    currency: input.currency,
    walletStatus: 'active',
    walletType,
    balance: '0',
    creditBalance: '0',
    ...rates,
    allowedPriceTypes: defaultPriceTypes(walletType),
    autoTopup: input.autoTopup ?? undefined,
    alertSettings: input.alertSettings ?? undefined,
    metadata: input.metadata ?? {},
  };
  await lockWalletsOf(sql, input.customerId);
  await insertWallet(sql, wallet);
  const ledger = await openLedger(sql, scope, [wallet.id]);
  const opened = ledger.wallets.get(wallet.id)!;
  const occurredAt = opened.now;
  if (input.firstCredit) enterCredit(ledger, opened, input.firstCredit);
  const filled = {
    ...wallet,
    creditBalance: decimalString(opened.creditBalance),
    balance: decimalString(creditValue(opened.creditBalance, rates.conversionRate)),
  };
  await writeLedger(ledger, {
    events: [walletEvent('wallet.created', filled, occurredAt)],
    audit: [{ objectType: 'wallet', objectId: wallet.id, action: 'created', version: 1, occurredAt }],
  });
  return wallet.id;
}

/** Makes whoever else makes a wallet of the customer wait until this transaction ends. */
export async function lockWalletsOf(sql: Sql, customerId: string): Promise<void> {
  await sql.rows('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`wallets of ${customerId}`]);
}

async function insertWallet(sql: Sql, wallet: { customerId: string; currency: string; walletType: string }) {
  try {
    await writeRowsAndWait(sql, insertWallets, [wallet]);
  } catch (error) {
    if (violatedUniqueIndex(error) !== 'wallet_live_unique') throw error;
    throw takenWallet(wallet);
  }
}

/** The refusal of a second live wallet of a customer, currency and type. spec: wallets-and-payments §3 rows 5, 21 */
export function takenWallet(wallet: { customerId: string; currency: string; walletType: string }): Error {
  return refuse(
    'already_exists',
    `customer ${wallet.customerId} has a ${wallet.walletType} wallet in ${wallet.currency} that is not closed; use it, or terminate it first`,
    { fields: { currency: 'taken' } },
  );
}
