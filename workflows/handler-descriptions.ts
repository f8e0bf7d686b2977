/** Text beside each message in the Temporal UI, by its name. A message of several workflows means the same in all. */
const descriptions: Record<string, string> = {
  // Messages of everything that can be parked.
  retry:
    'For operators. Tries the step again at which this is parked; mend its cause first. Refused where nothing is parked.',
  waitingFor: 'What time will bring, at which step this is parked and why, and since when it is asked to be cancelled.',
  progress: 'How far this has come, and why it waits for retry when it does.',
  rowChanged: 'The row was changed elsewhere: it is read again before anything else is done. Harmless at any time.',
  settle: 'Sent by a test clock: do what is due up to `to`, and alone what falls due until `through`.',

  createSubscription: 'Sent by POST /v1/subscriptions, with which this workflow begins.',
  updateSubscription: 'Sent by PUT /v1/subscriptions/{id}: metadata and the like.',
  cancelSubscription: 'Sent by POST /v1/subscriptions/{id}/cancel: ends it now, at the end of its period or on a date.',
  activateDraft: 'Sent by POST /v1/subscriptions/{id}/activate: begins a draft.',
  pauseSubscription: 'Sent by POST /v1/subscriptions/{id}/pause.',
  resumeSubscription: 'Sent by POST /v1/subscriptions/{id}/resume.',
  cancelSchedule: 'Sent by the API: gives up a change that was scheduled.',
  invoiceThreshold: 'Sent by the usage watch: usage has reached the threshold at which it is invoiced.',
  attachAddon: 'Sent by the API: attaches an add-on.',
  detachAddon: 'Sent by the API: ends an add-on.',
  addLineItem: 'Sent by the API: adds a line item.',
  updateLineItem: 'Sent by the API: changes a line item.',
  endLineItem: 'Sent by the API: ends a line item.',
  changeQuantities: 'Sent by the API: changes how many of its items it has.',
  changeTrialEnd: 'Sent by the API: moves the end of the trial.',
  changeCoupon: 'Sent by the API: applies a coupon or takes it away.',
  changeTax: 'Sent by the API: applies a tax or takes it away.',
  changeAddon: 'Sent by the API: changes an add-on that is attached.',
  changeGrouping: 'Sent by the API: changes with which others it is invoiced.',
  changeInheritance: 'Sent by the API: changes who inherits it.',
  changePlan: 'Sent by the API: changes its plan.',
  replaceSubscription: 'Sent by the API: ends it for a successor.',

  createInvoice: 'Sent by POST /v1/invoices, with which this workflow begins.',
  computeInvoice: 'Sent by the API: computes the draft with the usage there is now.',
  editInvoice: 'Sent by the API: changes the draft by hand.',
  recalculateInvoice: 'Sent by the API: replaces the invoice by one that is computed anew.',
  recalculateDraft: 'Sent by the API: computes the draft anew.',
  notePayment: 'Sent by PUT /v1/invoices/{id}/payment: money was received elsewhere.',
  finalizeInvoice: 'Sent by POST /v1/invoices/{id}/finalize: gives it its number; nothing of it changes afterwards.',
  voidInvoice: 'Sent by POST /v1/invoices/{id}/void.',
  attemptPayment: 'Sent by POST /v1/invoices/{id}/payment/attempt: charges the saved card now.',
  paymentSettled: 'Sent by the workflow of a payment: its money has moved, or will not.',

  processPayment: 'Sent by POST /v1/payments/{id}/process, or with its creation: charges the card.',
  cancelPayment: 'Sent by POST /v1/payments/{id}/cancel: gives up a charge that waits for its payer.',
  refundedElsewhere:
    'The provider told of money that went back: refunds that somebody made there are recorded. Harmless at any time.',
  refreshPayment: 'For operators. Asks the gateway now what became of the charge, and answers how the payment stands.',
  gatewayNotified: 'The gateway has news of the charge: it is asked at once. Harmless at any time.',
  openCheckout: 'Sent by the API with a new session: opens the payment page at its provider.',
  cancelCheckout: 'Sent by POST /v1/checkout/sessions/{id}/cancel: closes the payment page, unless it was paid.',
  refreshCheckout: 'For operators. Asks the provider now how the payment page stands, and does what follows.',
  providerNotified: 'The provider has news of the payment page: it is asked at once. Harmless at any time.',
  checkoutProgress: 'How the session and its payment page stand, and whether the provider answered last.',
  balanceDropped: 'Sent by the usage watch: the balance has fallen to the threshold. Harmless at any time.',
  settingsChanged: 'Sent by the API: terms, limits or the wallet changed; the row is read again. Harmless at any time.',
  methodChanged: 'Sent by the API: the saved methods of the customer changed. Harmless at any time.',
  retryNow:
    'Sent by POST /v1/wallets/{id}/auto-topup/retry: looks at the wallet now; limits hold, pauses between top-ups do not.',
  resume: 'Sent by POST /v1/wallets/{id}/auto-topup/resume: ends a pause, or gives up a charge that nobody answers.',
  standing: 'Why the wallet is not charged, and until when as far as time ends that.',
  retryRefund: 'Sent by the API: sends a refund again that was refused.',

  advance: 'Sent by POST /v1/test-clocks/{id}/advance: moves the clock to `to`.',
  cancelPriceSync: 'Ends the run behind the step under way; what is synced stays synced.',
  begin: 'The file is to be imported, or an import that failed is to go on.',
  cancel: 'Sent by the API: stops the import behind the records that are being stored.',
  progressed: 'Sent by the running step every few seconds: how many records it has read.',
  notificationStored: 'A notification of the provider was stored and is to be passed on. Harmless at any time.',
  standingChanged:
    'The endpoint was changed, or an attempt failed: what is shown here is read again. Harmless at any time.',
  usageArrived: 'Usage of some customer has arrived and is to be looked at.',
};

/** Remedies for what is parked, on the page of its workflow. */
export const remedy = '**What to do:** mend the cause, then send the Update `retry` of this page.';

/** The description of a message, for `setHandler`. Throws for one that has none. */
export function described({ name }: { name: string }): { description: string } {
  const description = descriptions[name];
  if (description === undefined) throw new Error(`the message ${name} has no description for the Temporal UI`);
  return { description };
}
