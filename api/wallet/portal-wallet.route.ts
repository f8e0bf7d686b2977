import { decimal } from '../../billing/money/money.ts';
import { isWithinMandate } from '../../billing/payment/saved-method.ts';
import { refuse } from '../../billing/refusal.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import { chargeableMethod } from '../../services/collection/payment.ts';
import { refuseBesideAutomatic } from '../../services/topup/auto-topup-switch.ts';
import { evaluateAutoTopup } from '../../services/wallet/auto-topup/auto-topup-open.ts';
import { buyCredits } from '../../services/wallet/invoiced-topup.ts';
import { findWallet, updateWallet, walletsOfCustomer } from '../../services/wallet/wallet.ts';
import { walletBalances } from '../../services/wallet/wallet-balance.ts';
import { listWalletTransactions } from '../../services/wallet/wallet-transaction.ts';
import type { Api } from '../api.ts';
import { portalPage } from '../customer/portal.schema.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery } from '../list.ts';
import { onlyPageProvider, runningSessionOf } from '../payment/checkout-workflow.ts';
import { idParams } from '../scalars.schema.ts';
import { walletWithStanding } from './auto-topup.route.ts';
import {
  isWithoutCustomer,
  portalAutoTopupBody,
  portalCheckoutOf,
  portalTopupBody,
  takenApart,
} from './portal-money.schema.ts';
import { viewWalletBalance, wallet, walletBalance, walletBalances as walletBalancesOutput } from './wallet.schema.ts';
import { topupOf, walletChange } from './wallet-input.schema.ts';
import { viewTransactions } from './wallet-read.route.ts';
import { followPurchase, topUpByCheckout, viewOpenTopup, viewTopup } from './wallet-top-up.ts';
import {
  portalTransactionQuery,
  toppedUp,
  walletTransactionFilters,
  walletTransactionList,
} from './wallet-transaction.schema.ts';

const common = { tags: ['Customer portal'], security: [{ PortalSession: [] }] };
const reading = { permission: 'customer:read', idempotency: 'none' } as const;
const writing = { permission: 'customer:write', idempotency: 'none' } as const;
const reason = 'PURCHASED_CREDIT_INVOICED';

/** Wallets of the customer of the session, and what it does with them. spec: wallets-and-payments §1.8 */
export function portalWalletRoutes(app: Api): void {
  readRoutes(app);
  topupRoutes(app);
}

function readRoutes(app: Api): void {
  const readUsage = () => usageReader(app.dependencies.metering);
  app.post('/customer/portal/wallets', {
    schema: {
      ...common,
      operationId: 'portalGetWallets',
      summary: 'The wallets of the customer of the session with their balances: a bare array',
      response: { 200: walletBalancesOutput, ...errorResponses },
    },
    config: reading,
    handler: async ({ portalCustomerId, transaction }) =>
      transaction(async (tx) => {
        const rows = await walletsOfCustomer(tx, portalCustomerId);
        const balances = await walletBalances(tx, portalCustomerId, rows, readUsage());
        return rows.map((row) => viewWalletBalance(row, balances.get(row.id), undefined));
      }),
  });

  app.get('/customer/portal/wallets/:id', {
    schema: {
      ...common,
      operationId: 'portalGetWallet',
      summary: 'A wallet of the customer of the session with its balances',
      params: idParams,
      response: { 200: walletBalance, ...errorResponses },
    },
    config: reading,
    handler: async ({ portalCustomerId, params, transaction }) =>
      transaction(async (tx) => {
        const row = await ownWallet(tx, portalCustomerId, params.id);
        const balances = await walletBalances(tx, portalCustomerId, [row], readUsage());
        return viewWalletBalance(row, balances.get(row.id), undefined);
      }),
  });

  app.get('/customer/portal/wallets/:id/transactions', {
    schema: {
      ...common,
      operationId: 'portalGetWalletTransactions',
      summary: 'The ledger of a wallet of the customer of the session',
      params: idParams,
      querystring: portalTransactionQuery,
      response: { 200: walletTransactionList, ...errorResponses },
    },
    config: reading,
    handler: async ({ portalCustomerId, params, query, transaction }) =>
      transaction(async (tx) => {
        const { id: walletId } = await ownWallet(tx, portalCustomerId, params.id);
        const { limit, offset } = portalPage(query);
        const asked = toListQuery({ ...query, limit, offset: query.offset ?? offset });
        const filters = { ...walletTransactionFilters(query), walletId };
        return viewTransactions(tx, await listWalletTransactions(tx, asked, filters), query.expand);
      }),
  });
}

function topupRoutes(app: Api): void {
  app.post('/customer/portal/wallets/:id/top-up', {
    schema: {
      ...common,
      operationId: 'portalTopUpWallet',
      summary: 'Buy credits: on a payment page, from the saved method, or with an invoice that is paid later',
      params: idParams,
      body: portalTopupBody,
      response: { 200: toppedUp, ...errorResponses },
    },
    config: writing,
    handler: async (request) => {
      const { portalCustomerId, params, body, transaction } = request;
      const { page, key, bought: given } = takenApart(body);
      const topup = topupOf(params.id, { ...given, transaction_reason: reason, idempotency_key: key }, null);
      const readUsage = usageReader(app.dependencies.metering);
      const hasMethod = await transaction(async (tx) => {
        const { topupConversionRate } = await ownWallet(tx, portalCustomerId, params.id);
        const method = page && isWithoutCustomer(page) ? await chargeableMethod(tx, portalCustomerId, null) : null;
        const { creditsToAdd, amount } = topup;
        const cost = creditsToAdd ? decimal(creditsToAdd).times(decimalText(topupConversionRate)) : decimal(amount!);
        return method !== null && isWithinMandate(method.maxAmount, cost);
      });
      if (page && !hasMethod) {
        const payment_provider = page.payment_provider ?? (await onlyPageProvider(request));
        const asked = { ...given, checkout: portalCheckoutOf({ ...page, payment_provider }, key) };
        return topUpByCheckout(request, topup, asked, readUsage).catch((error: unknown) => {
          const open = runningSessionOf(error);
          if (open === null) throw error;
          return viewOpenTopup(request, params.id, open);
        });
      }
      // Its charge is opened with the invoice, and sent by the invoice's workflow; without a page nothing is charged unasked.
      const bought = await transaction(async (tx) => {
        await refuseBesideAutomatic(tx, tx.scope, params.id);
        return buyCredits(tx, topup, readUsage, { byCustomer: true, waitsForPayer: page === null });
      });
      await followPurchase(request, bought);
      return transaction((tx) => viewTopup(tx, params.id, bought));
    },
  });

  app.put('/customer/portal/wallets/:id/auto-topup', {
    schema: {
      ...common,
      operationId: 'portalUpdateAutoTopup',
      summary: 'Have a wallet filled automatically from the saved method, or not any more',
      params: idParams,
      body: portalAutoTopupBody,
      response: { 200: wallet, ...errorResponses },
    },
    config: writing,
    handler: async ({ portalCustomerId, params, body, transaction }) =>
      transaction(async (tx) => {
        await ownWallet(tx, portalCustomerId, params.id);
        if (body.enabled && (await chargeableMethod(tx, portalCustomerId, null)) === null) {
          throw refuse(
            'invalid_operation',
            'enabled needs a saved payment method that can be charged; save one first',
            {
              fields: { enabled: 'needs a saved payment method' },
            },
          );
        }
        await updateWallet(tx, params.id, walletChange({ auto_topup: body }));
        await evaluateAutoTopup(tx, { walletId: params.id, readUsage: usageReader(app.dependencies.metering) });
        return walletWithStanding(tx, params.id);
      }),
  });
}

/** A wallet of the customer of the session. Throws `not_found`, also for somebody else's. */
async function ownWallet(tx: Transaction, customerId: string, id: string) {
  const row = await findWallet(tx, id);
  if (row.customerId !== customerId) throw missing('wallet', id);
  return row;
}
