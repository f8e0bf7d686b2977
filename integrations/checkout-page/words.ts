import type { CheckoutLanguage } from './view.ts';
import { ar } from './words-ar.ts';
import { de } from './words-de.ts';

// Words in braces are places for values; the others are the page's whole text.
const en = {
  languageName: 'English',
  direction: 'ltr',
  language: 'Language',
  test: 'Test mode: no money moves.',
  questions: 'Questions?',
  order: 'Order',
  heading: {
    create_subscription: 'Start your subscription',
    add_addon: 'Add to your subscription',
    modify_subscription: 'Change your subscription',
    wallet_topup: 'Add credits',
    pay_invoice: 'Pay your invoice',
    save_method: 'Save a card',
  },
  seller: 'to {seller}',
  customer: 'For {customer}',
  subtotal: 'Subtotal',
  credits: 'Prepaid credits',
  included: '{tax} (included)',
  total: 'Total',
  settled: { paid: 'Already paid', credit_note: 'Credit note' },
  due: 'Due now',
  paid: 'Paid',
  allLines: 'All items ({count})',
  renewal: {
    day: 'Renews every day',
    week: 'Renews every week',
    month: 'Renews every month',
    year: 'Renews every year',
    every: 'Renews every {duration}',
  },
  pay: {
    title: 'Pay by card',
    setupTitle: 'Your card',
    card: 'Card number',
    hint: 'Only test cards are accepted here.',
    button: 'Pay {amount}',
    setupButton: 'Save card',
    consent: 'You allow {seller} to charge this card for later invoices as well.',
    setupConsent: 'Nothing is charged now. You allow {seller} to charge this card for later invoices.',
    provider: 'You pay on the page of {provider} and come back here.',
    setupProvider: 'You enter your card on the page of {provider} and come back here.',
    toProvider: 'Continue to {provider}',
    overlay: 'You pay with {provider}, in a window over this page.',
    needsScript: 'To pay with {provider}, switch on JavaScript for this page.',
    testCards: 'Test cards: choose one to pay with it',
    setupTestCards: 'Test cards: choose one to save it',
  },
  testCard: {
    succeeds: 'Succeeds',
    requires_action: '3-D Secure',
    declines: 'Declined',
    answers_late: 'Answers late',
    loses_answer: 'Answer lost',
  },
  problem: {
    retry: 'Your bank declined the payment. Nothing was charged. Please try again or use another card.',
    never: 'This card cannot be used for this payment. Nothing was charged. Please use another card.',
    authenticate: 'The payment was not confirmed. Nothing was charged. Please try again or use another card.',
    card_number: 'This is not the number of a test card. Please check it, or choose a card from the list.',
    unreachable: 'The payment service could not be reached. Nothing was charged. Please try again in a moment.',
  },
  expires: 'This page can be used until {instant}.',
  cancel: 'Cancel',
  confirm: {
    title: 'Confirm the payment',
    text: 'Your bank asks whether you want to pay {amount} to {seller}.',
    setupTitle: 'Confirm your card',
    setupText: 'Your bank asks whether {seller} may save this card.',
    card: 'Card ending in {digits}',
    test: 'In test mode this page takes the place of your bank.',
    yes: 'Confirm',
    no: 'Refuse',
  },
  waiting: {
    payment: 'Your payment is being processed',
    return: 'Waiting for the confirmation',
    setup: 'Your card is being saved',
    text: 'This usually takes a few seconds. You may leave this page: nothing is lost, and nothing is charged twice.',
    again: 'Check again',
  },
  done: {
    title: 'Payment received',
    create_subscription: 'Thank you. Your subscription has started.',
    add_addon: 'Thank you. The addition to your subscription is active.',
    modify_subscription: 'Thank you. Your subscription has been changed.',
    wallet_topup: 'Thank you. The credits are in your account.',
    pay_invoice: 'Thank you. Your invoice is paid.',
    setupTitle: 'Card saved',
    save_method: 'Your card is saved for later payments. Nothing was charged.',
  },
  expired: {
    title: 'This page has expired',
    text: 'Nothing was charged. Should a payment still arrive, it is sent back in full.',
  },
  cancelled: {
    title: 'Cancelled',
    text: 'Nothing was charged. Should a payment still arrive, it is sent back in full.',
  },
  failed: {
    title: 'The payment was not completed',
    text: 'Nothing was charged. Please go back to {seller} and try again.',
  },
  refund: {
    title: 'Your money goes back to you',
    text: 'Your payment could not be used for this order.',
    twice: 'You paid twice.',
    on_its_way: '{amount} is being sent back to you in full.',
    sent: '{amount} was sent back to you. It may take some days until you see it on your statement.',
    stuck: '{amount} could not be sent back automatically. {seller} takes care of it.',
  },
  payAgain: 'Pay now',
  back: 'Back to {seller}',
  busy: 'One moment…',
  offline: 'No connection. Trying again…',
  unknown: {
    title: 'This page does not exist',
    text: 'The address is incomplete, or what it was for ended more than a day ago. Please ask for a new link.',
  },
  unavailable: {
    title: 'Please try again in a moment',
    text: 'This page cannot be shown just now. Load it again to see how your payment stands: nothing is charged twice.',
  },
};

/** Texts of the page in one language. */
export type CheckoutWords = typeof en;

/** All texts of the page. */
export const checkoutWords: Record<CheckoutLanguage, CheckoutWords> = { en, de, ar };
