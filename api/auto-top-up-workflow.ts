import type { FastifyRequest } from 'fastify';
import type { WokenWallet } from '../db/stores/wallet/auto-topup-switch.ts';
import { methodChanged, retryNow, settingsChanged } from '../workflows/auto-top-up.messages.ts';
import { lifecycleKinds, lifecycleStartOptions, lifecycleTaskQueue } from '../workflows/start.messages.ts';
import { updateObject } from './lifecycle.ts';

const signalTimeoutMs = 5_000;
const maxTelling = 8;
const signals = { methodChanged, settingsChanged };

/**
 * Tells the workflows of wallets that something of theirs changed, starting those that do not run, after the commit. Like `tellOrStart`
 * it never fails a request that is done: when to look at a wallet is on its agenda.
 */
export async function tellTopUps(
  request: FastifyRequest,
  wallets: readonly WokenWallet[],
  signal: keyof typeof signals,
): Promise<void> {
  const waiting = wallets.values();
  const tell = async () => {
    for (const wallet of waiting) {
      await tellTopUp(request, wallet, signal).catch((error: unknown) =>
        request.log.warn({ err: error, walletId: wallet.id }, 'the top-ups of a wallet were not told of a change'),
      );
    }
  };
  await Promise.all(Array.from({ length: maxTelling }, tell));
}

async function tellTopUp(
  { temporal, scope: { tenantId, environmentId } }: FastifyRequest,
  { id, customerId, testClockId, at }: WokenWallet,
  signal: keyof typeof signals,
): Promise<void> {
  const clockTime = testClockId === null ? null : at;
  const start = { tenantId, environmentId, objectId: id, customerId, testClockId, clockTime, creating: false };
  await temporal.withDeadline(Date.now() + signalTimeoutMs, () =>
    temporal.workflow.signalWithStart(lifecycleKinds.auto_top_up.workflowType, {
      ...lifecycleStartOptions('auto_top_up', start, lifecycleTaskQueue),
      signal: signals[signal],
      signalArgs: [{ at }] as [{ at: string }],
    }),
  );
}

/**
 * Has a wallet looked at whose top-ups were switched on or changed, and waits for it, so that the answer shows what follows: below its
 * threshold it is charged at once. What fails here is made up for by its agenda. design: money-in-wallets finding 30
 */
export async function evaluateNow(request: FastifyRequest, { id, ...owner }: WokenWallet): Promise<void> {
  try {
    await updateObject(request, { kind: 'auto_top_up', id, ...owner }, retryNow, { isForced: false });
  } catch (error) {
    request.log.warn({ err: error, walletId: id }, 'the top-ups of a wallet were not looked at');
  }
}
