import { decimal, decimalString } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import {
  checkCreditsOfLines,
  checkLinePeriods,
  checkSubtotal,
  type NewInvoiceLine,
  plainLine,
} from './invoice-line-request.ts';

/** A coupon that an invoice is given: its value in place of the coupon's own where one is named. */
export interface NewInvoiceCoupon {
  couponId: string;
  couponAssociationId: string | null;
  amountOff: string | null;
  percentageOff: string | null;
  /** The price id of a line, or its metadata key `line_item_id`; null for the whole invoice. */
  line: string | null;
  /** Subscription item that the line has to charge, among those that `line` names; null where any will do. */
  subscriptionLineItemId: string | null;
  field: string;
}

/** A tax rate that an invoice is given, by id or by code. */
export interface NewInvoiceTax {
  rateId: string | null;
  code: string | null;
  /** Null: the rate's own. */
  percentage: string | null;
  taxBehavior: 'inclusive' | 'exclusive' | null;
  priority: number;
  currency: string | null;
  field: string;
}

/** POST /invoices as its shape was checked. spec: subscriptions-and-invoicing §1.11.1 */
export interface NewInvoice {
  customerId: string;
  subscriptionId: string | null;
  currency: string;
  subtotal: string;
  total: string;
  amountDue: string;
  amountPaid: string;
  lines: NewInvoiceLine[];
  invoiceType: 'SUBSCRIPTION' | 'ONE_OFF' | 'CREDIT' | null;
  billingReason: string;
  billingPeriod: string | null;
  periodStart: string | null;
  periodEnd: string | null;
  issueDate: string | null;
  dueDate: string | null;
  idempotencyKey: string | null;
  invoiceNumber: string | null;
  staysDraft: boolean;
  paymentStatus: string | null;
  collectionMethod: 'charge_automatically' | 'send_invoice' | null;
  coupons: NewInvoiceCoupon[];
  taxes: NewInvoiceTax[];
  totalPrepaidApplied: string;
  invoicePdfUrl: string | null;
  description: string;
  metadata: Record<string, string>;
}

/** What a request comes to before anything of the database is looked at. */
export interface CheckedInvoice {
  invoiceType: 'SUBSCRIPTION' | 'ONE_OFF' | 'CREDIT';
  lines: NewInvoiceLine[];
  /** Finalized by the creation itself. */
  isFinalizedAtOnce: boolean;
}

/** Reasons that only a subscription's own boundaries have. */
const subscriptionReasons = new Set([
  'SUBSCRIPTION_CREATE',
  'SUBSCRIPTION_CYCLE',
  'SUBSCRIPTION_UPDATE',
  'SUBSCRIPTION_TRIAL_START',
  'SUBSCRIPTION_TRIAL_END',
  'PRORATION',
  'AUTO_INVOICE_THRESHOLD',
]);

/** What a person may say of the payment of an invoice that is made. */
const initialPaymentStatuses = ['INITIATED', 'PENDING', 'SUCCEEDED', 'FAILED'];

/**
 * The type, the lines and the end of a creation. An invoice without lines gets one of its subtotal; a type that is not named
 * is SUBSCRIPTION for a reason of a subscription, else ONE_OFF. It is issued at `at`, the customer's present, unless it says
 * otherwise. Throws `validation_error` naming the first field that does not fit the others. spec: subscriptions-and-invoicing §1.11.1, error 36
 */
export function checkNewInvoice(input: NewInvoice, at: string): CheckedInvoice {
  const ofSubscription = input.subscriptionId !== null && subscriptionReasons.has(input.billingReason);
  const invoiceType = input.invoiceType ?? (ofSubscription ? 'SUBSCRIPTION' : 'ONE_OFF');
  checkAmounts(input);
  checkTimes(input, at);
  if (invoiceType === 'SUBSCRIPTION') checkSubscriptionParts(input);
  if (input.paymentStatus !== null && !initialPaymentStatuses.includes(input.paymentStatus)) {
    throw bad('payment_status', `must be one of ${initialPaymentStatuses.join(', ')} for a new invoice`);
  }
  const lines = input.lines.length > 0 ? input.lines : [onlyLine(input)];
  return { invoiceType, lines, isFinalizedAtOnce: invoiceType !== 'SUBSCRIPTION' && !input.staysDraft };
}

function checkAmounts(input: NewInvoice): void {
  if (input.lines.length > 0) checkSubtotal(input.subtotal, input.lines, input.currency);
  const mayBeNegative = input.lines.some((line) => decimal(line.amount).isNegative());
  for (const [field, value] of [
    ['subtotal', input.subtotal],
    ['total', input.total],
    ['amount_due', input.amountDue],
  ] as const) {
    if (decimal(value).isNegative() && !mayBeNegative) throw bad(field, 'must not be negative without a negative line');
  }
  if (decimal(input.amountPaid).greaterThan(decimal(input.amountDue))) {
    throw bad('amount_paid', `must not be more than amount_due, ${input.amountDue}`);
  }
  checkCreditsOfLines(input.totalPrepaidApplied, input.lines);
}

function checkTimes(input: NewInvoice, at: string): void {
  const { periodStart, periodEnd, dueDate } = input;
  const issueDate = input.issueDate ?? at;
  if ((periodStart === null) !== (periodEnd === null)) {
    throw bad(periodStart === null ? 'period_start' : 'period_end', 'must be given when the other bound is');
  }
  if (periodStart !== null && periodEnd !== null && periodEnd <= periodStart) {
    throw bad('period_end', `must be after period_start, ${periodStart}`);
  }
  if (dueDate !== null && dueDate < issueDate) {
    throw bad(
      'due_date',
      `must not be before issue_date, ${issueDate}${input.issueDate === null ? ', the present' : ''}`,
    );
  }
  checkLinePeriods(input.lines);
}

function checkSubscriptionParts(input: NewInvoice): void {
  const needed = [
    ['subscription_id', input.subscriptionId],
    ['billing_period', input.billingPeriod],
    ['period_start', input.periodStart],
  ] as const;
  for (const [field, value] of needed) {
    if (value === null) throw bad(field, 'is required with invoice_type SUBSCRIPTION');
  }
}

function onlyLine({ description, subtotal, periodStart, periodEnd }: NewInvoice): NewInvoiceLine {
  return { ...plainLine(description || 'Invoice', subtotal), periodStart, periodEnd };
}

/**
 * What was paid of a new invoice whose due amount is known now. Nothing due is paid; SUCCEEDED is all of it. Throws
 * `validation_error` for more than is due and for a part of it with a status that says otherwise. spec: §1.11.1 amount_paid
 */
export function initialPayment(
  request: Pick<NewInvoice, 'amountPaid' | 'paymentStatus'>,
  amountDue: string,
): { amountPaid: string; paymentStatus: string } {
  const due = decimal(amountDue);
  const paid = decimal(request.amountPaid);
  if (paid.greaterThan(due)) throw bad('amount_paid', `must not be more than the ${decimalString(due)} that are due`);
  if (request.paymentStatus === 'SUCCEEDED' && (paid.isZero() || paid.equals(due))) {
    return { amountPaid: decimalString(due), paymentStatus: 'SUCCEEDED' };
  }
  if (request.paymentStatus === 'SUCCEEDED') {
    throw bad('payment_status', `must not be SUCCEEDED with ${decimalString(paid)} of ${decimalString(due)} paid`);
  }
  if (paid.equals(due)) return { amountPaid: decimalString(paid), paymentStatus: 'SUCCEEDED' };
  if (request.paymentStatus === 'FAILED' && paid.greaterThan(0)) {
    throw bad('payment_status', 'must not be FAILED when something is paid');
  }
  return { amountPaid: decimalString(paid), paymentStatus: request.paymentStatus ?? 'PENDING' };
}

function bad(field: string, problem: string): Error {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}
