import type { IncomingMessage, ServerResponse } from 'node:http';
import accepts from '@fastify/accepts';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from '@fastify/type-provider-zod';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController, type RawServerDefault } from 'fastify';
import { refuse } from '../billing/refusal.ts';
import { realNow } from '../db/clock.ts';
import { onTopUpsChanged } from '../db/stores/wallet/auto-topup-told.ts';
import { onWalletsWoken } from '../db/stores/wallet/wallet-agenda.ts';
import { timerSpread } from '../db/timer-spread.ts';
import { topUpTeller } from '../workflows/auto-top-up-start.messages.ts';
import { walletWaker } from '../workflows/wallet-start.messages.ts';
import type { AppDependencies } from './dependencies.ts';
import { handleError, refuseBrokenRequest } from './errors.ts';
import { loggerSettings, logRequests, requestId } from './logging.ts';
import { registerAuthentication } from './plugins/authentication.ts';
import { registerDocuments } from './plugins/documents.ts';
import { bodyLimitBytes, registerJsonBody } from './plugins/json-body.ts';
import { refuseUnknownMembers } from './plugins/known-members.ts';
import { registerMetrics } from './plugins/metrics.ts';
import { registerPreviewSignatures } from './plugins/preview-signature.ts';
import { registerProtection } from './plugins/protection.ts';
import { registerOpenApi, registerReferencePage } from './plugins/reference.ts';
import { registerTransactions } from './plugins/transaction.ts';
import { addonRoutes } from './routes/addon.ts';
import { alertRoutes } from './routes/alert.ts';
import { apiKeyRoutes } from './routes/api-key.ts';
import { billingRunRoutes } from './routes/billing-run.ts';
import { catalogueRoutes } from './routes/catalogue.ts';
import { checkoutRoutes } from './routes/checkout.ts';
import { checkoutPageRoutes } from './routes/checkout-page.ts';
import { connectionRoutes } from './routes/connection.ts';
import { costAnalyticsRoutes } from './routes/cost-analytics.ts';
import { costsheetRoutes } from './routes/costsheet.ts';
import { couponRoutes } from './routes/coupon.ts';
import { creditGrantRoutes } from './routes/credit-grant.ts';
import { creditNoteRoutes } from './routes/credit-note.ts';
import { customerRoutes } from './routes/customer.ts';
import { customerUsageRoutes } from './routes/customer-usage.ts';
import { documentRoutes } from './routes/document.ts';
import { eInvoiceRoutes } from './routes/e-invoice.ts';
import { entitlementRoutes } from './routes/entitlement.ts';
import { environmentRoutes } from './routes/environment.ts';
import { environmentCloneRoutes } from './routes/environment-clone.ts';
import { eventRoutes } from './routes/event.ts';
import { eventCorrectionRoutes } from './routes/event-correction.ts';
import { eventExplainRoutes } from './routes/event-explain.ts';
import { eventMonitoringRoutes } from './routes/event-monitoring.ts';
import { eventRejectedRoutes } from './routes/event-rejected.ts';
import { featureRoutes } from './routes/feature.ts';
import { groupRoutes } from './routes/group.ts';
import { healthRoutes } from './routes/health.ts';
import { inboundRoutes } from './routes/inbound.ts';
import { integrationMappingRoutes } from './routes/integration-mapping.ts';
import { invoiceRoutes } from './routes/invoice.ts';
import { invoiceCommandRoutes } from './routes/invoice-command.ts';
import { invoiceDocumentRoutes } from './routes/invoice-document.ts';
import { invoiceExplanationRoutes } from './routes/invoice-explanation.ts';
import { lineItemRoutes } from './routes/line-item.ts';
import { meterRoutes } from './routes/meter.ts';
import { meterUsageRoutes } from './routes/meter-usage.ts';
import { outboundEventRoutes } from './routes/outbound-event.ts';
import { paymentRoutes } from './routes/payment.ts';
import { paymentMethodRoutes } from './routes/payment-method.ts';
import { planRoutes } from './routes/plan.ts';
import { planChangeRoutes } from './routes/plan-change.ts';
import { planSimulationRoutes } from './routes/plan-simulation.ts';
import { portalRoutes } from './routes/portal.ts';
import { portalSessionRoutes } from './routes/portal-session.ts';
import { priceRoutes } from './routes/price.ts';
import { priceEstimateRoutes } from './routes/price-estimate.ts';
import { priceSyncRoutes } from './routes/price-sync.ts';
import { priceUnitRoutes } from './routes/price-unit.ts';
import { rawEventRoutes } from './routes/raw-event.ts';
import { rbacRoutes } from './routes/rbac.ts';
import { refundRoutes } from './routes/refund.ts';
import { savedMethodRoutes } from './routes/saved-method.ts';
import { secretIntegrationRoutes } from './routes/secret-integration.ts';
import { settingRoutes } from './routes/setting.ts';
import { subscriptionRoutes } from './routes/subscription.ts';
import { subscriptionAddonRoutes } from './routes/subscription-addon.ts';
import { subscriptionModifyRoutes } from './routes/subscription-modify.ts';
import { subscriptionPauseRoutes } from './routes/subscription-pause.ts';
import { subscriptionRehearsalRoutes } from './routes/subscription-rehearsal.ts';
import { subscriptionScheduleRoutes } from './routes/subscription-schedule.ts';
import { subscriptionTimelineRoutes } from './routes/subscription-timeline.ts';
import { taskRoutes } from './routes/task.ts';
import { taxRoutes } from './routes/tax.ts';
import { tenantRoutes } from './routes/tenant.ts';
import { testClockRoutes } from './routes/test-clock.ts';
import { unbuiltRoutes } from './routes/unbuilt.ts';
import { usageAnalyticsRoutes } from './routes/usage-analytics.ts';
import { userRoutes } from './routes/user.ts';
import { walletRoutes } from './routes/wallet.ts';
import { workflowTriggerRoutes } from './routes/workflow-trigger.ts';

/** The server as a resource sees it: schemas are zod, and the handler's types come from them. */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Every resource under /v1, a line each. */
async function registerResources(v1: Api): Promise<void> {
  refuseUnknownMembers(v1);
  registerAuthentication(v1);
  registerTransactions(v1);
  registerPreviewSignatures(v1);
  await v1.register(addonRoutes);
  await v1.register(alertRoutes);
  await v1.register(apiKeyRoutes);
  await v1.register(billingRunRoutes);
  await v1.register(connectionRoutes);
  await v1.register(costAnalyticsRoutes);
  await v1.register(catalogueRoutes);
  await v1.register(costsheetRoutes);
  await v1.register(couponRoutes);
  await v1.register(creditGrantRoutes);
  await v1.register(creditNoteRoutes);
  await v1.register(refundRoutes);
  await v1.register(checkoutRoutes);
  await v1.register(customerRoutes);
  await v1.register(customerUsageRoutes);
  await v1.register(environmentRoutes);
  await v1.register(environmentCloneRoutes);
  await v1.register(rbacRoutes);
  await v1.register(secretIntegrationRoutes);
  await v1.register(settingRoutes);
  await v1.register(tenantRoutes);
  await v1.register(userRoutes);
  await v1.register(entitlementRoutes);
  await v1.register(eventRoutes);
  await v1.register(eventMonitoringRoutes);
  await v1.register(eventCorrectionRoutes);
  await v1.register(eventExplainRoutes);
  await v1.register(eventRejectedRoutes);
  await v1.register(rawEventRoutes);
  await v1.register(usageAnalyticsRoutes);
  await v1.register(featureRoutes);
  await v1.register(groupRoutes);
  await v1.register(integrationMappingRoutes);
  await v1.register(invoiceRoutes);
  await v1.register(invoiceCommandRoutes);
  await v1.register(invoiceDocumentRoutes);
  await v1.register(invoiceExplanationRoutes);
  await v1.register(eInvoiceRoutes);
  await v1.register(meterRoutes);
  await v1.register(meterUsageRoutes);
  await v1.register(outboundEventRoutes);
  await v1.register(paymentMethodRoutes);
  await v1.register(savedMethodRoutes);
  await v1.register(paymentRoutes);
  await v1.register(planRoutes);
  await v1.register(planSimulationRoutes);
  await v1.register(portalSessionRoutes);
  await v1.register(priceRoutes);
  await v1.register(priceUnitRoutes);
  await v1.register(priceEstimateRoutes);
  await v1.register(priceSyncRoutes);
  await v1.register(subscriptionAddonRoutes);
  await v1.register(subscriptionPauseRoutes);
  await v1.register(subscriptionScheduleRoutes);
  await v1.register(workflowTriggerRoutes);
  await v1.register(subscriptionTimelineRoutes);
  await v1.register(subscriptionRehearsalRoutes);
  await v1.register(unbuiltRoutes);
  await v1.register(lineItemRoutes);
  await v1.register(planChangeRoutes);
  await v1.register(subscriptionModifyRoutes);
  await v1.register(subscriptionRoutes);
  await v1.register(taxRoutes);
  await v1.register(taskRoutes);
  await v1.register(testClockRoutes);
  await v1.register(walletRoutes);
}

/**
 * Interval of looking for connections that are too slow. The type hides the member: with it the compiler takes the server for one of
 * HTTP/2.
 */
const connectionOptions: object = { http: { connectionsCheckingInterval: 1_000 } };

/** Fastify trusts no mere number of proxies, because it cannot tell that the nearest is one: the port is said to be theirs alone. */
function trustedProxies(trusted: AppDependencies['config']['trustProxy']) {
  return typeof trusted === 'number' ? (_address: string, hop: number) => hop < trusted : trusted;
}

/** Bounds how many connections there are, and how long a request and its headers may take to arrive. */
function limitConnections({ server }: FastifyInstance, { config }: AppDependencies): void {
  if (config.maxConnections) server.maxConnections = config.maxConnections;
  if (!config.requestTimeoutMs) return;
  server.requestTimeout = config.requestTimeoutMs;
  server.headersTimeout = Math.min(config.headersTimeoutMs ?? config.requestTimeoutMs, config.requestTimeoutMs);
}

/** Has the workflows of wallets told of agendas that requests changed. */
function tellWallets(app: FastifyInstance, { config: { timerSpreadMs = 0 }, temporal }: AppDependencies): void {
  const teller = {
    present: realNow,
    spreadMsOf: (walletId: string) => timerSpread(walletId, timerSpreadMs),
    warn: (err: unknown, id: string) =>
      app.log.warn({ err, id }, 'the workflow of a wallet was not told of its agenda'),
  };
  onWalletsWoken((owner, wallets) => walletWaker(temporal.workflow, teller)(owner, wallets));
  const warn = (err: unknown, id: string) =>
    app.log.warn({ err, id }, 'the top-ups of a wallet were not told of a change');
  onTopUpsChanged((owner, changed) => topUpTeller(temporal.workflow, warn)(owner, changed));
}

/**
 * Builds the API over its dependencies. It listens to nothing yet: `inject` works, `listen` opens it. A resource is a
 * plugin of `registerResources`; each of its routes declares schemas, an operationId and a permission.
 */
export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const app = Fastify({
    logger: loggerSettings(dependencies.logger),
    requestIdHeader: false,
    genReqId: requestId,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: bodyLimitBytes,
    ...connectionOptions,
    trustProxy: trustedProxies(dependencies.config.trustProxy),
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 255 },
    frameworkErrors: handleError,
    clientErrorHandler: refuseBrokenRequest,
    // What arrives on an open connection while the server stops is still answered: the database closes last.
    return503OnClosing: false,
  });
  limitConnections(app, dependencies);
  app.decorate('dependencies', dependencies);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(handleError);
  registerJsonBody(app);
  logRequests(app);
  registerDocuments(app);
  registerMetrics(app);
  await registerProtection(app);
  await app.register(accepts);
  // No column takes a NUL character, and a URL has one way to write it.
  app.addHook('onRequest', async ({ url }) => {
    if (!url.includes('%00')) return;
    const [path = ''] = url.split('?', 1);
    const part = path.includes('%00') ? 'path' : 'query string';
    throw refuse('validation_error', `The ${part} contains a NUL character (%00): leave it out.`);
  });
  // An unknown path, and a known one with another method, are refused before the body is read. spec: platform §1.1, §2.3
  app.addHook('onRequest', async (request) => {
    if (request.is404) throw refuse('not_found', `There is no ${request.method} on this path.`);
  });
  tellWallets(app, dependencies);
  await registerOpenApi(app);
  await app.register(healthRoutes);
  await app.register(healthRoutes, { prefix: '/v1' });
  await app.register(registerResources, { prefix: '/v1' });
  await app.register(portalRoutes, { prefix: '/v1' });
  await app.register(documentRoutes, { prefix: '/v1' });
  await app.register(checkoutPageRoutes);
  await app.register(inboundRoutes, { prefix: '/v1' });
  await registerReferencePage(app);
  await app.ready();
  return app as FastifyInstance;
}
