import { customerNow } from '../../db/clock.ts';
import type { Transaction } from '../../db/transaction.ts';
import { neverFilled, pauseByOperator } from '../../services/topup/auto-topup-end.ts';
import { type AutoTopupState, findAutoTopup } from '../../services/topup/auto-topup-standing.ts';
import { listAttempts } from '../../services/wallet/auto-topup/auto-topup-attempt.ts';
import { findWallet } from '../../services/wallet/wallet.ts';
import { refreshPayment } from '../../workflows/payment/payment.messages.ts';
import { resume, retryNow } from '../../workflows/wallet/auto-top-up.messages.ts';
import type { Api } from '../api.ts';
import { sendCommand } from '../command.ts';
import { errorResponses } from '../errors.ts';
import { updateObject, updateRunning } from '../lifecycle.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, optionalBody } from '../scalars.schema.ts';
import { attemptList, attemptListQuery, resumeBody, viewAttempt, viewStanding } from './auto-topup.schema.ts';
import { viewWallet, wallet } from './wallet.schema.ts';

const tags = ['Wallets'];

/** Automatic top-ups of a wallet: what was tried, and what people may do about it. Own. design: money-in-wallets findings 34, 42 */
export function autoTopupRoutes(app: Api): void {
  app.get('/wallets/:id/auto-topup/attempts', {
    schema: {
      operationId: 'listAutoTopupAttempts',
      tags,
      summary: 'List the automatic top-ups of a wallet, what became of each and why',
      params: idParams,
      querystring: attemptListQuery,
      response: { 200: attemptList, ...errorResponses },
    },
    config: { permission: 'wallet:read' },
    handler: async ({ params, query, transaction }) =>
      transaction(async (tx) => {
        const { id } = await findWallet(tx, params.id);
        return viewList(await listAttempts(tx, toListQuery(query), id, query.outcome ?? null), viewAttempt, 'next');
      }),
  });

  app.post('/wallets/:id/auto-topup/retry', {
    schema: {
      operationId: 'retryAutoTopup',
      tags,
      summary:
        'Look at the wallet now: a pause between top-ups is passed over, limits hold; a silent gateway is asked again',
      params: idParams,
      body: optionalBody,
      response: { 200: wallet, ...errorResponses },
    },
    config: { permission: 'wallet:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { params, transaction, temporal } = request;
      const { state, at } = await transaction((tx) => automatic(tx, params.id));
      await updateObject(request, { ...ownerOf(state), at }, retryNow, {});
      const paymentId = state.read.openAttempt?.paymentId ?? null;
      if (paymentId !== null) {
        await updateRunning(temporal, { kind: 'payment', id: paymentId }, (workflow) =>
          workflow.executeUpdate(refreshPayment),
        );
      }
      return transaction((tx) => walletWithStanding(tx, params.id));
    },
  });

  app.post('/wallets/:id/auto-topup/pause', {
    schema: {
      operationId: 'pauseAutoTopup',
      tags,
      summary: 'Pause automatic top-ups until a person resumes them',
      params: idParams,
      body: optionalBody,
      response: { 200: wallet, ...errorResponses },
    },
    config: { permission: 'wallet:write' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        const { id, customerId } = await findWallet(tx, params.id);
        await pauseByOperator(tx, tx.scope, id, await customerNow(tx, customerId));
        return walletWithStanding(tx, id);
      }),
  });

  app.post('/wallets/:id/auto-topup/resume', {
    schema: {
      operationId: 'resumeAutoTopup',
      tags,
      summary: 'End a pause of automatic top-ups, or give up an attempt that its gateway never answers',
      params: idParams,
      body: resumeBody,
      response: { 200: wallet, ...errorResponses },
    },
    config: { permission: 'wallet:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { params, body, transaction } = request;
      const { state, at } = await transaction((tx) => automatic(tx, params.id));
      const command = { id: request.newId('topup_cmd'), content: { givesUp: body?.give_up ?? false } };
      await sendCommand(request, { ...ownerOf(state), at }, resume, command);
      return transaction((tx) => walletWithStanding(tx, params.id));
    },
  });
}

/** A wallet that fills itself, or did, and its customer's present. Throws `not_found`, `invalid_operation` for any other wallet. */
async function automatic(tx: Transaction, walletId: string): Promise<{ state: AutoTopupState; at: string }> {
  const { id, customerId } = await findWallet(tx, walletId);
  const state = await findAutoTopup(tx, tx.scope, id);
  if (!state) throw neverFilled(id);
  return { state, at: await customerNow(tx, customerId) };
}

function ownerOf({ walletId: id, read: { customerId, testClockId } }: AutoTopupState) {
  return { kind: 'auto_top_up', id, customerId, testClockId } as const;
}

/** A wallet as it is answered where its top-ups matter: with how they stand. design: money-in-wallets finding 42 */
export async function walletWithStanding(tx: Transaction, walletId: string) {
  const standing = viewStanding(await findAutoTopup(tx, tx.scope, walletId));
  return viewWallet(await findWallet(tx, walletId), standing);
}
