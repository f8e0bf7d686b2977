/** What operations on invoices, credit notes, refunds, payments and wallets do, by operation id. */
export const billingOperations: Readonly<Record<string, string>> = {
  listInvoices: 'Invoices of all states, newest first; filters go into the query.',
  createInvoice:
    'For what no subscription bills: its lines are given. One of type `ONE_OFF` is final, numbered and collected at once; the sums that are sent have to fit the lines.',
  queryInvoice: 'Filters, sorting and paging in the body. For long lists leave the lines out with `skip_line_items`.',
  getCustomerInvoiceSummary: 'By currency: what was invoiced, what is unpaid and what is overdue.',
  getInvoice: 'The invoice with lines, discounts, taxes and what was paid of it.',
  updateInvoice:
    'Amounts of a final invoice never change; use the edit of its lines, which replaces it, or a credit note.',
  getInvoicePreview:
    'The invoice that the current period will bring, with usage so far; nothing is stored. A `preview_digest` in the answer tells whether anything changed since.',
  getInternalPreviewInvoice: 'Answers the same as `POST /v1/invoices/preview`.',
  finalizeInvoice:
    'Usage is read once more, the number is given, credits of wallets are applied, and collection begins. It cannot be undone, only voided.',
  voidInvoice:
    'What was paid goes to the wallet of the customer, as do credits it used. A payment that is under way has to end first.',
  attemptInvoicePayment:
    'Charges what is still to be paid with the saved payment method, without waiting for the next retry.',
  computeInvoice:
    'Reads usage and prices again for the period of the draft. A body gives the draft other lines, coupons, taxes and texts, and may say what it has to come to: otherwise it is refused and nothing is changed. Lists without members leave what there is. Refused once it is final, and after it was edited by hand.',
  recalculateInvoice:
    'For a final invoice whose usage was corrected: it is voided, and a draft of what it comes to now takes its place, which a person finalizes.',
  recalculateInvoiceV2: 'For drafts; with `finalize` the draft becomes final right after.',
  executeInvoiceModification:
    'Adds, changes or takes off lines. A final invoice is voided for it, and a draft with its content takes its place, which a person finalizes; `recalculated_invoice_id` leads to it.',
  previewInvoiceModification:
    'Shows the invoice as the edit would leave it, with a `preview_digest` that the execution can be held to.',
  updateInvoicePaymentStatus:
    'For money that came outside of Perennial. `SUCCEEDED` settles exactly what is due; a part is recorded with `PENDING`, more with `OVERPAID`. Refused once a payment record has succeeded.',
  triggerInvoiceCommsWebhook:
    'Sends the outbound event that asks your mail system to write to the customer. Refused for drafts.',
  triggerWebhook:
    'For a receiver that missed it: the event named in the body is sent again with the invoice as it is now.',
  triggerFinalizeDraftInvoiceWorkflow: 'Does the same as `finalize`, and answers with the workflow and run that do it.',

  listCreditNotes: 'Credit notes, newest first; filters go into the query.',
  getCreditNote: 'The note with its lines and its invoice.',
  processCreditNote:
    'The draft gets its number and its effect: what is due shrinks, or money goes back. `refund_target` says where to.',
  voidCreditNote:
    'A draft goes away, and of an adjustment the invoice is due again. A note that promised a refund cannot be voided.',
  listRefunds: 'Refunds, newest first; filters go into the query.',
  getRefund: 'The refund with where it goes and how far it is.',
  refundPayment:
    'Money goes back to the card or bank it came from; credits that the payment bought are taken from the wallet first, and have to be there.',
  retryRefund:
    'Asks the provider again under the same token, so that it cannot be paid back twice; or sends the money to the wallet instead.',

  createPayment:
    'Charges a saved method, opens a page to pay on, pays from a wallet, or records money that came elsewhere, as `payment_method_type` says. No more can be paid than is due.',
  listPayments: 'Payments, newest first; filters go into the query.',
  getPayment: 'A payment that is open at its provider is asked about there before it is answered.',
  updatePayment:
    'Particulars of a payment, and its state as far as that may be said by hand: `SUCCEEDED` and `FAILED` count like an answer of a provider, and the invoice follows.',
  deletePayment: 'Refused once money moved.',
  processPayment: 'Charges a payment that was made with `process_payment: false`. Asked twice it is charged once.',
  cancelPayment:
    'A page cannot be paid on any more, and the payment is voided. Refused while the provider has not said how it stands.',
  playPayer: 'Only for the sandbox gateway: tests play the part of the payer who confirms, or gives up.',
  createPaymentMethod:
    'Saves what the provider gave for a card, so that invoices can be charged to it. No card numbers are taken, except test cards of the sandbox.',
  listPaymentMethods: 'Brand and last four digits of each, and which one is charged.',
  listCustomerPaymentMethods:
    'A page of methods for each provider, the newest first. Detached ones are shown as `INACTIVE`, and can be charged no more.',
  createSetupIntentSession:
    'Answers the address of a page on which the customer saves a card; nothing is charged. Read `checkout_session_id` as a checkout session to see when that is done.',
  makeDefaultPaymentMethod: 'Invoices made from now on are charged to it, where their subscription names no other.',
  deletePaymentMethod:
    'Payments made with it stay. If it was the one that is charged, the newest of the others is from now on.',

  createCheckoutSession:
    'Drafts the subscription with its first invoice and answers the address of a payment page; both come into force when it is paid, and are gone when it ends unpaid. What costs nothing at once is refused: it needs no page.',
  listCheckoutSessions: 'Sessions, newest first; filters go into the query.',
  getCheckoutSession:
    'The session as the provider has it now, with how long to wait before asking again. `stale` says that the provider could not be asked.',
  deleteCheckoutSession: 'Cancels a session that can still be paid; archives one that has ended.',
  cancelCheckoutSession:
    'The page is closed and what was drafted for it is gone. Money that arrives later goes back. Refused once it is completed; done twice it changes nothing.',

  createWallet:
    'A customer has one wallet of a currency and type that is not closed. With `auto_topup` it fills itself.',
  listWallets: 'Wallets of all customers, newest first.',
  queryWallet: 'Filters, sorting and paging in the body.',
  getWallet: 'The wallet with its balance in credits and in money.',
  updateWallet:
    'Name, alerts, automatic top-up, what it may pay, and whether it is frozen. Nothing is taken from a frozen wallet.',
  topUpWallet:
    'Adds credits as `transaction_reason` says: given, bought and paid elsewhere, or bought with an invoice, in which case they come when it is paid. Repeats with the same `idempotency_key` add once.',
  manualBalanceDebit:
    'Takes credits, those that expire first before others. Repeats with the same `idempotency_key` take once.',
  listAutoTopupAttempts: 'Every charge by which the wallet filled itself or tried to, newest first, with how it ended.',
  retryAutoTopup:
    'Looks now whether to charge, passing over a pause between top-ups but over no limit; a silent gateway is asked again.',
  pauseAutoTopup:
    'Until a person resumes it the wallet is not charged, whatever cards or settings change; a charge under way goes on to its end.',
  resumeAutoTopup:
    'Ends a pause. With `give_up` it closes an attempt whose gateway never answers; money that comes later goes back.',
  terminateWallet:
    'Nothing can be added or taken afterwards. Purchases that wait for their payment are given up, or paid back when it comes.',
  modifyWallet:
    'The new wallet pays invoices that are settled later; the old one is closed with a movement that takes its credits over.',
  getWalletTransactions: 'Every movement with the balance before and after, newest first.',
  queryWalletTransaction: 'Filters, sorting and paging in the body.',
  getWalletBalance:
    'Balance, usage of the current periods that is not billed yet, unpaid invoices, and what is left after both.',
  getWalletBalanceForceCached: 'Answers the same as `balance/real-time`; nothing is cached.',
  getWalletsByCustomerId: 'A bare array, with `real_time_balance` when `include_real_time_balance` is true.',
  getCustomerWallets: 'A bare array. The customer is named by `id` or by `lookup_key`, your own id of them.',
};
