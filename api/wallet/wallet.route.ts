import { isPurchase } from '../../billing/wallet/topup.ts';
import type { Transaction } from '../../db/transaction.ts';
import { refundableGateways } from '../../integrations/provider-adapter.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import { type TerminatedWallet, terminateWallet } from '../../services/across/wallet-terminate.ts';
import { refuseBesideAutomatic } from '../../services/topup/auto-topup-switch.ts';
import { evaluateAutoTopup } from '../../services/wallet/auto-topup/auto-topup-open.ts';
import { buyCredits } from '../../services/wallet/invoiced-topup.ts';
import { listWallets, updateWallet, walletsById } from '../../services/wallet/wallet.ts';
import { convertToPostpaid } from '../../services/wallet/wallet-close.ts';
import { sharedDebits } from '../../services/wallet/wallet-debit.ts';
import { openWallet } from '../../services/wallet/wallet-open.ts';
import { topUpWallet } from '../../services/wallet/wallet-topup.ts';
import type { Api } from '../api.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { tellOrStart, tellRunning } from '../lifecycle.ts';
import { toListQuery } from '../list.ts';
import { idParams, optionalBody } from '../scalars.schema.ts';
import { autoTopupRoutes, walletWithStanding } from './auto-topup.route.ts';
import {
  modifiedWallet,
  terminatedWallet,
  viewWallet,
  wallet,
  walletFilters,
  walletList,
  walletListQuery,
  walletSearchBody,
} from './wallet.schema.ts';
import {
  createWalletBody,
  debitBody,
  debitOf,
  modifyBody,
  newWallet,
  topupBody,
  topupOf,
  updateWalletBody,
  walletChange,
} from './wallet-input.schema.ts';
import { viewWallets, walletReadRoutes } from './wallet-read.route.ts';
import { type BoughtCredits, followPurchase, topUpByCheckout, viewTopup } from './wallet-top-up.ts';
import { toppedUp } from './wallet-transaction.schema.ts';

const tags = ['Wallets'];
const invoiced = 'PURCHASED_CREDIT_INVOICED';

/** Wallets and what changes them. spec: wallets-and-payments §1.1 */
export async function walletRoutes(app: Api): Promise<void> {
  recordRoutes(app);
  creditRoutes(app);
  autoTopupRoutes(app);
  walletReadRoutes(app);
}

function recordRoutes(app: Api): void {
  const lookedAt = lookingAt(app);
  app.post('/wallets', {
    schema: {
      operationId: 'createWallet',
      tags,
      summary: 'Open a wallet of a customer, with its first credits',
      body: createWalletBody,
      response: { 200: wallet, ...errorResponses },
    },
    config: { permission: 'wallet:write' },
    handler: async ({ body, transaction }) => {
      const input = newWallet(body);
      return transaction(async (tx) => lookedAt(tx, await openWallet(tx, input)));
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
        return viewWallets(tx, page, query.expand);
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
        return viewWallets(tx, page, body?.expand);
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
    handler: async ({ params, transaction }) => transaction((tx) => walletWithStanding(tx, params.id)),
  });

  app.put('/wallets/:id', {
    schema: {
      operationId: 'updateWallet',
      tags,
      summary: 'Change a wallet, freeze it or make it active again',
      params: idParams,
      body: updateWalletBody,
      response: { 200: wallet, ...errorResponses },
    },
    config: { permission: 'wallet:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => {
        await updateWallet(tx, params.id, walletChange(body));
        const isSwitched = body.auto_topup != null || body.wallet_status != null;
        return isSwitched ? lookedAt(tx, params.id) : walletWithStanding(tx, params.id);
      }),
  });
}

/**
 * Has the top-ups of a changed wallet looked at in the transaction of the change, and answers the wallet as it is then: below its
 * threshold a charge is opened at once. design: money-in-wallets finding 30
 */
function lookingAt(app: Api) {
  return async (tx: Transaction, walletId: string) => {
    await evaluateAutoTopup(tx, { walletId, readUsage: usageReader(app.dependencies.metering) });
    return walletWithStanding(tx, walletId);
  };
}

function creditRoutes(app: Api): void {
  // A debit has a key of its own in its body, so the header of a request is never in force.
  const debit = sharedDebits(app.dependencies.database, async (tx, ids) => {
    const found = await walletsById(tx, ids);
    return new Map([...found].map(([id, wallet]) => [id, viewWallet(wallet)]));
  });
  const lookedAt = lookingAt(app);
  app.post('/wallets/:id/top-up', {
    schema: {
      operationId: 'topUpWallet',
      tags,
      summary: 'Add credits',
      params: idParams,
      body: topupBody,
      response: { 200: toppedUp, ...errorResponses, ...notBuiltResponse },
    },
    config: {
      permission: 'wallet:write',
      // A payment page is opened at its provider between two transactions.
      idempotency: (body) => ((body as { checkout?: unknown } | null)?.checkout ? 'lifecycle' : 'record'),
    },
    handler: async (request) => {
      const { params, body, transaction, idempotencyKey } = request;
      const topup = topupOf(params.id, body, idempotencyKey);
      const readUsage = usageReader(app.dependencies.metering);
      if (body.checkout) return topUpByCheckout(request, topup, body, readUsage);
      let bought: BoughtCredits | null = null;
      // The result of the transaction is the answer that a repeated request gets.
      const answer = await transaction(async (tx) => {
        if (isPurchase(topup.reason)) await refuseBesideAutomatic(tx, tx.scope, params.id);
        bought = topup.reason === invoiced ? await buyCredits(tx, topup, readUsage) : null;
        const id = bought?.transactionId ?? (await topUpWallet(tx, topup)).entry.id;
        return viewTopup(tx, topup.walletId, { transactionId: id, invoiceId: bought?.invoiceId ?? null });
      });
      await followPurchase(request, bought);
      return answer;
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
    handler: async ({ params, body, scope }) => debit({ ...debitOf(params.id, body), scope }),
  });

  app.post('/wallets/:id/terminate', {
    schema: {
      operationId: 'terminateWallet',
      tags,
      summary:
        'Close a wallet: what is left of its credits is forfeited, or refunded, by the setting wallet_termination_policy',
      params: idParams,
      body: optionalBody,
      response: { 200: terminatedWallet, ...errorResponses },
    },
    config: { permission: 'wallet:write' },
    handler: async (request) => {
      const { id } = request.params;
      const gateways = refundableGateways(app.dependencies.gateways, app.dependencies.providers);
      let ended: TerminatedWallet | null = null;
      const answer = await request.transaction(async (tx) => {
        ended = await terminateWallet(tx, id, gateways);
        return { ...(await walletWithStanding(tx, id)), message: `Wallet ${id} is closed.` };
      });
      await followEnd(request, ended);
      return answer;
    },
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
        return { original_wallet: await walletWithStanding(tx, params.id), new_wallet: await lookedAt(tx, newId) };
      }),
  });
}

type Asker = Parameters<typeof tellOrStart>[0];

/** After the commit: invoices that were voided are not collected any more, links are closed, and refunds are sent. */
async function followEnd(request: Asker, ended: TerminatedWallet | null): Promise<void> {
  if (ended === null) return;
  const { invoiceIds, refundIds, checkoutIds, ...owner } = ended;
  await Promise.all([
    ...checkoutIds.map((id) => tellOrStart(request, { kind: 'checkout_session', id, ...owner })),
    ...invoiceIds.map((id) => tellRunning(request, { kind: 'invoice', id })),
    ...refundIds.map((id) => tellOrStart(request, { kind: 'refund', id, ...owner })),
  ]);
}
