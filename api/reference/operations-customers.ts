/** What operations on customers, subscriptions, events and the customer portal do, by operation id. */
export const customerOperations: Readonly<Record<string, string>> = {
  createCustomer:
    'Your own id goes into `external_id`: events name the customer by it. The actions of the setting `customer_onboarding` follow, such as a first wallet or subscription, unless `skip_onboarding_workflow` is true.',
  updateCustomerByQuery:
    'The same as `PUT /v1/customers/{id}`, for who knows only your own id. Name exactly one of the two.',
  listCustomers: 'Published customers, newest first.',
  updateCustomer: 'Members left out stay as they are. Final invoices keep name and address of their time.',
  deleteCustomer:
    'Refused while a subscription is live, a wallet is open, or a charge or refund is under way; the message names it. Invoices, payments and usage stay.',
  getCustomer: 'The customer with address, tax treatment and the one above, archived or not.',
  queryCustomer: 'Filters, sorting and paging in the body.',
  getCustomerByExternalId: 'The published customer with this id of yours.',
  getCustomerByLookupKey: 'Answers the same as `GET /v1/customers/external/{external_id}`.',
  getCustomerUsageSummary:
    'For each feature: what is included, how much of it was used in the current reset period, and when that begins anew. The customer is named by `customer_id` or `customer_lookup_key`.',
  getCustomerUsageSummaryById:
    'For each feature: what is included, how much of it was used in the current reset period, and when that begins anew.',
  getCustomerEntitlements:
    'What the customer may use of each feature, all subscriptions and add-ons taken together, with the sources.',
  getCustomerEntitlementsByExternalID: 'The same, for the customer with this id of yours.',
  getSubscriptionsForCustomer: 'All subscriptions of the customer, also those that have ended.',
  createPortalSession:
    'A credential of one hour with which a browser reads what belongs to this customer, by the operations under `/v1/customer/portal`. Give it to nobody else.',

  createSubscription:
    'Puts a customer on a plan: items from its prices, a first period, its trial or its first invoice, all in one transaction. A durable workflow renews it from then on. A start in the past bills the periods since.',
  listSubscriptions: 'Subscriptions that are not archived, newest first; filters go into the query.',
  querySubscription:
    'Filters, sorting and paging in the body; items and coupons come along unless `with_line_items` or `with_coupon_associations` is false.',
  getSubscription: 'The subscription with its items, phases, coupons, pauses and warnings.',
  getSubscriptionV2: 'Answers the same as `GET /v1/subscriptions/{id}`; `expand` chooses what is brought with it.',
  updateSubscription:
    'Changes metadata and a few terms of collection. Quantities, plans and trials are changed by operations of their own.',
  activateSubscription: 'A draft begins: its first period opens at `start_date` and the first invoice is made.',
  cancelSubscription:
    'Ends it now, at a date, or with its period. An immediate end bills usage only with `generate_invoice`, and gives money back only with `create_prorations`, into the wallet. Items, add-ons, coupons and grants end with it.',
  pauseSubscription:
    'Usage and arrears up to now are invoiced. While it is paused nothing is charged and usage is kept unbilled; periods keep rolling. With `dry_run` nothing is kept and the answer shows the outcome.',
  resumeSubscription:
    'Charges in advance for the rest of the period when `create_prorations` holds; usage is billed again from now on.',
  listSubscriptionPauses: 'Every pause with the period it began in and when it ended.',
  getSubscriptionUsage:
    'Prices the usage of the current period, or of a range, by the items in force, allowances taken off and commitments applied. Amounts are numbers here, or texts with the setting `decimal_format`.',
  getSubscriptionEntitlements: 'What the subscription gives of each feature, from its plan, add-ons and own overrides.',
  getSubscriptionTimeline:
    'Renewals, ends of trials, phases and cancellations that are to come, beside what came about, in one order.',
  rehearseSubscription:
    'Lets time pass for it inside a transaction that is undone: every step until the given instant, with the invoices as they would be made, assumed usage included.',
  addSubscriptionAddon:
    'Its items begin at `start_date`, now when absent; what they charge in advance for the rest of the period is invoiced at once with `create_prorations`.',
  removeSubscriptionAddon:
    'Its items end at the end of the period, or at `effective_date`; what was paid for the time after is given back with `create_prorations`.',
  getSubscriptionAddonAssociations: 'Attached add-ons, and those that were detached.',
  createSubscriptionLineItem:
    'Adds a price, one of the catalogue or one of its own, with a commitment if wanted. Charges in advance for the rest of the period are invoiced at once.',
  querySubscriptionLineItems: 'Items of all subscriptions; filters, sorting and paging in the body.',
  updateSubscriptionLineItem:
    'Metadata changes in place. Another price or commitment ends the item at `effective_from` and begins a new one with a new id, prorated.',
  deleteSubscriptionLineItem:
    'Ends it at `effective_from`, now when absent. A charge that is made once cannot be ended.',
  previewSubscriptionPlanChangeV2:
    'Shows credits, charges, items and the invoice of the change, with a `preview_digest` that the execution can be held to.',
  executeSubscriptionPlanChangeV2:
    'Items that cost the same are carried over, others are credited and charged for the rest of the period in one settlement. Periods and anchor stay. Refused while it is paused, has phases or another change waits.',
  previewSubscriptionChange:
    'Shows what the old subscription gives back and what the first invoice of the new one would be.',
  executeSubscriptionChange:
    'Ends the subscription and makes a new one on the other plan, whose first invoice is lowered by what the old one gives back. The published clients call this; in place is `change/v2`.',
  previewSubscriptionModify:
    'Shows items, invoices and credits of a modification, with a `preview_digest` that the execution can be held to.',
  executeSubscriptionModify:
    'Carries out one modification, named by `type`: quantities, trial end, coupon, tax, add-on, who inherits it, or what is invoiced with it. It is one transaction, and done once for each `Idempotency-Key`.',
  listSubscriptionSchedules:
    'Changes of plan and cancellations that wait for their instant, and those that were carried out.',
  listAllSubscriptionSchedules: 'Answers the same as `GET /v1/subscriptions/schedules`.',
  listAllSubscriptionSchedulesV1:
    'Answers the same as `GET /v1/subscriptions/schedules`; older clients call this path.',
  listSchedulesForSubscription: 'What is scheduled for this subscription, and what was.',
  listSchedulesForSubscriptionV1: 'What is scheduled for this subscription; older clients call this path.',
  getSubscriptionSchedule: 'The schedule with its request, and with its result once it was carried out.',
  getSubscriptionScheduleAlias: 'Answers the same as `GET /v1/subscriptions/schedules/{schedule_id}`.',
  getSubscriptionScheduleV1:
    'Answers the same as `GET /v1/subscriptions/schedules/{schedule_id}`; older clients call this path.',
  cancelSubscriptionScheduleByType:
    'Takes a pending schedule back. It is named by its id, or by the subscription and the kind of schedule.',
  cancelSubscriptionSchedule:
    'Takes a pending schedule back; the subscription goes on as it is. What has begun cannot be taken back.',
  cancelSubscriptionScheduleV1: 'Takes a pending schedule back; older clients call this path.',
  triggerSubscriptionWorkflow:
    'For operators: the workflow reads the row again and does what is due. It changes nothing that time would not change.',
  triggerSubscriptionDraftAndComputeWorkflow:
    'For operators: periods that have elapsed are closed, and open drafts computed again with the usage there is now.',
  scheduleUpdateBillingPeriod:
    'For operators: workflows wake by themselves; this wakes those that are late, for example after an outage.',
  scheduleUpdateBillingPeriodAlias: 'Does the same as the operation under `/v1/subscriptions/temporal`.',
  scheduleDraftFinalization:
    'For operators: drafts become final by themselves; this wakes those that are late, for example after an outage.',
  scheduleDraftFinalizationAlias: 'Does the same as the operation under `/v1/subscriptions/temporal`.',

  ingestEvent:
    'Acknowledged with 202 once it is stored: it counts in every usage answer at once. The same `event_id` again is kept and not counted. An unknown customer or event name is no error.',
  getEvents: 'Events as they came, newest first, paged by keys that hold while others arrive.',
  getUsageStatistics: 'Aggregates events of a name as a meter would, in windows if wanted, without needing a meter.',
  getUsageByMeter: 'The quantity of a meter in a range, for one customer or all, in windows if wanted.',
  listRawEvents: 'The same as `GET /v1/events`, with the filters in the body.',
  lookupEvent: 'For ids that do not fit into a path, such as those with a slash.',
  getEvent: 'The event with its copies, what it counted for, and where it stopped if it counted for nothing.',
  getMonitoringData:
    'Events by window, of the last 24 hours when no range is given. Nothing lags: what was acknowledged is counted.',
  getHuggingfaceInferenceData: 'Costs of events by their ids, rated by the prices of their customers.',
  getHuggingFaceBillingData: 'Answers the same as the operation on `huggingface-inference`.',
  voidEvent:
    'For events sent by mistake. Open usage shrinks at once; a final invoice stays and shows it as a late correction.',
  verifyUsage:
    'For operators: counts a sample again from the events and compares. Nothing is changed; a difference is a fault to be reported.',
  explainEvent:
    'Walks from the event to the invoice line, step by step, and stops at the first rule that turned it away.',
  listRejectedEvents: 'Only kept while the setting `event_rejection_config` is on.',
  bulkIngestRawEvent:
    'Objects of any shape are kept as they are and read by the setting `raw_event_config`; it says where name, customer and time stand.',
  reprocessRawEvents:
    'After the setting `raw_event_config` was changed: reads the kept objects again. Events that are there already are not counted twice.',
  reprocessUnprocessedRawEvents: 'Reads only those kept objects again of which no event could be made.',
  getUsageAnalytics:
    'Usage and cost of a customer by feature, source, property and window, with what commitments and coupons make of it.',
  queryUsage: 'The quantity of one meter for one customer in a range, in windows if wanted.',
  getAnalytics: 'The same for several meters at once.',
  getDetailedAnalytics:
    'Sum, maximum, newest and different values of meters for one customer, split by source, property and window.',

  portalGetCustomer: 'For the browser of a customer, with a session of `GET /v1/customers/portal/{external_id}`.',
  portalUpdateCustomer:
    'The customer changes what concerns invoices and mails; ids, tax treatment and metadata stay with you.',
  portalGetUsageSummary: 'For each feature: what is included and how much of it was used.',
  portalGetPortalConfig: 'What the portal shows and in what colours, for pages that show it.',
  portalGetSubscriptions: 'Newest first, by page.',
  portalGetSubscription: 'With its items; ids of others are not found.',
  portalGetInvoices: 'Newest first, by page.',
  portalGetInvoice: 'With its lines; ids of others, drafts and skipped ones are not found.',
  portalGetInvoicePDF: 'The address needs no credential, so that a browser can open it.',
  portalExplainInvoice: 'The address needs no credential, so that a browser can open it.',
  portalGetWallets: 'With what usage under way and unpaid invoices leave of each; closed ones included.',
  portalGetWallet: 'With what usage under way and unpaid invoices leave of it; ids of others are not found.',
  portalGetWalletTransactions: 'Newest first, by page: everything that came into the wallet and left it.',
  portalTopUpWallet:
    'Answers as the top-up of an administrator: with the payment page that brings the credits, or, with `customer_not_present`, after the charge of the saved method was opened. While a page is open for the wallet, that one is answered again. A body that asks for no page buys with an invoice that waits for its payer.',
  portalUpdateAutoTopup:
    'Terms that are left out stay as they are. Needs a saved method that can be charged without its payer.',
  portalPayInvoice:
    'The amount is what remains. Without `customer_not_present`, and where no method is saved, a payment page is opened; while one is open for the invoice, that one is answered again.',
  portalGetCheckoutSession: 'For the page that waits for a payment; sessions of others are not found.',
  portalCancelCheckoutSession: 'What was ordered is taken back; money that comes all the same is refunded.',
  portalGetPaymentMethods: 'Never with what a provider would charge them by.',
  portalCreatePaymentMethod: 'The payer is sent to the address; nothing is charged there.',
  portalMakeDefaultPaymentMethod: 'Automatic charges and top-ups use it from now on.',
  portalDeletePaymentMethod: 'The newest of the other methods becomes the default if it was.',
  portalGetIntegrations: 'Providers that open payment pages here.',
  portalGetAnalytics: 'By feature and window; what the customer was not charged for is not shown.',
};
