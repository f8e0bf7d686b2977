import { standingText } from '../../billing/wallet/auto-topup-standing.ts';
import type { Database } from '../../db/orm.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, inTransaction, type SqlTransaction } from '../../db/transaction.ts';
import { voidInvoice } from '../../services/invoice/issue/invoice-void.ts';
import { parkObject, unparkObject } from '../../services/lifecycle/parked-object.ts';
import { timerSpread } from '../../services/lifecycle/timer-spread.ts';
import { beginLapse, endPause, giveUp } from '../../services/topup/auto-topup-end.ts';
import { type AutoTopupState, autoTopupType, refreshAutoTopup } from '../../services/topup/auto-topup-standing.ts';
import { failPurchase } from '../../services/topup/wallet-purchase.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import { evaluateAutoTopup } from '../../services/wallet/auto-topup/auto-topup-open.ts';
import type { Caller, KeptCommand } from '../../workflows/lifecycle.messages.ts';
import type { AutoTopUpSnapshot } from '../../workflows/wallet/auto-top-up.messages.ts';
import * as messages from '../../workflows/wallet/auto-top-up.messages.ts';
import { contentOf } from '../command-content.ts';
import { crashPoint } from '../crash-points.ts';
import { keepingRefusals } from '../kept-refusal.ts';

interface WalletReference {
  tenantId: string;
  environmentId: string;
  walletId: string;
}

export type AutoTopUpActivities = ReturnType<typeof createAutoTopUpActivities>;

/** What the workflows of wallets that fill themselves do; each is one transaction. spec: wallets-and-payments §2.11 */
export function createAutoTopUpActivities(dependencies: {
  database: Database;
  readUsage: UsageReader;
  timerSpreadMs: number;
}) {
  const { database, readUsage, timerSpreadMs } = dependencies;
  const inScope = <T>(wallet: WalletReference, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller) =>
    inSqlTransaction(database, { ...workflowScope(wallet), ...caller }, work);
  const snapshotOf = (state: AutoTopupState) => snapshot(state, timerSpread(state.walletId, timerSpreadMs));
  const refreshed = async (tx: SqlTransaction, walletId: string): Promise<AutoTopUpSnapshot> => {
    const state = await refreshAutoTopup(tx, tx.scope, walletId);
    if (!state) throw new Error(`wallet ${walletId} has no automatic top-ups`);
    return snapshotOf(state);
  };

  return {
    /** Reads how the top-ups of a wallet stand and writes it down; null for a wallet that never had any. */
    loadAutoTopUp: (self: WalletReference): Promise<AutoTopUpSnapshot | null> =>
      inScope(self, async (tx) => {
        const state = await refreshAutoTopup(tx, tx.scope, self.walletId);
        return state && snapshotOf(state);
      }),

    /** Opens one attempt where the balance asks for it and nothing holds it. Asked again it finds the attempt open. */
    async evaluateAutoTopUp(input: WalletReference & { isForced: boolean }): Promise<AutoTopUpSnapshot> {
      const { walletId, isForced } = input;
      crashPoint('evaluateAutoTopUp.beforeEffect');
      const state = await inTransaction(database, workflowScope(input), async (tx) => {
        const opened = await evaluateAutoTopup(tx, { walletId, readUsage, isForced });
        crashPoint('evaluateAutoTopUp.beforeCommit');
        return opened;
      });
      if (!state) throw new Error(`wallet ${walletId} has no automatic top-ups`);
      crashPoint('evaluateAutoTopUp.beforeAnswer');
      return snapshotOf(state);
    },

    /** Gives up an attempt whose time is over: voids an invoice that nobody pays, or names the charge to be given up. */
    lapseAutoTopUp: (input: WalletReference & { at: string }): Promise<{ paymentId: string | null }> =>
      inScope(input, async (tx) => {
        const { paymentId, invoiceId } = await beginLapse(tx, tx.scope, input.walletId, input.at);
        if (invoiceId !== null) await voidInvoice(tx, tx.scope, { invoiceId, at: input.at, metadata: null });
        crashPoint('lapseAutoTopUp.beforeCommit');
        return { paymentId };
      }),

    ...keepingRefusals(database, {
      resumeAutoTopUp: ({ command, ...self }: WalletReference & { command: KeptCommand }): Promise<AutoTopUpSnapshot> =>
        inScope(
          self,
          async (tx) => {
            const { walletId } = self;
            const { givesUp } = await contentOf(tx, messages.resume, command);
            if (givesUp) {
              const purchaseId = await giveUp(tx, tx.scope, walletId);
              await failPurchase(tx, tx.scope, purchaseId, 'a person gave up the charge, whose gateway is silent');
            } else await endPause(tx, tx.scope, walletId, command.at);
            return refreshed(tx, walletId);
          },
          command.caller,
        ),
    }),

    parkAutoTopUp: (input: WalletReference & { step: string; reason: string }): Promise<AutoTopUpSnapshot> =>
      inScope(input, async (tx) => {
        const { step, reason, walletId } = input;
        await parkObject(tx, tx.scope, { objectType: autoTopupType, objectId: walletId, step, reason });
        return refreshed(tx, walletId);
      }),

    unparkAutoTopUp: (self: WalletReference): Promise<AutoTopUpSnapshot> =>
      inScope(self, async (tx) => {
        await unparkObject(tx, tx.scope, { objectType: autoTopupType, objectId: self.walletId });
        return refreshed(tx, self.walletId);
      }),
  };
}

function snapshot(state: AutoTopupState, spreadMs: number): AutoTopUpSnapshot {
  const { standing, agenda, read } = state;
  return {
    version: read.row.version,
    status: standing.state,
    agenda,
    ended: standing.state === 'disabled' && agenda.length === 0 && state.blockedOn === null,
    details: detailsOf(state),
    spreadMs,
    blockedOn: state.blockedOn,
    blockedReason: state.blockedReason,
    ...standing,
  };
}

/** Why it is not charging and when it will, in one line for operators. */
function detailsOf({ standing, read }: AutoTopupState): string {
  const attempt = read.openAttempt ? ` · attempt ${read.openAttempt.id}` : '';
  const declines = read.row.consecutiveDeclines > 0 ? ` · ${read.row.consecutiveDeclines} declines in a row` : '';
  const waits = standing.state === 'armed' ? ' · charges when the balance falls to the threshold' : '';
  return `${standingText(standing)}${attempt}${waits} · ${read.row.attempts} attempts, ${read.counts.attempts24h} in 24 h${declines}`;
}
