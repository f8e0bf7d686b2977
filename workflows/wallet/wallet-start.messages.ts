import { type LifecycleStart, rowChanged } from '../lifecycle.messages.ts';
import { lifecycleStartOptions, lifecycleTaskQueue } from '../start.messages.ts';
import { walletWorkflowId, walletWorkflowType } from './wallet.messages.ts';

/** Time from now until the workflow of a wallet first has to act; 0 where that is due, or where a test clock tells it. */
export function walletStartDelayMs(
  { testClockId }: Pick<LifecycleStart, 'testClockId'>,
  { firstAt, spreadMs, now }: { firstAt: string | null; spreadMs: number; now: string },
): number {
  if (testClockId !== null || firstAt === null) return 0;
  return Math.max(0, Date.parse(firstAt) + spreadMs - Date.parse(now));
}

/** A wallet whose agenda changed, and the first instant of it; null when a workflow that runs has nothing left to do. */
interface ChangedWallet {
  id: string;
  customerId: string;
  testClockId: string | null;
  clockTime: string | null;
  firstAt: string | null;
}

/** The part of a Temporal client that is used. */
interface WorkflowClient {
  signalWithStart(workflowType: string, options: ReturnType<typeof wakeOptions>): Promise<unknown>;
  getHandle(workflowId: string): { signal(signal: typeof rowChanged): Promise<void> };
}

/** Means by which a process tells workflows: its time, by how much the timers of a wallet are late, and who hears of what fails. */
interface Teller {
  present(): string;
  spreadMsOf(walletId: string): number;
  warn(error: unknown, walletId: string): void;
}

/**
 * Tells the workflows of wallets whose agendas a transaction changed, after its commit; nobody waits for that. A wallet whose workflow
 * did not begin is found by reconcile, because its agenda is written.
 */
export function walletWaker(workflow: WorkflowClient, { present, spreadMsOf, warn }: Teller) {
  return (scope: { tenantId: string; environmentId: string }, wallets: readonly ChangedWallet[]): void => {
    for (const wallet of wallets) {
      wakeWallet(workflow, scope, wallet, { spreadMs: spreadMsOf(wallet.id), now: present() }).catch(
        (error: unknown) => {
          // A workflow that was to end may have ended.
          if ((error as Error).name !== 'WorkflowNotFoundError') warn(error, wallet.id);
        },
      );
    }
  };
}

/**
 * Tells the workflow of a wallet that its agenda changed, and begins it where none runs. Before its first instant it is given to no
 * worker: a hundred thousand wallets that wait for the end of one month cost a start each, and no task.
 * design: money-in-wallets finding 56
 */
async function wakeWallet(
  workflow: WorkflowClient,
  { tenantId, environmentId }: { tenantId: string; environmentId: string },
  { id: objectId, firstAt, ...owner }: ChangedWallet,
  { spreadMs, now }: { spreadMs: number; now: string },
): Promise<void> {
  if (firstAt === null) return workflow.getHandle(walletWorkflowId(objectId)).signal(rowChanged);
  const start = { ...owner, tenantId, environmentId, objectId, creating: false };
  const delayMs = walletStartDelayMs(start, { firstAt, spreadMs, now });
  await workflow.signalWithStart(walletWorkflowType, wakeOptions(start, delayMs));
}

function wakeOptions(start: LifecycleStart, delayMs: number) {
  return {
    ...lifecycleStartOptions('wallet', start, lifecycleTaskQueue),
    ...(delayMs > 0 ? { startDelay: delayMs } : {}),
    signal: rowChanged,
    signalArgs: [] as [],
  };
}
