import './heap.ts';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { signalUsageWatch } from './activities/alert/usage-watch.ts';
import { scheduleLifecycleWatch } from './activities/check/lifecycle-watch.ts';
import { reconcile } from './activities/check/reconcile.ts';
import { startWebhookDelivery } from './activities/event/webhook/delivery.ts';
import { runtimeOptions, workerLogger } from './activities/logging.ts';
import { scheduleRetention } from './activities/usage/event-retention.ts';
import { startUsageFeed } from './activities/usage/usage-feed.ts';
import { createWorkers } from './activities/workers.ts';
import { renderInvoices } from './api/event/outbound-event-payload.ts';
import { endWithoutDatabase, readConfigOrExit } from './config.ts';
import { openDatabase } from './db/orm.ts';
import { connectGateways } from './integrations/connect.ts';
import { openUsageStore } from './metering/open-usage-store.ts';
import { callInterceptors } from './temporal-connection.ts';

/** A worker process: runs workflows and activities until it is told to stop, then finishes what it has begun. */
const config = readConfigOrExit();
const logger = workerLogger({ level: config.logLevel });
Runtime.install(runtimeOptions({ logger, metricsAddress: config.metricsAddress }));

const database = await openDatabase({ url: config.databaseUrl, poolSize: config.databasePoolSize }).catch(
  endWithoutDatabase,
);
const connection = await NativeConnection.connect(config.temporal.connection);
const clientConnection = await Connection.connect({ ...config.temporal.connection, interceptors: callInterceptors() });
const temporal = new Client({ connection: clientConnection, namespace: config.temporal.namespace });
// Whoever is not told now is found by the next event, or by the look of every 30 seconds.
const { metering, clickhouse } = openUsageStore({
  database,
  clickhouseUrl: config.clickhouseUrl,
  onMarked: (scope) => {
    signalUsageWatch(temporal, scope).catch((error: unknown) =>
      logger.warn({ err: error }, 'a usage watch was not told'),
    );
  },
  onPassedOn: ({ message }) => logger.warn({ reason: message }, 'usage was answered by PostgreSQL'),
});
const gateways = connectGateways(config);

try {
  const workers = await createWorkers({
    connection,
    namespace: config.temporal.namespace,
    temporal,
    database,
    metering,
    clickhouse,
    gateways: gateways.registry,
    providers: { adapters: gateways.providers, secretKeys: config.secretEncryptionKeys },
    pages: { signingKeys: config.portalSigningKeys, url: config.publicUrl },
    outgoing: config.outgoing,
    webhooks: { policy: config.webhooks, secretKeys: config.secretEncryptionKeys, renderInvoices },
    timerSpreadMs: config.timerSpreadMs,
    outboundEventDays: config.outboundEventRetentionDays,
    ...(config.workflowBundle === null ? {} : { workflowBundle: { codePath: config.workflowBundle } }),
  });
  const started = await reconcile({ database, temporal, timerSpreadMs: config.timerSpreadMs });
  if (clickhouse) await startUsageFeed(temporal);
  await startWebhookDelivery(temporal);
  await scheduleLifecycleWatch(temporal);
  await scheduleRetention(temporal, config.eventRetentionDays);
  logger.info(started, 'worker started');
  await workers.run();
  logger.info('worker stopped');
} finally {
  await metering.close();
  await gateways.close();
  await clientConnection.close();
  await connection.close();
  await database.close();
}
