// The workflows that look after no single object. Those that do, the lifecycles, are in lifecycles/kinds.ts; workers get both.
export { usageWatch } from './alert/usage-watch.ts';
export { priceSync } from './catalogue/price-sync.ts';
export { lifecycleWatch } from './check/lifecycle-watch.ts';
export { customerOnboarding } from './customer/customer-onboarding.ts';
export { webhookDelivery } from './event/webhook-delivery.ts';
export { webhookEndpoint } from './event/webhook-endpoint.ts';
export { providerInbox } from './integration/provider-inbox.ts';
export { environmentClone } from './platform/environment-clone.ts';
export { importFile } from './platform/task.ts';
export { testClock } from './platform/test-clock.ts';
export { reprocessEvents } from './usage/event-reprocess.ts';
export { eventRetention } from './usage/event-retention.ts';
export { meterBuild } from './usage/meter-build.ts';
export { usageFeed } from './usage/usage-feed.ts';
