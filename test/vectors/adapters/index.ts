import type { Adapters } from '../adapter.ts';
import { alertAdapters } from './alert.ts';
import { autoInvoiceThresholdAdapters } from './auto-invoice-threshold.ts';
import { autoTopupAdapters } from './auto-topup.ts';
import { calendarAdapters } from './calendar.ts';
import { catalogueAdapters } from './catalogue.ts';
import { chargeAdapters } from './charge.ts';
import { checkoutAdapters } from './checkout.ts';
import { commitmentAdapters } from './commitment.ts';
import { costsheetAdapters } from './costsheet.ts';
import { creditGrantAdapters } from './credit-grant.ts';
import { creditNoteAdapters } from './credit-note.ts';
import { entitlementAdapters } from './entitlement.ts';
import { httpAdapters } from './http.ts';
import { invoiceAdapters } from './invoice.ts';
import { lotExpiryAdapters } from './lot-expiry.ts';
import { pauseAdapters } from './pause.ts';
import { paymentAdapters } from './payment.ts';
import { planChangeAdapters } from './plan-change.ts';
import { portalAdapters } from './portal.ts';
import { priceSyncAdapters } from './price-sync.ts';
import { priceUnitAdapters } from './price-unit.ts';
import { prorationAdapters } from './proration.ts';
import { subscriptionAdapters } from './subscription.ts';
import { usageAdapters } from './usage.ts';
import { walletAdapters } from './wallet.ts';
import { walletPaymentAdapters } from './wallet-payment.ts';
import { walletStoreAdapters } from './wallet-store.ts';

/** Every kind that can be run. A new group: its file, and one line here. */
export const adapters: Adapters = {
  ...alertAdapters,
  ...autoInvoiceThresholdAdapters,
  ...autoTopupAdapters,
  ...creditGrantAdapters,
  ...catalogueAdapters,
  ...calendarAdapters,
  ...chargeAdapters,
  ...checkoutAdapters,
  ...commitmentAdapters,
  ...costsheetAdapters,
  ...creditNoteAdapters,
  ...entitlementAdapters,
  ...httpAdapters,
  ...invoiceAdapters,
  ...pauseAdapters,
  ...paymentAdapters,
  ...planChangeAdapters,
  ...priceSyncAdapters,
  ...priceUnitAdapters,
  ...prorationAdapters,
  ...portalAdapters,
  ...subscriptionAdapters,
  ...usageAdapters,
  ...walletAdapters,
  ...lotExpiryAdapters,
  ...walletPaymentAdapters,
  ...walletStoreAdapters,
};
