import { buyCredits } from '../../db/stores/wallet/invoiced-topup.ts';
import { findWallet, listWallets, updateWallet } from '../../db/stores/wallet/wallet.ts';
import { convertToPostpaid, terminateWallet } from '../../db/stores/wallet/wallet-close.ts';
import { openWallet } from '../../db/stores/wallet/wallet-open.ts';
import { debitWallet, topUpWallet } from '../../db/stores/wallet/wallet-topup.ts';
import { findWalletTransaction } from '../../db/stores/wallet/wallet-transaction.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import type { Api } from '../app.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { tellOrStart } from '../lifecycle.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, optionalBody } from '../schemas/scalars.ts';
import {
  modifiedWallet,
  terminatedWallet,
  viewWallet,
  wallet,
  walletFilters,
  walletList,
  walletListQuery,
  walletSearchBody,
} from '../schemas/wallet.ts';
import {
  createWalletBody,
  debitBody,
  debitOf,
  modifyBody,
  newWallet,
  refuseUnattended,
  topupBody,
  topupOf,
  updateWalletBody,
  walletChange,
} from '../schemas/wallet-input.ts';
import { toppedUp, viewWalletTransaction } from '../schemas/wallet-transaction.ts';
import { walletReadRoutes } from './wallet-read.ts';

const tags = ['Wallets'];
const invoiced = 'PURCHASED_CREDIT_INVOICED';

/** Wallets and what changes them. spec: wallets-and-payments §1.1 */
export async function walletRoutes(app: Api): Promise<void> {
  recordRoutes(app);
  creditRoutes(app);
  walletReadRoutes(app);
}

function recordRoutes(app: Api): void {
  app.post('/wallets', {
    schema: {
      operationId: 'createWallet',
      tags,
      summary: 'Open a wallet of a customer, with its first credits',
      body: createWalletBody,
      response: { 200: wallet, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'wallet:write' },
    handler: async ({ body, transaction }) => {
      const input = newWallet(body);
      refuseUnattended(body);
      return transaction(async (tx) => viewWallet(await findWallet(tx, await openWallet(tx, input))));
    },
  });

  app.get('/wallets', {
    schema: {
      operationId: 'listWallets',
      tags,
      summary: 'List wallets, closed ones included',
      querystring: walletListQuery,
      response: { 200: walletList, ...errorResponses },
    },
    config: { permission: 'wallet:read' },
    handler: async ({ query, transaction }) =>
      transaction(async (tx) => {
        const page = await listWallets(tx, toListQuery({ ...query, status: null }), walletFilters(query));
        return viewList(page, viewWallet, 'next');
      }),
  });

  app.post('/wallets/search', {
    schema: {
      operationId: 'queryWallet',
      tags,
      summary: 'Search wallets',
      body: walletSearchBody,
      response: { 200: walletList, ...errorResponses },
    },
    config: { permission: 'wallet:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => {
        const page = await listWallets(tx, toListQuery({ ...body, status: null }), walletFilters(body));
        return viewList(page, viewWallet, 'next');
      }),
  });

  app.get('/wallets/:id', {
    schema: {
      operationId: 'getWallet',
      tags,
      summary: 'Get a wallet',
      params: idParams,
      response: { 200: wallet, ...errorResponses },
    },
    config: { permission: 'wallet:read' },
    handler: async ({ params, transaction }) => transaction(async (tx) => viewWallet(await findWallet(tx, params.id))),
  });

  app.put('/wallets/:id', {
    schema: {
      operationId: 'updateWallet',
      tags,
      summary: 'Change a wallet, freeze it or make it active again',
      params: idParams,
      body: updateWalletBody,
      response: { 200: wallet, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'wallet:write' },
    handler: async ({ params, body, transaction }) => {
      refuseUnattended(body);
      return transaction(async (tx) => viewWallet(await updateWallet(tx, params.id, walletChange(body))));
    },
  });
}

function creditRoutes(app: Api): void {
  app.post('/wallets/:id/top-up', {
    schema: {
      operationId: 'topUpWallet',
      tags,
      summary: 'Add credits',
      params: idParams,
      body: topupBody,
      response: { 200: toppedUp, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'wallet:write' },
    handler: async (request) => {
      const { params, body, transaction, idempotencyKey } = request;
      const topup = topupOf(params.id, body, idempotencyKey);
      const readUsage = usageReader(app.dependencies.metering);
      const done = await transaction(async (tx) => {
        const bought = topup.reason === invoiced ? await buyCredits(tx, topup, readUsage) : null;
        const id = bought?.transactionId ?? (await topUpWallet(tx, topup)).entry.id;
        const answer = {
          wallet_transaction: viewWalletTransaction(await findWalletTransaction(tx, id)),
          invoice_id: bought?.invoiceId ?? null,
          wallet: viewWallet(await findWallet(tx, params.id)),
          checkout_session: null,
        };
        return { answer, bought };
      });
      if (done.bought?.invoiceWaits) {
        await tellOrStart(request, { kind: 'invoice', id: done.bought.invoiceId, ...done.bought });
      }
      return done.answer;
    },
  });

  app.post('/wallets/:id/debit', {
    schema: {
      operationId: 'manualBalanceDebit',
      tags,
      summary: 'Take credits by hand; the balance may fall below zero',
      params: idParams,
      body: debitBody,
      response: { 200: wallet, ...errorResponses },
    },
    config: { permission: 'wallet:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => {
        await debitWallet(tx, debitOf(params.id, body));
        return viewWallet(await findWallet(tx, params.id));
      }),
  });

  app.post('/wallets/:id/terminate', {
    schema: {
      operationId: 'terminateWallet',
      tags,
      summary: 'Close a wallet and forfeit what is left of its credits',
      params: idParams,
      body: optionalBody,
      response: { 200: terminatedWallet, ...errorResponses },
    },
    config: { permission: 'wallet:write' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        await terminateWallet(tx, params.id);
        return { ...viewWallet(await findWallet(tx, params.id)), message: `Wallet ${params.id} is closed.` };
      }),
  });

  app.post('/wallets/:id/modify', {
    schema: {
      operationId: 'modifyWallet',
      tags,
      summary: 'Make a prepaid wallet postpaid: it is closed, and a new one gets its credits',
      params: idParams,
      body: modifyBody,
      response: { 200: modifiedWallet, ...errorResponses },
    },
    config: { permission: 'wallet:write' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        const newId = await convertToPostpaid(tx, params.id);
        return {
          original_wallet: viewWallet(await findWallet(tx, params.id)),
          new_wallet: viewWallet(await findWallet(tx, newId)),
        };
      }),
  });
}
