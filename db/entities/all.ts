import { AlertLog } from './alert/alert-log.ts';
import { AlertSetting } from './alert/alert-setting.ts';
import { AlertStream } from './alert/alert-stream.ts';
import { Addon } from './catalogue/addon.ts';
import { Costsheet } from './catalogue/costsheet.ts';
import { Entitlement } from './catalogue/entitlement.ts';
import { Feature } from './catalogue/feature.ts';
import { Group } from './catalogue/group.ts';
import { Meter } from './catalogue/meter.ts';
import { Plan } from './catalogue/plan.ts';
import { Price } from './catalogue/price.ts';
import { PriceSync } from './catalogue/price-sync.ts';
import { PriceUnit } from './catalogue/price-unit.ts';
import { Customer } from './customer/customer.ts';
import { CustomerOnboarding } from './customer/customer-onboarding.ts';
import { OutboxBody } from './event/outbox-body.ts';
import { OutboxEvent } from './event/outbox-event.ts';
import { OutboxFeed } from './event/outbox-feed.ts';
import { OutboxRelay } from './event/outbox-relay.ts';
import { OutboxSequence } from './event/outbox-sequence.ts';
import { WebhookCursor } from './event/webhook-cursor.ts';
import { WebhookDelivery } from './event/webhook-delivery.ts';
import { WebhookEndpoint } from './event/webhook-endpoint.ts';
import { WebhookFilter } from './event/webhook-filter.ts';
import { WebhookLine } from './event/webhook-line.ts';
import { WebhookReplay } from './event/webhook-replay.ts';
import { WebhookSkip } from './event/webhook-skip.ts';
import { WebhookTest } from './event/webhook-test.ts';
import { Connection } from './integration/connection.ts';
import { InboundEvent } from './integration/inbound-event.ts';
import { IntegrationMapping } from './integration/integration-mapping.ts';
import { CarriedCredit } from './invoice/carried-credit.ts';
import { Coupon } from './invoice/coupon.ts';
import { CouponApplication } from './invoice/coupon-application.ts';
import { CouponAssociation } from './invoice/coupon-association.ts';
import { CreditNote } from './invoice/credit-note.ts';
import { CreditNoteLineItem } from './invoice/credit-note-line-item.ts';
import { DocumentContent, DocumentPaper } from './invoice/document-paper.ts';
import { Invoice } from './invoice/invoice.ts';
import { InvoiceCount } from './invoice/invoice-count.ts';
import { InvoiceCountChange } from './invoice/invoice-count-change.ts';
import { InvoiceDocument } from './invoice/invoice-document.ts';
import { InvoiceLineItem } from './invoice/invoice-line-item.ts';
import { InvoiceNumberSequence } from './invoice/invoice-number-sequence.ts';
import { TaxApplied } from './invoice/tax-applied.ts';
import { TaxAssociation } from './invoice/tax-association.ts';
import { TaxRate } from './invoice/tax-rate.ts';
import { AgendaEntry } from './lifecycle/agenda-entry.ts';
import { KeptCommand } from './lifecycle/kept-command.ts';
import { ParkedObject } from './lifecycle/parked-object.ts';
import { CheckoutSession } from './payment/checkout-session.ts';
import { Dispute } from './payment/dispute.ts';
import { Payment } from './payment/payment.ts';
import { PaymentAttempt } from './payment/payment-attempt.ts';
import { PaymentMethod } from './payment/payment-method.ts';
import { Refund } from './payment/refund.ts';
import { ApiKey } from './platform/api-key.ts';
import { AuditEntry } from './platform/audit-entry.ts';
import { Environment } from './platform/environment.ts';
import { EnvironmentClone } from './platform/environment-clone.ts';
import { IdempotentRequest } from './platform/idempotent-request.ts';
import { Setting } from './platform/setting.ts';
import { Task } from './platform/task.ts';
import { Tenant } from './platform/tenant.ts';
import { TestClock } from './platform/test-clock.ts';
import { UserAccount } from './platform/user-account.ts';
import { AddonAssociation } from './subscription/addon-association.ts';
import { OpeningCharge } from './subscription/opening-charge.ts';
import { Subscription } from './subscription/subscription.ts';
import { SubscriptionChange } from './subscription/subscription-change.ts';
import { SubscriptionLineItem } from './subscription/subscription-line-item.ts';
import { SubscriptionPause } from './subscription/subscription-pause.ts';
import { SubscriptionPhase } from './subscription/subscription-phase.ts';
import { SubscriptionProration } from './subscription/subscription-proration.ts';
import { SubscriptionSchedule } from './subscription/subscription-schedule.ts';
import { EntitlementGrant } from './usage/entitlement-grant.ts';
import { AutoTopupAttempt } from './wallet/auto-topup-attempt.ts';
import { CreditGrant } from './wallet/credit-grant.ts';
import { CreditGrantApplication } from './wallet/credit-grant-application.ts';
import { OngoingBalance } from './wallet/ongoing-balance.ts';
import { Wallet } from './wallet/wallet.ts';
import { WalletAutoTopup } from './wallet/wallet-auto-topup.ts';
import { WalletCreditDay } from './wallet/wallet-credit-day.ts';
import { WalletTransaction } from './wallet/wallet-transaction.ts';

/** Every mapped table. The usage tables are not here: they are named SQL (metering/postgres). */
export const entities = [
  Addon,
  AddonAssociation,
  AgendaEntry,
  AlertLog,
  AlertSetting,
  AlertStream,
  ApiKey,
  AuditEntry,
  CarriedCredit,
  CheckoutSession,
  AutoTopupAttempt,
  Connection,
  Costsheet,
  Coupon,
  CouponApplication,
  CouponAssociation,
  CreditGrant,
  CreditGrantApplication,
  CreditNote,
  CreditNoteLineItem,
  Customer,
  CustomerOnboarding,
  DocumentContent,
  DocumentPaper,
  Entitlement,
  EntitlementGrant,
  Environment,
  EnvironmentClone,
  Feature,
  Group,
  IdempotentRequest,
  InboundEvent,
  IntegrationMapping,
  Invoice,
  InvoiceCount,
  InvoiceCountChange,
  InvoiceDocument,
  InvoiceLineItem,
  InvoiceNumberSequence,
  Meter,
  OngoingBalance,
  OpeningCharge,
  OutboxBody,
  OutboxEvent,
  OutboxFeed,
  OutboxRelay,
  OutboxSequence,
  KeptCommand,
  ParkedObject,
  Payment,
  PaymentAttempt,
  Dispute,
  PaymentMethod,
  Plan,
  Price,
  PriceUnit,
  PriceSync,
  Refund,
  Setting,
  Subscription,
  SubscriptionChange,
  SubscriptionLineItem,
  SubscriptionProration,
  SubscriptionPause,
  SubscriptionPhase,
  SubscriptionSchedule,
  TaxApplied,
  TaxAssociation,
  TaxRate,
  Task,
  Tenant,
  TestClock,
  UserAccount,
  Wallet,
  WalletAutoTopup,
  WalletCreditDay,
  WalletTransaction,
  WebhookCursor,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookFilter,
  WebhookLine,
  WebhookReplay,
  WebhookSkip,
  WebhookTest,
];
