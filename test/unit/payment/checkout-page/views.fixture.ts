import type {
  CheckoutOrder,
  CheckoutPageState,
  CheckoutPageView,
} from '../../../../integrations/checkout-page/view.ts';
import { moyasarCardForm } from '../../../../integrations/moyasar/card-form.ts';
import { paddleScript } from '../../../../integrations/paddle/script.ts';

export const order: CheckoutOrder = {
  currency: 'eur',
  lines: [
    {
      name: 'Team plan',
      quantity: '5',
      period: { start: '2026-11-24T23:00:00Z', end: '2026-12-24T23:00:00Z' },
      amount: '245',
    },
    { name: 'Onboarding', quantity: '1', period: null, amount: '90' },
  ],
  subtotal: '335',
  deductions: [{ name: 'Welcome 10 %', amount: '33.5' }],
  taxes: [{ name: 'VAT', percentage: '19', amount: '57.29', isIncluded: false }],
  total: '358.79',
  settled: [],
  amountDue: '358.79',
  renewal: { count: 1, unit: 'month' },
};

const open = {
  formToken: 'form-token',
  customerName: 'Jane Doe',
  expiresAt: '2026-11-25T13:30:00.000Z',
  canCancel: true,
};
const sandbox = { kind: 'sandbox' } as const;
const back = 'https://shop.example/back?checkout_session_id=cs_1&status=completed';
const refund = { amount: '358.79', currency: 'eur' };
const pay = { kind: 'pay', ...open, way: sandbox, problem: null, savesMethod: true } as const;

/** A page in some state. */
export function pageView(state: CheckoutPageState, changed: Partial<CheckoutPageView> = {}): CheckoutPageView {
  return {
    language: 'en',
    address: '/checkout/aaaabbbbccccddddeeeeff',
    seller: { name: 'Acme Software GmbH', email: 'billing@acme.example', logo: '', accent: '#1f4e8c' },
    isTest: true,
    purpose: 'create_subscription',
    order,
    timezone: 'Europe/Berlin',
    state,
    ...changed,
  };
}

/** A page that is paid by Paddle's script, which lets in more than every other. */
export function paddleView(apiKey: string, changed: Partial<CheckoutPageView> = {}): CheckoutPageView {
  const script = paddleScript(apiKey, 'test_token"1', undefined)!;
  const way = { kind: 'paddle', transactionId: 'txn_1', script } as const;
  return pageView({ ...pay, way, savesMethod: false }, { purpose: 'pay_invoice', ...changed });
}

const setup = { purpose: 'save_method', order: null } as const;

/** A page whose card goes to Moyasar, which lets in more than every other. */
export function cardFormView(changed: Partial<CheckoutPageView> = {}): CheckoutPageView {
  const way = { kind: 'card_form', reference: 'pn_1', form: moyasarCardForm('pk_test_1')! } as const;
  return pageView({ ...pay, way }, { ...setup, ...changed });
}

/** Every state of the page by its name. */
export const views: Record<string, CheckoutPageView> = {
  pay: pageView(pay),
  'pay, declined': pageView({ ...pay, problem: 'retry' }),
  'pay, card unusable': pageView({ ...pay, problem: 'never' }),
  'pay, not confirmed': pageView({ ...pay, problem: 'authenticate' }),
  'pay, no test card': pageView({ ...pay, problem: 'card_number' }),
  'pay, unreachable': pageView({ ...pay, problem: 'unreachable' }),
  'pay at a provider': pageView(
    {
      ...pay,
      canCancel: false,
      way: { kind: 'provider', name: 'Stripe', url: 'https://checkout.stripe.com/c/pay/cs_1' },
    },
    { isTest: false },
  ),
  'pay an invoice': pageView(
    { ...pay, savesMethod: false, canCancel: false },
    {
      purpose: 'pay_invoice',
      order: {
        ...order,
        lines: Array.from({ length: 9 }, (_, index) => ({
          ...{ name: `API calls, region ${index + 1}`, quantity: '1200345', period: null, amount: '12345678.9' },
        })),
        deductions: [{ name: null, amount: '20' }],
        taxes: [{ name: 'VAT', percentage: '5.5', amount: '5792.1', isIncluded: true }],
        settled: [
          { kind: 'paid', amount: '100' },
          { kind: 'credit_note', amount: '50.25' },
        ],
        amountDue: '111110960.1',
        renewal: null,
      },
    },
  ),
  'save a card': pageView(pay, setup),
  'save a card, refused': pageView({ ...pay, problem: 'unsaved' }, setup),
  confirm: pageView({ kind: 'confirm', ...open, cardLastFour: '0009' }),
  'confirm a card': pageView({ kind: 'confirm', ...open, cardLastFour: null }, setup),
  waiting: pageView({ kind: 'waiting', cause: 'payment', nextPollAfterMs: 2000 }),
  'waiting after return': pageView({ kind: 'waiting', cause: 'return', nextPollAfterMs: 10_000 }),
  done: pageView({ kind: 'done', returnUrl: back, refund: null }),
  'done, paid twice': pageView({ kind: 'done', returnUrl: null, refund: { ...refund, status: 'sent' } }),
  'card saved': pageView({ kind: 'done', returnUrl: back, refund: null }, setup),
  expired: pageView({ kind: 'expired', returnUrl: back, refund: null }),
  cancelled: pageView({ kind: 'cancelled', returnUrl: back, refund: null }),
  failed: pageView({ kind: 'failed', returnUrl: back, refund: null }),
  'refund on its way': pageView({ kind: 'refunded', returnUrl: back, refund: { ...refund, status: 'on_its_way' } }),
  refunded: pageView({ kind: 'refunded', returnUrl: null, refund: { ...refund, status: 'sent' } }),
  'refund stuck': pageView({ kind: 'refunded', returnUrl: null, refund: { ...refund, status: 'stuck' } }),
};
