import type { TaxRateSnapshot } from '../../billing/invoice/own-terms.ts';
import { checkoutPoll, isCheckoutActive } from '../../billing/payment/checkout.ts';
import type {
  CheckoutLanguage,
  CheckoutOrder,
  CheckoutPageState,
  CheckoutPageView,
  CheckoutProblem,
  CheckoutSeller,
  CheckoutWay,
} from '../../integrations/checkout-page/view.ts';
import type { AttemptUnderWay } from '../../integrations/payment-gateway.ts';
import type { ProviderPageWay } from '../../integrations/provider-adapter.ts';
import type { InvoicePageSource } from '../../services/invoice/document/invoice-page.ts';
import type { CheckoutPage } from '../../services/payment/checkout/checkout-page.ts';
import { pageDiscounts } from '../invoice/document/invoice-page.ts';

/** Facts of a page beside those of its session. */
export interface CheckoutOccasion {
  language: CheckoutLanguage;
  /** Path of the page. */
  address: string;
  formToken: string;
  /** The attempt at the sandbox that is not decided. */
  underWay: AttemptUnderWay | null;
  /** The part of a provider that has no page of its own for it. */
  pageWay: ProviderPageWay | null;
  /** Problem of a form that was sent and began no attempt. */
  problem: CheckoutProblem | null;
  /** Whether the payer has just come back from the provider's page. */
  hasReturned: boolean;
  seller: CheckoutSeller;
}

/** A session's page as its renderer takes it. design: money-in §3, money-in-checkout §B13, §B14 */
export function checkoutView(page: CheckoutPage, occasion: CheckoutOccasion): CheckoutPageView {
  const { language, address, seller } = occasion;
  return {
    language,
    address,
    seller,
    isTest: page.paymentProvider === 'sandbox' || occasion.pageWay?.isTest === true,
    purpose: page.action,
    order: page.invoice && orderOf(page, page.invoice),
    timezone: page.timezone,
    state: stateOf(page, occasion),
  };
}

/** The seller as a page names it: the tenant with its billing details, and the look of its documents. */
export function checkoutSeller({ seller, config }: Pick<InvoicePageSource, 'seller' | 'config'>): CheckoutSeller {
  const details = (seller?.billingDetails ?? {}) as { email?: string | null };
  return { name: seller?.name ?? '', email: details.email ?? null, logo: config.logo, accent: config.accent_color };
}

/** State in which a session's page is. */
export function stateOf(
  page: CheckoutPage,
  occasion: Pick<CheckoutOccasion, 'formToken' | 'underWay' | 'pageWay' | 'problem' | 'hasReturned'>,
): CheckoutPageState {
  if (!isCheckoutActive(page.checkoutStatus)) return endOf(page, occasion.formToken);
  const { underWay, hasReturned } = occasion;
  const cause = page.paymentProvider !== 'sandbox' && hasReturned ? 'return' : 'payment';
  const isWaiting = page.isCompleting || underWay?.status === 'processing' || cause === 'return';
  if (isWaiting) {
    const { nextPollAfterMs } = checkoutPoll(page.checkoutStatus, page.openedAt, page.now);
    return { kind: 'waiting', cause, nextPollAfterMs };
  }
  const open = {
    formToken: occasion.formToken,
    customerName: page.customerName || null,
    expiresAt: page.expiresAt,
    canCancel: true,
  };
  if (underWay) return { kind: 'confirm', ...open, cardLastFour: underWay.cardLastFour };
  const way = wayOf(page, occasion.pageWay);
  const problem = occasion.problem ?? (page.isMethodDeclined ? 'unsaved' : page.declineClass);
  return { kind: 'pay', ...open, way, problem, savesMethod: page.savesMethod };
}

/** The way to pay on a page. One without its provider's part leads nowhere, and says so. */
function wayOf(page: CheckoutPage, pageWay: ProviderPageWay | null): CheckoutWay {
  const { paymentProvider: name, providerUrl, providerSessionId } = page;
  if (providerUrl === null && name === 'sandbox') return { kind: 'sandbox' };
  if (pageWay === null || providerSessionId === null) return { kind: 'provider', name, url: providerUrl ?? '' };
  if (pageWay.kind === 'card_form') return { kind: 'card_form', reference: providerSessionId, form: pageWay };
  return { kind: 'paddle', transactionId: providerSessionId, script: pageWay };
}

function endOf(page: CheckoutPage, formToken: string): CheckoutPageState {
  const { refund } = page;
  const returnUrl = returnTarget(page);
  if (page.checkoutStatus === 'completed') return { kind: 'done', returnUrl, refund };
  if (refund !== null) return { kind: 'refunded', returnUrl, refund };
  const againToken = page.payableInvoiceId === null ? null : formToken;
  return { kind: endKind(page), returnUrl, refund, againToken };
}

function endKind({ checkoutStatus, failureReason }: CheckoutPage): 'expired' | 'cancelled' | 'failed' {
  if (failureReason === 'cancelled') return 'cancelled';
  return checkoutStatus === 'expired' && failureReason === 'expired' ? 'expired' : 'failed';
}

/** Address at which the payer goes on, with what became of the session; null while nothing is decided, and where none was given. */
export function returnTarget(page: CheckoutPage): string | null {
  if (isCheckoutActive(page.checkoutStatus)) return null;
  const unpaid = page.failureReason === 'cancelled' ? (page.cancelUrl ?? page.failureUrl) : page.failureUrl;
  const target = page.checkoutStatus === 'completed' ? page.successUrl : unpaid;
  if (!target) return null;
  const url = new URL(target);
  url.searchParams.set('checkout_session_id', page.id);
  url.searchParams.set('status', page.checkoutStatus);
  return url.toString();
}

const intervals: Record<string, { count: number; unit: 'day' | 'week' | 'month' | 'year' }> = {
  DAILY: { count: 1, unit: 'day' },
  WEEKLY: { count: 1, unit: 'week' },
  MONTHLY: { count: 1, unit: 'month' },
  QUARTERLY: { count: 3, unit: 'month' },
  HALF_YEARLY: { count: 6, unit: 'month' },
  ANNUAL: { count: 1, unit: 'year' },
};

function renewalOf({ renewal }: CheckoutPage): CheckoutOrder['renewal'] {
  const interval = renewal && intervals[renewal.billingPeriod];
  return interval ? { count: interval.count * renewal.count, unit: interval.unit } : null;
}

function orderOf(page: CheckoutPage, { invoice }: InvoicePageSource): CheckoutOrder {
  const { row, lines, taxes } = invoice;
  const credits = row.totalPrepaidCreditsApplied;
  return {
    currency: row.currency,
    lines: lines.map((line) => ({
      name: line.displayName || line.planDisplayName || '',
      quantity: line.quantity,
      period: line.periodStart && line.periodEnd ? { start: line.periodStart, end: line.periodEnd } : null,
      amount: line.amount,
    })),
    subtotal: row.subtotal,
    deductions: [
      ...pageDiscounts(invoice, 'Discount').map(({ label, amount }) => ({ name: label, amount })),
      ...(credits === '0' ? [] : [{ name: null, amount: credits }]),
    ],
    taxes: taxes.map((tax) => {
      const rate = tax.taxRate as unknown as TaxRateSnapshot;
      return {
        name: rate.name,
        percentage: rate.percentageValue || null,
        amount: tax.taxAmount,
        isIncluded: tax.taxBehavior === 'inclusive',
      };
    }),
    total: row.total,
    settled: [],
    amountDue: page.amount,
    renewal: renewalOf(page),
  };
}
