import accepts from '@fastify/accepts';
import { serializerCompiler, validatorCompiler } from '@fastify/type-provider-zod';
import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { refuse } from '../billing/refusal.ts';
import { realNow } from '../db/clock.ts';
import { onWalletsWoken } from '../services/ledger/wallet-agenda.ts';
import { timerSpread } from '../services/lifecycle/timer-spread.ts';
import { onTopUpsChanged } from '../services/topup/auto-topup-told.ts';
import { topUpTeller } from '../workflows/wallet/auto-top-up-start.messages.ts';
import { walletWaker } from '../workflows/wallet/wallet-start.messages.ts';
import { alertRoutes } from './alert/alert.route.ts';
import type { Api } from './api.ts';
import { addonRoutes } from './catalogue/addon.route.ts';
import { catalogueRoutes } from './catalogue/catalogue.route.ts';
import { costsheetRoutes } from './catalogue/costsheet.route.ts';
import { entitlementRoutes } from './catalogue/entitlement.route.ts';
import { featureRoutes } from './catalogue/feature.route.ts';
import { groupRoutes } from './catalogue/group.route.ts';
import { meterRoutes } from './catalogue/meter.route.ts';
import { planRoutes } from './catalogue/plan.route.ts';
import { planSimulationRoutes } from './catalogue/plan-simulation.route.ts';
import { priceRoutes } from './catalogue/price.route.ts';
import { priceEstimateRoutes } from './catalogue/price-estimate.route.ts';
import { priceSyncRoutes } from './catalogue/price-sync.route.ts';
import { priceUnitRoutes } from './catalogue/price-unit.route.ts';
import { customerRoutes } from './customer/customer.route.ts';
import { customerUsageRoutes } from './customer/customer-usage.route.ts';
import { portalRoutes } from './customer/portal.route.ts';
import { portalSessionRoutes } from './customer/portal-session.route.ts';
import type { AppDependencies } from './dependencies.ts';
import { handleError, refuseBrokenRequest } from './errors.ts';
import { outboundEventRoutes } from './event/outbound-event.route.ts';
import { connectionRoutes } from './integration/connection.route.ts';
import { inboundRoutes } from './integration/inbound.route.ts';
import { integrationMappingRoutes } from './integration/integration-mapping.route.ts';
import { secretIntegrationRoutes } from './integration/secret-integration.route.ts';
import { couponRoutes } from './invoice/coupon.route.ts';
import { creditNoteRoutes } from './invoice/credit-note.route.ts';
import { documentRoutes } from './invoice/document/document.route.ts';
import { eInvoiceRoutes } from './invoice/document/e-invoice.route.ts';
import { invoiceDocumentRoutes } from './invoice/document/invoice-document.route.ts';
import { invoiceExplanationRoutes } from './invoice/document/invoice-explanation.route.ts';
import { invoiceRoutes } from './invoice/invoice.route.ts';
import { invoiceCommandRoutes } from './invoice/invoice-command.route.ts';
import { taxRoutes } from './invoice/tax.route.ts';
import { loggerSettings, logRequests, requestId } from './logging.ts';
import { checkoutRoutes } from './payment/checkout.route.ts';
import { checkoutPageRoutes } from './payment/checkout-page.route.ts';
import { paymentRoutes } from './payment/payment.route.ts';
import { paymentMethodRoutes } from './payment/payment-method.route.ts';
import { refundRoutes } from './payment/refund.route.ts';
import { savedMethodRoutes } from './payment/saved-method.route.ts';
import { apiKeyRoutes } from './platform/api-key.route.ts';
import { billingRunRoutes } from './platform/billing-run.route.ts';
import { environmentRoutes } from './platform/environment.route.ts';
import { environmentCloneRoutes } from './platform/environment-clone.route.ts';
import { healthRoutes } from './platform/health.route.ts';
import { rbacRoutes } from './platform/rbac.route.ts';
import { settingRoutes } from './platform/setting.route.ts';
import { taskRoutes } from './platform/task.route.ts';
import { tenantRoutes } from './platform/tenant.route.ts';
import { testClockRoutes } from './platform/test-clock.route.ts';
import { unbuiltRoutes } from './platform/unbuilt.route.ts';
import { userRoutes } from './platform/user.route.ts';
import { workflowTriggerRoutes } from './platform/workflow-trigger.route.ts';
import { registerAuthentication } from './plugins/authentication.ts';
import { registerDocuments } from './plugins/documents.ts';
import { bodyLimitBytes, registerJsonBody } from './plugins/json-body.ts';
import { refuseUnknownMembers } from './plugins/known-members.ts';
import { registerMetrics } from './plugins/metrics.ts';
import { registerPreviewSignatures } from './plugins/preview-signature.ts';
import { registerProtection } from './plugins/protection.ts';
import { registerOpenApi, registerReferencePage } from './plugins/reference.ts';
import { registerTransactions } from './plugins/transaction.ts';
import { lineItemRoutes } from './subscription/change/line-item.route.ts';
import { planChangeRoutes } from './subscription/change/plan-change.route.ts';
import { subscriptionAddonRoutes } from './subscription/change/subscription-addon.route.ts';
import { subscriptionModifyRoutes } from './subscription/change/subscription-modify.route.ts';
import { subscriptionScheduleRoutes } from './subscription/change/subscription-schedule.route.ts';
import { subscriptionRoutes } from './subscription/subscription.route.ts';
import { subscriptionPauseRoutes } from './subscription/subscription-pause.route.ts';
import { subscriptionRehearsalRoutes } from './subscription/subscription-rehearsal.route.ts';
import { subscriptionTimelineRoutes } from './subscription/subscription-timeline.route.ts';
import { costAnalyticsRoutes } from './usage/cost-analytics.route.ts';
import { eventRoutes } from './usage/event.route.ts';
import { eventCorrectionRoutes } from './usage/event-correction.route.ts';
import { eventExplainRoutes } from './usage/event-explain.route.ts';
import { eventMonitoringRoutes } from './usage/event-monitoring.route.ts';
import { eventRejectedRoutes } from './usage/event-rejected.route.ts';
import { meterUsageRoutes } from './usage/meter-usage.route.ts';
import { rawEventRoutes } from './usage/raw-event.route.ts';
import { usageAnalyticsRoutes } from './usage/usage-analytics.route.ts';
import { creditGrantRoutes } from './wallet/credit-grant.route.ts';
import { walletRoutes } from './wallet/wallet.route.ts';

/** Plugins of the resources, each with its routes under `/v1`. */
const resources = [
  addonRoutes,
  alertRoutes,
  apiKeyRoutes,
  billingRunRoutes,
  connectionRoutes,
  costAnalyticsRoutes,
  catalogueRoutes,
  costsheetRoutes,
  couponRoutes,
  creditGrantRoutes,
  creditNoteRoutes,
  refundRoutes,
  checkoutRoutes,
  customerRoutes,
  customerUsageRoutes,
  environmentRoutes,
  environmentCloneRoutes,
  rbacRoutes,
  secretIntegrationRoutes,
  settingRoutes,
  tenantRoutes,
  userRoutes,
  entitlementRoutes,
  eventRoutes,
  eventMonitoringRoutes,
  eventCorrectionRoutes,
  eventExplainRoutes,
  eventRejectedRoutes,
  rawEventRoutes,
  usageAnalyticsRoutes,
  featureRoutes,
  groupRoutes,
  integrationMappingRoutes,
  invoiceRoutes,
  invoiceCommandRoutes,
  invoiceDocumentRoutes,
  invoiceExplanationRoutes,
  eInvoiceRoutes,
  meterRoutes,
  meterUsageRoutes,
  outboundEventRoutes,
  paymentMethodRoutes,
  savedMethodRoutes,
  paymentRoutes,
  planRoutes,
  planSimulationRoutes,
  portalSessionRoutes,
  priceRoutes,
  priceUnitRoutes,
  priceEstimateRoutes,
  priceSyncRoutes,
  subscriptionAddonRoutes,
  subscriptionPauseRoutes,
  subscriptionScheduleRoutes,
  workflowTriggerRoutes,
  subscriptionTimelineRoutes,
  subscriptionRehearsalRoutes,
  unbuiltRoutes,
  lineItemRoutes,
  planChangeRoutes,
  subscriptionModifyRoutes,
  subscriptionRoutes,
  taxRoutes,
  taskRoutes,
  testClockRoutes,
  walletRoutes,
];

/** Symbol under which Fastify reads the name of a plugin. Without it Fastify searches all loaded modules for each plugin. */
const displayName = Symbol.for('fastify.display-name');

/** Shared hooks first, then the resources. */
async function registerResources(v1: Api): Promise<void> {
  refuseUnknownMembers(v1);
  registerAuthentication(v1);
  registerTransactions(v1);
  registerPreviewSignatures(v1);
  for (const routes of resources) await v1.register(Object.assign(routes, { [displayName]: routes.name }));
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

/**
 * Refusal of a URL with a NUL character, which no column takes and a URL writes in one way, of an unknown path, and of a method that
 * a path does not have. spec: platform §1.1, §2.3
 */
function refusedUrl({ url, method, is404 }: FastifyRequest): Error | undefined {
  if (url.includes('%00')) {
    const [path = ''] = url.split('?', 1);
    const part = path.includes('%00') ? 'path' : 'query string';
    return refuse('validation_error', `The ${part} contains a NUL character (%00): leave it out.`);
  }
  return is404 ? refuse('not_found', `There is no ${method} on this path.`) : undefined;
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
  // Before the body is read. A hook that waits for nothing calls back: a promise would cost every request a turn.
  app.addHook('onRequest', (request, _reply, done) => done(refusedUrl(request)));
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
