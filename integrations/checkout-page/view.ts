import type { ProviderCardForm, ProviderScript } from '../provider-adapter.ts';

/** Languages of the page, the first where a browser asks for none of them. */
export const checkoutLanguages = ['en', 'de', 'ar'] as const;
export type CheckoutLanguage = (typeof checkoutLanguages)[number];

/** Purpose of a session: one of its actions, or in setup mode to save a method. spec: wallets-and-payments §1.4 */
export type CheckoutPurpose =
  | 'create_subscription'
  | 'add_addon'
  | 'modify_subscription'
  | 'wallet_topup'
  | 'pay_invoice'
  | 'save_method';

/**
 * The hosted checkout page as its service gives it: facts only. Words, numbers and dates are written by the renderer in `language`;
 * amounts are plain decimals in the currency of the order. Every text may hold anything. Nothing here is a provider's text.
 *
 * States after the end have no place for the payer's name, card or a form token, so that the page can be read for a day after it.
 * spec: wallets-and-payments §2.17; design: money-in-checkout §B13, §B14
 */
export interface CheckoutPageView {
  /** By `?lang=`, else by the browser's `Accept-Language`. */
  language: CheckoutLanguage;
  /** Path of the page, `/checkout/<token>`: forms post to `<address>/pay`, `/confirm`, `/cancel`, `/again`, `/kept`; the script reads `/progress`. */
  address: string;
  seller: CheckoutSeller;
  /** No money moves: the sandbox gateway, or a provider's test keys. */
  isTest: boolean;
  purpose: CheckoutPurpose;
  /** Null when a method is saved and nothing is bought. */
  order: CheckoutOrder | null;
  /** IANA zone of the customer, in which times are shown. */
  timezone: string;
  state: CheckoutPageState;
}

export interface CheckoutSeller {
  name: string;
  /** Address for questions; null shows none. */
  email: string | null;
  /** A data URL of a PNG or JPEG; anything else shows the name instead. */
  logo: string;
  /** `#rrggbb`; anything else is a neutral colour. */
  accent: string;
}

/** Amounts of the frozen invoice. They are not added up here: each is shown as it is given. */
export interface CheckoutOrder {
  /** ISO 4217 code in any case. */
  currency: string;
  lines: readonly CheckoutLine[];
  subtotal: string;
  /** Taken off before tax, as positive amounts; `name` is that of a coupon, null for prepaid credits. */
  deductions: readonly { name: string | null; amount: string }[];
  taxes: readonly CheckoutTax[];
  /** Total of the invoice. */
  total: string;
  /** Taken off what is due after the total, as positive amounts. */
  settled: readonly { kind: 'paid' | 'credit_note'; amount: string }[];
  /** Amount of this payment. */
  amountDue: string;
  /** Interval at which it is billed anew; null for what is bought once. */
  renewal: { count: number; unit: 'day' | 'week' | 'month' | 'year' } | null;
}

export interface CheckoutLine {
  name: string;
  /** Plain decimal; null or `1` shows none. */
  quantity: string | null;
  /** Service period, the end excluded, as UTC instants. */
  period: { start: string; end: string } | null;
  amount: string;
}

export interface CheckoutTax {
  name: string;
  /** Percent as a plain decimal; null for a fixed tax. */
  percentage: string | null;
  amount: string;
  /** Contained in the prices, so that it is not added. */
  isIncluded: boolean;
}

/** Parts of every state in which something can still be done. */
interface OpenState {
  /** Goes into each form, and is checked by each POST. */
  formToken: string;
  /** Name of the customer who pays; null shows none. */
  customerName: string | null;
  /** UTC instant of the session's end. */
  expiresAt: string;
  /** Whether the payer may end the session: false for a link to an invoice, which stays payable. */
  canCancel: boolean;
}

/**
 * Result of the last attempt: a provider's decline class, a card that was not saved because its bank refused it, a number that is no test card,
 * or a provider that gave no answer.
 */
export type CheckoutProblem = 'retry' | 'never' | 'authenticate' | 'unsaved' | 'card_number' | 'unreachable';

/**
 * The sandbox's own card form, the page of a real provider as an absolute https address, this page with the script of Paddle, which has
 * no page of its own, or a form of this page whose card goes to its provider alone, which is told our `reference` with it.
 * design: money-in-checkout §C paddle, moyasar
 */
export type CheckoutWay =
  | { kind: 'sandbox' }
  | { kind: 'provider'; name: string; url: string }
  | { kind: 'paddle'; transactionId: string; script: ProviderScript }
  | { kind: 'card_form'; reference: string; form: ProviderCardForm };

export interface PayState extends OpenState {
  kind: 'pay';
  way: CheckoutWay;
  problem: CheckoutProblem | null;
  /** The method is kept for later payments without the payer, who is told so before the button. */
  savesMethod: boolean;
}

/** 3-D Secure as the sandbox plays it. */
export interface ConfirmState extends OpenState {
  kind: 'confirm';
  cardLastFour: string | null;
}

export interface WaitingState {
  kind: 'waiting';
  /** After a payment, or after a return from the provider's page. */
  cause: 'payment' | 'return';
  /** When to ask again, as the session's own answer says. spec: wallets-and-payments §2.17 Read and poll */
  nextPollAfterMs: number;
}

export interface CheckoutRefund {
  amount: string;
  currency: string;
  status: 'on_its_way' | 'sent' | 'stuck';
}

/** An end. `returnUrl` is the seller's own address with the session's id and true status, or null for none. */
export interface EndState {
  /** `failed` ended at the provider or because another change made it impossible; `refunded` had money come that goes back. */
  kind: 'done' | 'expired' | 'cancelled' | 'failed';
  returnUrl: string | null;
  /** Money that came twice and goes back. */
  refund: CheckoutRefund | null;
  /** Token of the form that opens a new page for the same invoice; absent where nothing can be paid any more. */
  againToken?: string | null;
}

/** Money came after the end, or other money than was asked, and goes back in full. */
export interface RefundedState {
  kind: 'refunded';
  returnUrl: string | null;
  refund: CheckoutRefund;
}

export type CheckoutPageState = PayState | ConfirmState | WaitingState | EndState | RefundedState;

/** Answer of `<address>/progress`, which the script reads while it waits. */
export interface CheckoutProgress {
  /** `kind` of the state; another one than `waiting` loads the page anew. */
  state: CheckoutPageState['kind'];
  next_poll_after_ms: number;
}

/** Fields of the forms, as `application/x-www-form-urlencoded`. */
export interface CheckoutForms {
  /** `test_card`, the button of a listed card, wins over what is typed. */
  pay: { form_token: string; card_number: string; test_card?: string };
  confirm: { form_token: string; answer: 'confirm' | 'fail' };
  cancel: { form_token: string };
  again: { form_token: string };
  /** Sent by the script of a `card_form`: the token that stands for the card which the provider keeps. */
  kept: { form_token: string; method_token: string };
}
