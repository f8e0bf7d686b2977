import { Addon } from './addon.ts';
import { AddonAssociation } from './addon-association.ts';
import { AgendaEntry } from './agenda-entry.ts';
import { AlertLog } from './alert-log.ts';
import { AlertSetting } from './alert-setting.ts';
import { AlertStream } from './alert-stream.ts';
import { ApiKey } from './api-key.ts';
import { AuditEntry } from './audit-entry.ts';
import { AutoTopupAttempt } from './auto-topup-attempt.ts';
import { CarriedCredit } from './carried-credit.ts';
import { CheckoutSession } from './checkout-session.ts';
import { Connection } from './connection.ts';
import { Costsheet } from './costsheet.ts';
import { Coupon } from './coupon.ts';
import { CouponApplication } from './coupon-application.ts';
import { CouponAssociation } from './coupon-association.ts';
import { CreditGrant } from './credit-grant.ts';
import { CreditGrantApplication } from './credit-grant-application.ts';
import { CreditNote } from './credit-note.ts';
import { CreditNoteLineItem } from './credit-note-line-item.ts';
import { Customer } from './customer.ts';
import { CustomerOnboarding } from './customer-onboarding.ts';
import { DocumentContent, DocumentPaper } from './document-paper.ts';
import { Entitlement } from './entitlement.ts';
import { EntitlementGrant } from './entitlement-grant.ts';
import { Environment } from './environment.ts';
import { EnvironmentClone } from './environment-clone.ts';
import { Feature } from './feature.ts';
import { Group } from './group.ts';
import { IdempotentRequest } from './idempotent-request.ts';
import { InboundEvent } from './inbound-event.ts';
import { IntegrationMapping } from './integration-mapping.ts';
import { Invoice } from './invoice.ts';
import { InvoiceCommand } from './invoice-command.ts';
import { InvoiceCount } from './invoice-count.ts';
import { InvoiceCountChange } from './invoice-count-change.ts';
import { InvoiceDocument } from './invoice-document.ts';
import { InvoiceLineItem } from './invoice-line-item.ts';
import { InvoiceNumberSequence } from './invoice-number-sequence.ts';
import { Meter } from './meter.ts';
import { OngoingBalance } from './ongoing-balance.ts';
import { OpeningCharge } from './opening-charge.ts';
import { OutboxEvent } from './outbox-event.ts';
import { OutboxFeed } from './outbox-feed.ts';
import { OutboxRelay } from './outbox-relay.ts';
import { OutboxSequence } from './outbox-sequence.ts';
import { ParkedObject } from './parked-object.ts';
import { Payment } from './payment.ts';
import { PaymentAttempt } from './payment-attempt.ts';
import { PaymentMethod } from './payment-method.ts';
import { Plan } from './plan.ts';
import { Price } from './price.ts';
import { PriceSync } from './price-sync.ts';
import { PriceUnit } from './price-unit.ts';
import { Refund } from './refund.ts';
import { Setting } from './setting.ts';
import { Subscription } from './subscription.ts';
import { SubscriptionChange } from './subscription-change.ts';
import { SubscriptionCommand } from './subscription-command.ts';
import { SubscriptionLineItem } from './subscription-line-item.ts';
import { SubscriptionPause } from './subscription-pause.ts';
import { SubscriptionPhase } from './subscription-phase.ts';
import { SubscriptionProration } from './subscription-proration.ts';
import { SubscriptionSchedule } from './subscription-schedule.ts';
import { Task } from './task.ts';
import { TaxApplied } from './tax-applied.ts';
import { TaxAssociation } from './tax-association.ts';
import { TaxRate } from './tax-rate.ts';
import { Tenant } from './tenant.ts';
import { TestClock } from './test-clock.ts';
import { UserAccount } from './user-account.ts';
import { Wallet } from './wallet.ts';
import { WalletAutoTopup } from './wallet-auto-topup.ts';
import { WalletCreditDay } from './wallet-credit-day.ts';
import { WalletTransaction } from './wallet-transaction.ts';

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
  InvoiceCommand,
  InvoiceCount,
  InvoiceCountChange,
  InvoiceDocument,
  InvoiceLineItem,
  InvoiceNumberSequence,
  Meter,
  OngoingBalance,
  OpeningCharge,
  OutboxEvent,
  OutboxFeed,
  OutboxRelay,
  OutboxSequence,
  ParkedObject,
  Payment,
  PaymentAttempt,
  PaymentMethod,
  Plan,
  Price,
  PriceUnit,
  PriceSync,
  Refund,
  Setting,
  Subscription,
  SubscriptionChange,
  SubscriptionCommand,
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
];
