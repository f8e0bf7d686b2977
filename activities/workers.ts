import type { Client } from '@temporalio/client';
import { type NativeConnection, Runtime, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { realNow } from '../db/clock.ts';
import type { Database } from '../db/orm.ts';
import type { OutgoingPolicy } from '../integrations/guarded-client.ts';
import type { PaymentGateways } from '../integrations/payment-gateway.ts';
import type { ClickHouse } from '../metering/clickhouse/connection.ts';
import { usageReader } from '../metering/usage-reader.ts';
import type { UsageStore } from '../metering/usage-store.ts';
import { onWalletsWoken } from '../services/ledger/wallet-agenda.ts';
import { timerSpread } from '../services/lifecycle/timer-spread.ts';
import { onTopUpsChanged } from '../services/topup/auto-topup-told.ts';
import { bulkTaskQueue, lifecycleTaskQueue } from '../workflows/start.messages.ts';
import { autoTopUpWorkflowId } from '../workflows/wallet/auto-top-up.messages.ts';
import { topUpTeller } from '../workflows/wallet/auto-top-up-start.messages.ts';
import { walletWaker } from '../workflows/wallet/wallet-start.messages.ts';
import { usageLooks } from './alert/usage-look.ts';
import { createUsageWatchActivities, signalUsageWatch } from './alert/usage-watch.ts';
import { createPriceSyncActivities } from './catalogue/price-sync.ts';
import { createLifecycleWatchActivities } from './check/lifecycle-watch.ts';
import { createCustomerOnboardingActivities } from './customer/customer-onboarding.ts';
import type { WebhookDependencies } from './event/webhook/shard.ts';
import { createWebhookStandingActivities } from './event/webhook/standing.ts';
import { createWebhookWorker, type WebhookWorker } from './event/webhook/worker.ts';
import { failureInterceptor } from './failure.ts';
import type { ConnectedProviders } from './integration/connected-gateway.ts';
import { createProviderInboxActivities } from './integration/provider-inbox.ts';
import type { PaymentPages } from './invoice/payer-page.ts';
import { lifecycleActivities } from './lifecycle-activities.ts';
import { isStepOf } from './payment/own-step.ts';
import { createEnvironmentCloneActivities } from './platform/environment-clone.ts';
import { createTestClockActivities } from './platform/test-clock.ts';
import { createOpeningActivities } from './subscription/opening-charge.ts';
import { createEventReprocessActivities } from './usage/event-reprocess.ts';
import { createEventRetentionActivities } from './usage/event-retention.ts';
import { createMeterBuildActivities } from './usage/meter-build.ts';
import { createTaskActivities } from './usage/task.ts';
import { createUsageFeedActivities } from './usage/usage-feed.ts';
import { usageEvaluator } from './usage-rules.ts';
import { bundleWorkflows } from './workflow-bundle.ts';
import { WorkflowThread } from './workflow-worker/workflow-thread.ts';
import { createWorkflowWorker } from './workflow-worker/workflow-worker.ts';

/** What a worker process needs of the world; whoever makes these closes them. */
export interface WorkerDependencies {
  connection: NativeConnection;
  namespace: string;
  /** For what a test clock tells its members. */
  temporal: Client;
  database: Database;
  metering: UsageStore;
  /** The second usage engine, which is fed; none when absent. */
  clickhouse?: ClickHouse | null;
  gateways: PaymentGateways;
  /** Providers that are reached through connections; none when absent. */
  providers?: ConnectedProviders;
  /** Payment pages that workers open by themselves; none when absent. */
  pages?: PaymentPages;
  /** Where files of imports may come from; public https addresses alone when absent. */
  outgoing?: OutgoingPolicy;
  /** Means to send webhooks; this process sends none when absent. */
  webhooks?: WebhookDependencies | undefined;
  /** Made once and given to every worker of a test run; made here when absent. */
  workflowBundle?: WorkflowBundleOption;
  /** Gives the thread of workflows that may call activities of these names; one that ends with these workers when absent. */
  workflowThread?: (activityNames: readonly string[]) => WorkflowThread;
  /** Timers of real time are spread over this window after their exact instant. */
  timerSpreadMs?: number;
  maxCachedWorkflows?: number;
  /** Days for which outbound events are kept; they are kept for good when absent. */
  outboundEventDays?: number | undefined;
}

export interface Workers {
  /** Resolves when all workers have shut down, rejects when one failed. */
  run(): Promise<void>;
  shutdown(): void;
}

/**
 * After a killed worker the next command waits this long for its sticky queue. Shorter is worse: on a crowded machine tasks that
 * wait longer go to workers that replay the whole history, which crowds it more.
 */
const stickyQueueScheduleToStartTimeout = '3s';

/**
 * Shared by all workers: the time for what runs to end before it is given up, and heartbeats that go to the server as they are made,
 * so that silence means what it says and a cancelled step hears of it at once.
 */
const common = { shutdownGraceTime: '3s', shutdownForceTime: '15s', maxHeartbeatThrottleInterval: '1s' } as const;

/**
 * The workers of one process: `lifecycle` for workflows and their database work, `external` for gateways, `bulk` for what
 * goes through very many rows.
 * design: architecture §3 Load
 */
export async function createWorkers(dependencies: WorkerDependencies): Promise<Workers> {
  const { connection, namespace, database } = dependencies;
  const readUsage = usageReader(dependencies.metering);
  const timerSpreadMs = dependencies.timerSpreadMs ?? 0;
  const access = { database, gateways: dependencies.gateways, providers: dependencies.providers };
  const { pages = { signingKeys: [], url: '' } } = dependencies;
  const lifecycles = await lifecycleActivities({ ...access, readUsage, pages, timerSpreadMs });
  /** Steps that ask a gateway: as a local step where that answers without a network, else on a queue of its own. */
  const asking = { ...lifecycles.asking, ...createOpeningActivities(access) };
  const { metering, temporal, outgoing = { allowedHosts: [] }, outboundEventDays } = dependencies;
  tellWallets(temporal, timerSpreadMs);
  const task = createTaskActivities({ database, metering, temporal, outgoing });
  /** What follows from usage; each is given the customers whose usage changed. */
  const evaluator = usageEvaluator({ database, readUsage, temporal, onFailure: logFailedLook });
  const looks = usageLooks({ database, evaluators: [evaluator] });
  const activities = {
    ...lifecycles.all,
    ...createCustomerOnboardingActivities({ database, temporal }),
    ...createTestClockActivities({
      database,
      temporal,
      taskQueue: lifecycleTaskQueue,
      usage: { ...looks, wake: (scope) => signalUsageWatch(temporal, scope) },
    }),
    ...watchActivities({ database, temporal, providers: dependencies.providers, outboundEventDays }),
    ...createUsageWatchActivities({ database, looks }),
    ...asking,
    ...task,
  };
  const activitiesOfBulk = { ...bulkActivities(dependencies), ...task };
  const interceptors = { activity: [failureInterceptor] };
  const workflowBundle = dependencies.workflowBundle ?? (await bundleWorkflows());
  const activityNames = Object.keys({ ...activities, ...activitiesOfBulk });
  const workflowThread = dependencies.workflowThread?.(activityNames) ?? new WorkflowThread(activityNames);
  const lifecycle = await createWorkflowWorker({
    connection,
    namespace,
    taskQueue: lifecycleTaskQueue,
    workflowBundle,
    workflowThread,
    activities,
    interceptors,
    stickyQueueScheduleToStartTimeout,
    maxCachedWorkflows: dependencies.maxCachedWorkflows ?? 2_000,
    maxConcurrentLocalActivityExecutions: 200,
    // A task lasts as long as its local activities: those of a crowd wait together, and leave room for others.
    maxConcurrentWorkflowTaskExecutions: 120,
    ...common,
  });
  const external = await Worker.create({
    connection,
    namespace,
    taskQueue: 'external',
    activities: asking,
    interceptors,
    maxConcurrentActivityTaskExecutions: 100,
    ...common,
  });
  const bulk = await createWorkflowWorker({
    connection,
    namespace,
    taskQueue: bulkTaskQueue,
    workflowBundle,
    workflowThread,
    activities: activitiesOfBulk,
    interceptors,
    stickyQueueScheduleToStartTimeout,
    maxCachedWorkflows: 100,
    // Each holds a connection and a core: the rest of the platform keeps its own.
    maxConcurrentActivityTaskExecutions: 4,
    ...common,
  });
  const webhooks = await createWebhookWorker(dependencies, { interceptors, ...common });
  return together([lifecycle, external, bulk, ...webhooks.workers], webhooks);
}

/** Several workers as one. */
function together(workers: readonly Worker[], webhooks: WebhookWorker): Workers {
  return {
    async run() {
      await Promise.all(workers.map((worker) => worker.run()));
      await webhooks.close();
    },
    shutdown() {
      webhooks.end();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    },
  };
}

/** Has the workflows of wallets told of agendas that steps changed. */
function tellWallets(temporal: Client, timerSpreadMs: number): void {
  const waker = walletWaker(temporal.workflow, {
    present: realNow,
    spreadMsOf: (walletId) => timerSpread(walletId, timerSpreadMs),
    warn: (error, walletId) =>
      Runtime.instance().logger.warn('the workflow of a wallet was not told of its agenda', { walletId, error }),
  });
  onWalletsWoken(waker);
  const teller = topUpTeller(temporal.workflow, (error, walletId) =>
    Runtime.instance().logger.warn('the top-ups of a wallet were not told of a change', { walletId, error }),
  );
  onTopUpsChanged((owner, changed) => {
    if (!isStepOf(autoTopUpWorkflowId(changed.id))) teller(owner, changed);
  });
}

/** Steps of those who see to it that others are told: of lifecycles that were closed, of notifications, and of webhooks. */
function watchActivities(
  dependencies: Parameters<typeof createProviderInboxActivities>[0] &
    Parameters<typeof createLifecycleWatchActivities>[0],
) {
  return {
    ...createLifecycleWatchActivities(dependencies),
    ...createProviderInboxActivities(dependencies),
    ...createWebhookStandingActivities(dependencies),
  };
}

/** The steps that go through very many rows. */
function bulkActivities({ database, temporal, metering, clickhouse = null }: WorkerDependencies) {
  return {
    ...createPriceSyncActivities({ database }),
    ...createEnvironmentCloneActivities({ database, temporal }),
    ...createEventReprocessActivities({ database, metering }),
    ...createEventRetentionActivities({ database, clickhouse }),
    ...createUsageFeedActivities({ database, clickhouse }),
    ...createMeterBuildActivities({ database }),
  };
}

function logFailedLook(customerId: string, error: unknown): void {
  Runtime.instance().logger.warn(
    `a rule of usage failed for customer ${customerId} and is tried again in five minutes`,
    { error },
  );
}
