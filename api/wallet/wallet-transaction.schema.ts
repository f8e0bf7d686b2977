import { z } from 'zod';
import type { Customer } from '../../db/entities/customer/customer.ts';
import type { UserAccount } from '../../db/entities/platform/user-account.ts';
import type { Wallet } from '../../db/entities/wallet/wallet.ts';
import type { WalletTransaction } from '../../db/entities/wallet/wallet-transaction.ts';
import type { WalletTransactionFilters } from '../../services/wallet/wallet-transaction.ts';
import { portalPageQuery } from '../customer/portal.schema.ts';
import { listOf, listQuery, searchBody } from '../list.ts';
import { checkoutSession } from '../payment/checkout.schema.ts';
import {
  decimalInput,
  decimalOutput,
  metadataOutput,
  recordOutput,
  timestampInput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';
import { viewWallet, wallet } from './wallet.schema.ts';

const type = z.enum(['credit', 'debit']);
const transactionStatus = z.enum(['pending', 'completed', 'failed']);
const referenceType = z.enum(['PAYMENT', 'EXTERNAL', 'REQUEST', 'INVOICE']);
const transactionReason = z.enum([
  'INVOICE_PAYMENT',
  'FREE_CREDIT_GRANT',
  'SUBSCRIPTION_CREDIT_GRANT',
  'PURCHASED_CREDIT_INVOICED',
  'PURCHASED_CREDIT_DIRECT',
  'PURCHASED_CREDIT_BONUS',
  'CREDIT_NOTE',
  'INVOICE_VOID_REFUND',
  'CREDIT_EXPIRED',
  'WALLET_TERMINATION',
  'MANUAL_BALANCE_DEBIT',
  'CREDIT_ADJUSTMENT',
]);
const id = z.string().min(1).max(255);
const expand = ['customer', 'created_by_user', 'wallet'];

const filters = {
  id: id.nullish(),
  type: type.nullish(),
  transaction_status: transactionStatus.nullish(),
  transaction_reason: transactionReason.nullish(),
  reference_type: referenceType.nullish(),
  reference_id: id.nullish(),
  created_by: id.nullish(),
  credits_available_gt: decimalInput().nullish(),
  expiry_date_before: timestampInput().nullish(),
  expiry_date_after: timestampInput().nullish(),
};

const queryFilters = {
  ...filters,
  priority: z
    .string()
    .regex(/^\d{1,9}$/, 'must be an integer of 0 or more')
    .transform(Number)
    .optional(),
};

export const walletTransactionQuery = listQuery(queryFilters, expand);
/** A customer's own ledger, by page or by offset, with the operators' filters; who of them acted is not shown. spec: wallets-and-payments §1.8 */
export const portalTransactionQuery = listQuery({ ...queryFilters, ...portalPageQuery }, ['customer', 'wallet']).refine(
  ({ page, offset }) => page === undefined || offset === undefined,
  { path: ['offset'], error: 'must be absent where page is sent' },
);
export const walletTransactionSearchBody = searchBody(
  {
    ...filters,
    priority: z.int().min(0).max(1_000_000_000).nullish(),
    wallet_id: id.nullish(),
    customer_id: id.nullish(),
  },
  expand,
);

const event = z.object({ id: z.string(), external_id: z.string(), name: z.string(), email: z.string().nullable() });
const account = z.object({ id: z.string(), name: z.string(), email: z.string(), type: z.string() });

export const walletTransaction = z
  .object({
    ...recordOutput,
    wallet_id: z.string(),
    customer_id: z.string(),
    currency: z.string(),
    type,
    credit_amount: decimalOutput(),
    amount: decimalOutput(),
    credit_balance_before: decimalOutput(),
    credit_balance_after: decimalOutput(),
    transaction_status: transactionStatus,
    transaction_reason: transactionReason,
    reference_type: referenceType,
    reference_id: z.string(),
    credits_available: decimalOutput(),
    expiry_date: timestampOutput().nullable(),
    priority: z.int().nullable(),
    pays_from: timestampOutput()
      .nullable()
      .describe('Invoices of a period that had ended by then are not paid from this lot.'),
    is_taxed: z.boolean().describe('Own: taxed when it was bought, so that what it pays is not taxed again.'),
    parent_transaction_id: z.string().nullable(),
    conversion_rate: decimalOutput().nullable(),
    topup_conversion_rate: decimalOutput().nullable(),
    idempotency_key: z.string(),
    description: z.string(),
    metadata: metadataOutput(),
    customer: event.nullable(),
    created_by_user: account.nullable(),
    wallet: wallet.nullable(),
  })
  .meta({ id: 'WalletTransaction' });

export const walletTransactionList = listOf(walletTransaction, 'ListWalletTransactionsResponse');

export const toppedUp = z
  .object({
    wallet_transaction: walletTransaction,
    invoice_id: z.string().nullable(),
    wallet,
    checkout_session: checkoutSession.nullable().describe('Present in the answer that opened it.'),
  })
  .meta({ id: 'TopUpWalletResponse' });

export function walletTransactionFilters(
  input:
    | z.output<typeof walletTransactionSearchBody>
    | z.output<typeof walletTransactionQuery>
    | z.output<typeof portalTransactionQuery>,
): WalletTransactionFilters {
  const ids = (input ?? {}) as { wallet_id?: string | null; customer_id?: string | null };
  return {
    id: input?.id ?? undefined,
    walletId: ids.wallet_id ?? undefined,
    customerId: ids.customer_id ?? undefined,
    type: input?.type ?? undefined,
    transactionStatus: input?.transaction_status ?? undefined,
    transactionReason: input?.transaction_reason ?? undefined,
    referenceType: input?.reference_type ?? undefined,
    referenceId: input?.reference_id ?? undefined,
    createdBy: input?.created_by ?? undefined,
    priority: input?.priority ?? undefined,
    creditsAvailableAbove: input?.credits_available_gt ?? undefined,
    expiryDateBefore: input?.expiry_date_before ?? undefined,
    expiryDateAfter: input?.expiry_date_after ?? undefined,
  };
}

/** What was asked to be shown beside transactions, by id. */
export interface TransactionCompany {
  customers: ReadonlyMap<string, Customer>;
  users: ReadonlyMap<string, UserAccount>;
  wallets: ReadonlyMap<string, Wallet>;
}

export function viewWalletTransaction(
  row: WalletTransaction,
  company?: TransactionCompany,
): z.output<typeof walletTransaction> {
  const customer = company?.customers.get(row.customerId);
  const user = company?.users.get(row.createdBy);
  const owner = company?.wallets.get(row.walletId);
  return {
    ...viewRecord(row),
    wallet_id: row.walletId,
    customer_id: row.customerId,
    currency: row.currency,
    type: row.type as z.output<typeof type>,
    credit_amount: row.creditAmount,
    amount: row.amount,
    credit_balance_before: row.creditBalanceBefore,
    credit_balance_after: row.creditBalanceAfter,
    transaction_status: row.transactionStatus as z.output<typeof transactionStatus>,
    transaction_reason: row.transactionReason as z.output<typeof transactionReason>,
    reference_type: row.referenceType as z.output<typeof referenceType>,
    reference_id: row.referenceId,
    credits_available: row.creditsAvailable,
    expiry_date: row.expiryDate ?? null,
    priority: row.priority ?? null,
    pays_from: row.paysFrom ?? null,
    is_taxed: row.isTaxed,
    parent_transaction_id: row.parentTransactionId ?? null,
    conversion_rate: row.conversionRate ?? null,
    topup_conversion_rate: row.topupConversionRate ?? null,
    idempotency_key: row.idempotencyKey,
    description: row.description,
    metadata: row.metadata,
    customer: customer
      ? { id: customer.id, external_id: customer.externalId, name: customer.name, email: customer.email ?? null }
      : null,
    created_by_user: user ? { id: user.id, name: user.name, email: user.email ?? '', type: user.type } : null,
    wallet: owner ? viewWallet(owner) : null,
  };
}
