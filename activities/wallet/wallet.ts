import { leavesAt } from '../../billing/wallet/credit-expiry.ts';
import type { Database } from '../../db/orm.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../db/transaction.ts';
import { parkObject, unparkObject } from '../../services/lifecycle/parked-object.ts';
import { timerSpread } from '../../services/lifecycle/timer-spread.ts';
import { expireLot, loadWalletState, type WalletState } from '../../services/wallet/wallet-expiry.ts';
import type { WalletSnapshot } from '../../workflows/wallet/wallet.messages.ts';
import { crashPoint } from '../crash-points.ts';

export interface WalletActivityDependencies {
  database: Database;
  timerSpreadMs: number;
}

interface WalletReference {
  tenantId: string;
  environmentId: string;
  walletId: string;
}

export type WalletActivities = ReturnType<typeof createWalletActivities>;

/** Steps of wallet workflows. spec: wallets-and-payments §2.8 */
export function createWalletActivities({ database, timerSpreadMs }: WalletActivityDependencies) {
  const inScope = <T>(wallet: WalletReference, work: (tx: SqlTransaction) => Promise<T>) =>
    inSqlTransaction(database, workflowScope(wallet), work);
  const load = async (input: WalletReference) =>
    snapshotOf(
      await inScope(input, (tx) => loadWalletState(tx, input.walletId)),
      timerSpread(input.walletId, timerSpreadMs),
    );

  return {
    loadWallet: (input: WalletReference): Promise<WalletSnapshot> => load(input),

    /** Takes the credits of a lot that is past its expiry out of the balance, or notes what holds them. */
    async expireLot(input: WalletReference & { lotId: string }): Promise<WalletSnapshot> {
      await inScope(input, async (tx) => {
        await expireLot(tx, input);
        crashPoint('expireLot.beforeCommit');
      });
      crashPoint('expireLot.beforeAnswer');
      return load(input);
    },

    async parkWallet(input: WalletReference & { step: string; reason: string }): Promise<WalletSnapshot> {
      const { walletId: objectId, step, reason } = input;
      await inScope(input, (tx) => parkObject(tx, tx.scope, { objectType: 'wallet', objectId, step, reason }));
      return load(input);
    },

    async unparkWallet(input: WalletReference): Promise<WalletSnapshot> {
      await inScope(input, (tx) => unparkObject(tx, tx.scope, { objectType: 'wallet', objectId: input.walletId }));
      return load(input);
    },
  };
}

function snapshotOf(state: WalletState, spreadMs: number): WalletSnapshot {
  return {
    version: state.version,
    status: state.walletStatus,
    agenda: state.agenda,
    ended: state.agenda.length === 0 && state.blockedOn === null,
    details: detailsOf(state),
    spreadMs,
    blockedOn: state.blockedOn,
    blockedReason: state.blockedReason,
    clockTime: state.clockTime,
  };
}

/** Lots that the page of the workflow names one by one; it counts the others. */
const namedLots = 5;

/** Which lot leaves the balance when, or what it waits for. Ids and instants only: credits are nobody's business there. */
function detailsOf({ walletStatus, lots, lotCount }: WalletState): string {
  if (lotCount === 0) return `${walletStatus} · no lot expires`;
  const named = lots.slice(0, namedLots).map(({ id, expiryDate, fate }) => {
    if ('heldBy' in fate) return `${id} expired at ${expiryDate}, held by ${fate.heldBy}, ${whatHolds(fate.outcome)}`;
    return `${id} expires at ${expiryDate} and leaves the balance at ${leavesAt(expiryDate)}`;
  });
  const others = lotCount - named.length;
  return [walletStatus, ...named, ...(others > 0 ? [`${others} more`] : [])].join(' · ');
}

function whatHolds(outcome: 'skipped:active_subscription' | 'skipped:active_invoice'): string {
  return outcome === 'skipped:active_subscription'
    ? 'whose period is over and not closed yet'
    : 'which is a draft, or not paid and finalized less than 30 days ago';
}
