import type { Adapters } from '../adapter.ts';
import { autoInvoiceThresholdAdapters } from './auto-invoice-threshold.ts';
import { bucketAdapters } from './bucket.ts';
import { calendarAdapters } from './calendar.ts';
import { catalogueAdapters } from './catalogue.ts';
import { chargeAdapters } from './charge.ts';
import { commitmentAdapters } from './commitment.ts';
import { costsheetAdapters } from './costsheet.ts';
import { creditGrantAdapters } from './credit-grant.ts';
import { creditNoteAdapters } from './credit-note.ts';
import { entitlementAdapters } from './entitlement.ts';
import { grantAdapters } from './grant.ts';
import { hierarchyAdapters } from './hierarchy.ts';
import { httpAdapters, stopHttpAdapters } from './http.ts';
import { invoiceAdapters } from './invoice.ts';
import { meteringAdapters } from './metering.ts';
import { pauseAdapters } from './pause.ts';
import { paymentAdapters } from './payment.ts';
import { planChangeAdapters } from './plan-change.ts';
import { portalAdapters } from './portal.ts';
import { priceSyncAdapters } from './price-sync.ts';
import { priceUnitAdapters } from './price-unit.ts';
import { prorationAdapters } from './proration.ts';
import { subscriptionAdapters } from './subscription.ts';
import { walletAdapters } from './wallet.ts';
import { walletStoreAdapters } from './wallet-store.ts';

/** Every kind that can be run. A new group: its file, and one line here. */
export const adapters: Adapters = {
  ...autoInvoiceThresholdAdapters,
  ...creditGrantAdapters,
  ...hierarchyAdapters,
  ...catalogueAdapters,
  ...bucketAdapters,
  ...calendarAdapters,
  ...chargeAdapters,
  ...commitmentAdapters,
  ...costsheetAdapters,
  ...creditNoteAdapters,
  ...entitlementAdapters,
  ...grantAdapters,
  ...httpAdapters,
  ...invoiceAdapters,
  ...meteringAdapters,
  ...pauseAdapters,
  ...paymentAdapters,
  ...planChangeAdapters,
  ...priceSyncAdapters,
  ...priceUnitAdapters,
  ...prorationAdapters,
  ...portalAdapters,
  ...subscriptionAdapters,
  ...walletAdapters,
  ...walletStoreAdapters,
};

/** Stops the servers that adapters started; call it after the last vector. */
export async function stopAdapters(): Promise<void> {
  await stopHttpAdapters();
}
