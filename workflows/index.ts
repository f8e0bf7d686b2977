export { reprocessEvents } from './event-reprocess.ts';
export { invoice } from './invoice.ts';
export { payment } from './payment.ts';
export { priceSync } from './price-sync.ts';
export { refund } from './refund.ts';
export { subscription } from './subscription.ts';
export { importFile } from './task.ts';
export { testClock } from './test-clock.ts';
