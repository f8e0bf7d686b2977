import { continueAsNew, proxyLocalActivities } from '@temporalio/workflow';
import type { WalletActivities } from '../../activities/wallet/wallet.ts';
import type { AgendaItem } from '../../billing/agenda.ts';
import { databaseStep } from '../activity-options.ts';
import type { LifecycleResult, LifecycleStart } from '../lifecycle.messages.ts';
import { createLifecycle } from '../lifecycle.ts';
import type { Lifecycle } from '../lifecycle-definition.ts';
import type { WalletSnapshot } from './wallet.messages.ts';

const local = proxyLocalActivities<WalletActivities>(databaseStep);

/**
 * A wallet with lots that expire: six hours after its expiry a lot leaves the balance, or is held and looked at again when what holds
 * it has ended. A wallet without such a lot has no workflow. spec: wallets-and-payments §2.8; design: money-in §2
 */
export async function wallet(start: LifecycleStart): Promise<LifecycleResult> {
  const self = { tenantId: start.tenantId, environmentId: start.environmentId, walletId: start.objectId };

  /** Between two entries a lot may have been released as of what the test clock shows by now. */
  async function load(): Promise<WalletSnapshot> {
    const snapshot = await local.loadWallet(self);
    if (snapshot.clockTime !== null) lifecycle.clock.hear(snapshot.clockTime);
    return snapshot;
  }

  async function perform(item: AgendaItem): Promise<WalletSnapshot> {
    if (item.kind !== 'expireLot') throw new Error(`a wallet has no agenda entry ${item.kind}`);
    return local.expireLot({ ...self, lotId: item.ref });
  }

  const lifecycle: Lifecycle<WalletSnapshot> = createLifecycle<WalletSnapshot>({
    start,
    load,
    perform,
    park: (item, reason) => local.parkWallet({ ...self, step: item.kind, reason }),
    unpark: () => local.unparkWallet(self),
    rollOver: (next) => continueAsNew<typeof wallet>(next),
  });

  return lifecycle.run();
}
