import '../heap.ts';
import closeWithGrace from 'close-with-grace';
import { collectDefaultMetrics } from 'prom-client';
import { endWithoutDatabase, readConfigOrExit } from '../config.ts';
import { openDatabase } from '../db/orm.ts';
import { connectAwsRoles } from '../integrations/aws-roles.ts';
import { connectGateways } from '../integrations/connect.ts';
import { openUsageStore } from '../metering/open-usage-store.ts';
import { usageWatchSignal } from './alert/usage-watch.ts';
import { buildApp } from './app.ts';
import { connectTemporal } from './temporal.ts';

/** An API process: answers until it is told to stop, then finishes the requests under way and closes what it opened. */
const config = readConfigOrExit();
const database = await openDatabase({ url: config.databaseUrl, poolSize: config.databasePoolSize }).catch(
  endWithoutDatabase,
);
const temporal = connectTemporal({ ...config.temporal.connection, namespace: config.temporal.namespace });
const { metering } = openUsageStore({
  database,
  clickhouseUrl: config.clickhouseUrl,
  onMarked: usageWatchSignal(temporal.client),
  onPassedOn: ({ message }) => app.log.warn({ reason: message }, 'usage was answered by PostgreSQL'),
});
const gateways = connectGateways(config);
const app = await buildApp({
  config,
  database,
  temporal: temporal.client,
  metering,
  gateways: gateways.registry,
  providers: gateways.providers,
  ...(config.awsMarketplace ? { awsRoles: connectAwsRoles(config.awsMarketplace) } : {}),
  outgoing: config.outgoing,
  webhooks: config.webhooks,
  logger: { level: config.logLevel },
});
collectDefaultMetrics({ register: app.metrics.registry });

closeWithGrace({ delay: config.shutdownTimeoutMs, logger: app.log }, async ({ signal, err }) => {
  if (err) app.log.error({ err }, 'the server stops because of an error');
  else app.log.info({ signal }, 'the server stops');
  await app.close();
  await metering.close();
  await gateways.close();
  await temporal.close();
  await database.close();
});

await app.listen({ host: config.host, port: config.port });
