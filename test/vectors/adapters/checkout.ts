import { amountToCollect, gatedInvoiceAfter, refuseGated } from '../../../billing/invoice/gated-invoice.ts';
import { assertEditable } from '../../../billing/invoice/invoice-edit.ts';
import { paymentByHand } from '../../../billing/invoice/invoice-payment.ts';
import { planVoid } from '../../../billing/invoice/invoice-void.ts';
import { decimal, decimalString, sum } from '../../../billing/money/money.ts';
import {
  type CheckoutMove,
  type CheckoutStatus,
  type CheckoutTrigger,
  checkoutExpiry,
  checkoutMove,
  checkoutPoll,
  isCheckoutActive,
} from '../../../billing/payment/checkout.ts';
import { assertPaymentMove, type PaymentStatus } from '../../../billing/payment/payment.ts';
import { rollUpRefunds } from '../../../billing/payment/refund.ts';
import { chooseSavedMethod, mandateLimit } from '../../../billing/payment/saved-method.ts';
import { refusalIn, refuse, statusOfCode } from '../../../billing/refusal.ts';
import { planTopup } from '../../../billing/wallet/topup.ts';
import { planCredit } from '../../../billing/wallet/wallet-ledger.ts';
import { mandateCeilings } from '../../../services/payment/mandate-ceiling.ts';
import { settingDefaults } from '../../../services/platform/setting-defaults.ts';
import { type Adapters, type Given, instant, text } from '../adapter.ts';

/** Answer of a call, or the status and code of its refusal. */
function answered<Result extends object>(httpStatus: number, call: () => Result): Given {
  try {
    return { http_status: httpStatus, ...call() };
  } catch (thrown) {
    const refusal = refusalIn(thrown);
    if (!refusal) throw thrown;
    return { http_status: statusOfCode[refusal.code], code: refusal.code };
  }
}

function expiry({ payment_provider: provider, created_at: createdAt, provider_expires_at: providers }: Given): unknown {
  return { expires_at: checkoutExpiry(provider, instant(createdAt), providers ? instant(providers) : null) };
}

function poll({ checkout_status: status, created_at: createdAt, now }: Given): unknown {
  const { terminal, nextPollAfterMs } = checkoutPoll(status, instant(createdAt), instant(now));
  return { terminal, next_poll_after_ms: nextPollAfterMs };
}

function cancel({ statuses }: Given): unknown {
  const results = statuses.map((from: CheckoutStatus) => {
    const { to, eventName, ...rest } = answered(200, () => checkoutMove(from, 'cancel')) as Given;
    const code = rest.code ? { code: rest.code } : {};
    return { from, http_status: rest.http_status, ...code, to: to ?? from, event: eventName ?? null };
  });
  return { results };
}

const triggers: Record<string, CheckoutTrigger> = {
  session_created: 'opened',
  provider_paid: 'paid',
  provider_declined: 'declined',
  cancel: 'cancel',
  timer_expired: 'timer',
};

/** A session, its payment and the wallet it tops up, moved by the rules of the product one after the other. */
function walletSession(given: Given) {
  const rates = {
    conversionRate: String(given.conversion_rate),
    topupConversionRate: String(given.topup_conversion_rate),
  };
  const plan = planTopup(
    { ...rates, creditsToAdd: String(given.credits), reason: 'PURCHASED_CREDIT_INVOICED', currency: 'usd' },
    { freeCreditLimit: '0', minimums: {} },
  );
  const bonus = decimal(text(given.bonus_credits) ?? '0');
  const session = {
    status: 'initiated' as CheckoutStatus,
    purchase: 'pending',
    payment: 'INITIATED' as PaymentStatus,
    attempts: [] as string[],
    refunds: [] as { amount: string; refundStatus: string }[],
    events: [] as string[],
    cleanups: 0,
    creditBalance: decimal(String(given.credit_balance)),
    cancelled: null as Given,
  };
  const pay = (to: PaymentStatus) => {
    assertPaymentMove(session.payment, to);
    session.payment = to;
  };
  const credit = () => {
    for (const credits of [plan.credits, bonus].filter((each) => each.greaterThan(0))) {
      const wallet = { ...rates, creditBalance: session.creditBalance, lots: [] };
      session.creditBalance = planCredit(wallet, { credits }).creditBalanceAfter;
    }
  };
  const effects: Record<CheckoutMove['effect'], () => void> = {
    none: () => undefined,
    open: () => pay('PENDING'),
    record_attempt: () => session.attempts.push('FAILED'),
    complete: () => {
      pay('SUCCEEDED');
      session.attempts.push('SUCCEEDED');
      session.purchase = 'completed';
      credit();
    },
    clean_up: () => {
      pay('FAILED');
      session.purchase = 'failed';
      session.cleanups += 1;
    },
    capture_late: () => {
      if (session.refunds.length > 0) return;
      session.refunds.push({ amount: decimalString(plan.amount), refundStatus: 'SUCCEEDED' });
      session.payment = rollUpRefunds(decimalString(plan.amount), session.refunds).paymentStatus as PaymentStatus;
    },
  };
  const step = (name: string) => {
    const move = answered(200, () => checkoutMove(session.status, triggers[name]!)) as Given;
    if (name === 'cancel') session.cancelled = move;
    if (move.code) return;
    effects[move.effect as CheckoutMove['effect']]();
    session.status = move.to;
    if (move.eventName) session.events.push(move.eventName);
  };
  return { session, step, rates, bonus, amount: plan.amount };
}

function sequence(given: Given): unknown {
  const { session, step, rates, bonus, amount } = walletSession(given);
  for (const name of (given.steps as string[]).flatMap((names) => names.split('+'))) step(name);
  const count = (name: string) => session.events.filter((event) => event === name).length;
  return {
    checkout_status: session.status,
    transaction_status: session.purchase,
    bonus_status: bonus.greaterThan(0) ? session.purchase : null,
    credit_balance: decimalString(session.creditBalance),
    balance: decimalString(session.creditBalance.times(rates.conversionRate)),
    payment_status: session.payment,
    payment_attempts: session.attempts,
    paid_amount: session.status === 'completed' ? decimalString(amount) : '0',
    completed_events: count('checkout.session.completed'),
    expired_events: count('checkout.session.expired'),
    cleanups: session.cleanups,
    gateway_refunds: session.refunds.length,
    refunded_amount: decimalString(sum(session.refunds.map((refund) => decimal(refund.amount)))),
    cancel_http_status: session.cancelled?.http_status ?? null,
    cancel_code: session.cancelled?.code ?? null,
  };
}

function gatedCreate({ cases }: Given): unknown {
  const results = cases.map(({ total, prepaid_cover: cover }: Given) =>
    answered(201, () => ({ amount_to_collect: decimalString(amountToCollect(String(total), String(cover))) })),
  );
  return { results };
}

function gatedGuards({ invoice, ops }: Given): unknown {
  const state = {
    session: invoice.session as string,
    invoiceStatus: invoice.invoice_status as string,
    sourceType: invoice.source_type as string,
    paymentStatus: 'INITIATED',
    status: 'published',
    isNumbered: false,
  };
  const follow = () => Object.assign(state, gatedInvoiceAfter(state.session));
  follow();
  const amounts = { amountDue: '1', amountPaid: '0', refundedAmount: '0', totalPrepaidCreditsApplied: '0' };
  const perform: Record<string, () => void> = {
    finalize: () => {
      refuseGated(state, 'finalized');
      if (state.invoiceStatus !== 'DRAFT') throw refuse('validation_error', 'only a DRAFT is finalized');
    },
    void: () => {
      refuseGated(state, 'voided');
      planVoid({ ...state, ...amounts });
    },
    update_line_items: () => assertEditable({ ...state, recalculatedInvoiceId: null }),
    record_payment_status: () => {
      refuseGated(state, 'paid by hand');
      const hasSucceededPayment = state.session === 'completed';
      paymentByHand({ ...state, ...amounts, hasSucceededPayment }, { paymentStatus: 'SUCCEEDED' });
    },
    settle_from_notification: () => {
      state.session = checkoutMove(state.session as CheckoutStatus, 'paid').to;
      follow();
      if (state.session === 'completed') state.paymentStatus = 'SUCCEEDED';
    },
  };
  const results = (ops as string[]).map((op) => {
    if (state.status === 'archived') return 'not_found';
    return answered(200, () => perform[op]!() ?? {}).code ?? 'ok';
  });
  return {
    results,
    invoice_number_before: null,
    invoice_status_after: state.invoiceStatus,
    invoice_number_assigned: state.isNumbered && isCheckoutActive(invoice.session),
  };
}

function limit({ payment_method: method, currency, max_mandate_limit: asked }: Given): unknown {
  const ceilings = mandateCeilings(settingDefaults.payment_mandate_limits);
  const effective = mandateLimit({ method, currency, maxMandateLimit: text(asked) }, ceilings);
  return { effective: effective === null ? null : decimalString(effective) };
}

function tokenChoice({ tokens, amount, now, preferred }: Given): unknown {
  const methods = tokens.map((token: Given) => ({
    id: token.id,
    type: token.method,
    status: token.status,
    expiresAt: token.expires_at ? instant(token.expires_at) : null,
    maxAmount: text(token.max_amount),
    createdAt: instant(token.created_at),
  }));
  const chosen = chooseSavedMethod(methods, { amount: String(amount), now: instant(now), preferredType: preferred });
  return { token: chosen?.id ?? null };
}

export const checkoutAdapters: Adapters = {
  checkout_expiry: expiry,
  checkout_poll: poll,
  checkout_cancel: cancel,
  checkout_sequence: sequence,
  gated_invoice_create: gatedCreate,
  gated_invoice_guards: gatedGuards,
  mandate_limit: limit,
  saved_token_choice: tokenChoice,
};
