import type { LifecycleDescriptor } from './descriptor.ts';

/** Traits of most kinds. */
const usual = {
  changedColumn: 'updated_at',
  statusColumn: null,
  asksGateways: false,
  sharesSteps: false,
  actsLast: false,
  sleeps: false,
} as const;

/** The kinds of object that have a lifecycle workflow, by the name the agenda knows them by: all of them, and the one list of them. */
export const lifecycleKinds = {
  subscription: {
    ...usual,
    noun: 'Subscription',
    area: 'subscription',
    entity: 'subscription',
    workflow: 'workflows/subscription/subscription.ts',
    workflowType: 'subscription',
    workflowId: (id: string) => `subscription/${id}`,
    activities: 'activities/subscription/subscription.ts',
    createActivities: 'createSubscriptionActivities',
    load: 'loadSubscription',
    // Money already decided before new periods, a trial's end before a boundary, what is not paid has its consequences after everything
    // that may pay it, a notice last.
    agenda: [
      'activateSubscription',
      'attendSuccessor',
      'applyPlanChange',
      'replacePlan',
      'startPhase',
      'endPhase',
      'endTrial',
      'closePeriod',
      'applyGrant',
      'finalizeInvoice',
      'chargePayment',
      'attendInvoice',
      'enforcePayment',
      'noticeRenewal',
    ],
    statusColumn: 'subscription_status',
    sharesSteps: true,
  },
  invoice: {
    ...usual,
    noun: 'Invoice',
    area: 'invoice',
    entity: 'invoice',
    workflow: 'workflows/invoice/invoice.ts',
    workflowType: 'invoice',
    workflowId: (id: string) => `invoice/${id}`,
    activities: 'activities/invoice/invoice.ts',
    createActivities: 'createInvoiceActivities',
    load: 'refreshInvoice',
    agenda: ['chargePayment', 'openPage', 'retryPayment', 'noteOverdue'],
    sharesSteps: true,
  },
  payment: {
    ...usual,
    noun: 'Payment',
    area: 'payment',
    entity: 'payment',
    workflow: 'workflows/payment/payment.ts',
    workflowType: 'payment',
    workflowId: (id: string) => `payment/${id}`,
    activities: 'activities/payment/payment.ts',
    createActivities: 'createPaymentActivities',
    load: 'loadPayment',
    agenda: ['pollGateway', 'reportUnanswered'],
    asksGateways: true,
    sharesSteps: true,
  },
  refund: {
    ...usual,
    noun: 'Refund',
    area: 'payment',
    entity: 'refund',
    workflow: 'workflows/payment/refund.ts',
    workflowType: 'refund',
    workflowId: (id: string) => `refund/${id}`,
    activities: 'activities/payment/refund.ts',
    createActivities: 'createRefundActivities',
    load: 'loadRefund',
    agenda: ['sendRefund', 'pollGateway', 'retryRefund', 'reportUnanswered'],
    asksGateways: true,
  },
  wallet: {
    ...usual,
    noun: 'Wallet',
    area: 'wallet',
    entity: 'wallet',
    workflow: 'workflows/wallet/wallet.ts',
    workflowType: 'wallet',
    workflowId: (id: string) => `wallet/${id}`,
    activities: 'activities/wallet/wallet.ts',
    createActivities: 'createWalletActivities',
    load: 'loadWallet',
    agenda: ['expireLot'],
    changedColumn: null,
    // An invoice that is finalized at the instant at which credits leave still uses them.
    actsLast: true,
    sleeps: true,
  },
  checkout_session: {
    ...usual,
    noun: 'Checkout session',
    area: 'payment',
    entity: 'checkout_session',
    workflow: 'workflows/payment/checkout-session.ts',
    workflowType: 'checkoutSession',
    workflowId: (id: string) => `checkout-session/${id}`,
    activities: 'activities/payment/checkout.ts',
    createActivities: 'createCheckoutActivities',
    load: 'loadCheckout',
    agenda: [
      'openLink',
      'retryCompletion',
      'abandonCompletion',
      'pollProvider',
      'expireSession',
      'deactivateLink',
      'lastLook',
    ],
    asksGateways: true,
  },
  auto_top_up: {
    ...usual,
    noun: 'Automatic top-up of wallet',
    area: 'wallet',
    entity: 'wallet_auto_topup',
    workflow: 'workflows/wallet/auto-top-up.ts',
    workflowType: 'autoTopUp',
    workflowId: (id: string) => `auto-top-up/${id}`,
    activities: 'activities/wallet/auto-top-up.ts',
    createActivities: 'createAutoTopUpActivities',
    load: 'loadAutoTopUp',
    agenda: ['chargePayment', 'lapse', 'endWindow', 'endMonth', 'evaluate'],
  },
} as const satisfies Record<string, LifecycleDescriptor>;

export type LifecycleKind = keyof typeof lifecycleKinds;

/** Kinds in the order in which people are told of them. */
export const lifecycleKindNames = Object.keys(lifecycleKinds) as [LifecycleKind, ...LifecycleKind[]];

/** Kinds with a trait, such as those that act last. */
export function kindsThat(trait: 'sharesSteps' | 'actsLast' | 'sleeps' | 'asksGateways'): LifecycleKind[] {
  return lifecycleKindNames.filter((kind) => lifecycleKinds[kind][trait]);
}

/** True of an object type that has a lifecycle. */
export function isLifecycleKind(objectType: string): objectType is LifecycleKind {
  return Object.hasOwn(lifecycleKinds, objectType);
}
