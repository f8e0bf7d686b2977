import { Customer } from '../../db/entities/customer/customer.ts';
import { UserAccount } from '../../db/entities/platform/user-account.ts';
import type { Wallet } from '../../db/entities/wallet/wallet.ts';
import type { WalletTransaction } from '../../db/entities/wallet/wallet-transaction.ts';
import type { ListPage } from '../../db/list.ts';
import { badField } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import { findCustomer, findCustomerByExternalId } from '../../services/customer/customer.ts';
import { findWallet, walletsById, walletsOfCustomer } from '../../services/wallet/wallet.ts';
import { walletBalances, walletBreakdowns } from '../../services/wallet/wallet-balance.ts';
import { listWalletTransactions } from '../../services/wallet/wallet-transaction.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams } from '../scalars.schema.ts';
import {
  balanceHeaders,
  balanceQuery,
  customerWalletsQuery,
  viewListedWallet,
  viewWalletBalance,
  walletBalance,
  walletBalances as walletBalancesOutput,
} from './wallet.schema.ts';
import {
  viewWalletTransaction,
  walletTransactionFilters,
  walletTransactionList,
  walletTransactionQuery,
  walletTransactionSearchBody,
} from './wallet-transaction.schema.ts';

const tags = ['Wallets'];

/** Ledgers and balances of wallets. spec: wallets-and-payments §1.1, §2.10 */
export function walletReadRoutes(app: Api): void {
  transactionRoutes(app);
  balanceRoutes(app);
  customerRoutes(app);
}

function transactionRoutes(app: Api): void {
  app.get('/wallets/:id/transactions', {
    schema: {
      operationId: 'getWalletTransactions',
      tags,
      summary: 'List the ledger of a wallet',
      params: idParams,
      querystring: walletTransactionQuery,
      response: { 200: walletTransactionList, ...errorResponses },
    },
    config: { permission: 'wallet:read' },
    handler: async ({ params, query, transaction }) =>
      transaction(async (tx) => {
        const { id: walletId } = await findWallet(tx, params.id);
        const filters = { ...walletTransactionFilters(query), walletId };
        return viewTransactions(tx, await listWalletTransactions(tx, toListQuery(query), filters), query.expand);
      }),
  });

  app.post('/wallets/transactions/search', {
    schema: {
      operationId: 'queryWalletTransaction',
      tags,
      summary: 'Search the ledgers of all wallets',
      body: walletTransactionSearchBody,
      response: { 200: walletTransactionList, ...errorResponses },
    },
    config: { permission: 'wallet:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => {
        const page = await listWalletTransactions(tx, toListQuery(body), walletTransactionFilters(body));
        return viewTransactions(tx, page, body?.expand);
      }),
  });
}

type Expand = readonly string[] | null | undefined;

/** A page of a ledger with what was asked to be shown beside its rows. */
export async function viewTransactions(tx: Transaction, page: ListPage<WalletTransaction>, expand: Expand) {
  const ids = (name: string, of: (row: WalletTransaction) => string) =>
    expand?.includes(name) ? [...new Set(page.rows.map(of))] : [];
  const customers = ids('customer', (row) => row.customerId);
  const users = ids('created_by_user', (row) => row.createdBy);
  const { environmentId, tenantId } = tx.scope;
  const company = {
    customers: byId(
      customers.length === 0 ? [] : await tx.em.find(Customer, { id: { $in: customers }, environmentId }),
    ),
    users: byId(users.length === 0 ? [] : await tx.em.find(UserAccount, { id: { $in: users }, tenantId })),
    wallets: await walletsById(
      tx,
      ids('wallet', (row) => row.walletId),
    ),
  };
  return viewList(page, (row) => viewWalletTransaction(row, company), 'next');
}

/** A page of wallets with what `expand` asks for. */
export async function viewWallets(tx: Transaction, page: ListPage<Wallet>, expand: Expand) {
  const owners = byId(await expandedCustomers(tx, page.rows, expand));
  const company = {
    customers: owners,
    breakdowns: expand?.includes('credits_available_breakdown') ? await walletBreakdowns(tx, page.rows) : new Map(),
  };
  return viewList(page, (row) => viewListedWallet(row, company), 'next');
}

/** The customers of wallets where they are to be shown; none elsewhere. */
async function expandedCustomers(tx: Transaction, rows: readonly Wallet[], expand: Expand): Promise<Customer[]> {
  if (!expand?.includes('customer')) return [];
  const ids = [...new Set(rows.map(({ customerId }) => customerId))];
  return tx.em.find(Customer, { id: { $in: ids }, environmentId: tx.scope.environmentId });
}

function byId<Row extends { id: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

function balanceRoutes(app: Api): void {
  const read = async (tx: Transaction, id: string, expand: Expand) => {
    const row = await findWallet(tx, id);
    const balances = await walletBalances(tx, row.customerId, [row], usageReader(app.dependencies.metering));
    const [owner] = await expandedCustomers(tx, [row], expand);
    return viewWalletBalance(row, balances.get(id), expand ?? undefined, owner);
  };
  app.get('/wallets/:id/balance/real-time', {
    schema: {
      operationId: 'getWalletBalance',
      tags,
      summary: 'Get a wallet with what usage under way and unpaid invoices leave of it',
      params: idParams,
      querystring: balanceQuery,
      headers: balanceHeaders,
      response: { 200: walletBalance, ...errorResponses },
    },
    config: { permission: 'wallet:read' },
    handler: async ({ params, query, transaction }) => transaction((tx) => read(tx, params.id, query.expand)),
  });

  app.get('/wallets/:id/balance/real-time-cached', {
    schema: {
      operationId: 'getWalletBalanceForceCached',
      tags,
      summary: 'The same; the balance is computed whatever its age may be',
      params: idParams,
      querystring: balanceQuery,
      headers: balanceHeaders,
      response: { 200: walletBalance, ...errorResponses },
    },
    config: { permission: 'wallet:read' },
    handler: async ({ params, query, transaction }) => transaction((tx) => read(tx, params.id, query.expand)),
  });
}

function customerRoutes(app: Api): void {
  const readUsage = () => usageReader(app.dependencies.metering);
  const view = async (tx: Transaction, customerId: string, rows: readonly Wallet[], live: boolean, expand: Expand) => {
    const balances = live ? await walletBalances(tx, customerId, rows, readUsage()) : new Map();
    const [owner] = await expandedCustomers(tx, rows, expand);
    return rows.map((row) => viewWalletBalance(row, balances.get(row.id), expand ?? undefined, owner));
  };

  app.get('/customers/:id/wallets', {
    schema: {
      operationId: 'getWalletsByCustomerId',
      tags,
      summary: 'The wallets of a customer with their balances: a bare array',
      params: idParams,
      querystring: balanceQuery,
      response: { 200: walletBalancesOutput, ...errorResponses },
    },
    config: { permission: 'wallet:read' },
    handler: async ({ params, query, transaction }) =>
      transaction(async (tx) => {
        const { id } = await findCustomer(tx, params.id);
        return view(tx, id, await walletsOfCustomer(tx, id), true, query.expand);
      }),
  });

  app.get('/customers/wallets', {
    schema: {
      operationId: 'getCustomerWallets',
      tags,
      summary: 'The wallets of the customer named by id or lookup_key: a bare array',
      querystring: customerWalletsQuery,
      headers: balanceHeaders,
      response: { 200: walletBalancesOutput, ...errorResponses },
    },
    config: { permission: 'wallet:read' },
    handler: async ({ query, transaction }) => {
      const { id, lookup_key } = query;
      if (!id === !lookup_key) throw badField('id', 'or lookup_key is required, and not both');
      return transaction(async (tx) => {
        const customer = id ? await findCustomer(tx, id) : await findCustomerByExternalId(tx, lookup_key ?? '');
        const rows = await walletsOfCustomer(tx, customer.id);
        return view(tx, customer.id, rows, query.include_real_time_balance ?? false, query.expand);
      });
    },
  });
}
