import { advanceClock, makeCustomer, makeSubscription } from '../../bench/account.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { retry, rowChanged } from '../../workflows/lifecycle.messages.ts';
import {
  checkoutProgress,
  checkoutSessionWorkflowId,
  openCheckout,
  providerNotified,
} from '../../workflows/payment/checkout-session.messages.ts';
import { asOwner, newExternalId, type Stage, start, until } from './stage.ts';

interface Session {
  id: string;
  checkout_payment_id: string;
  checkout_status: string;
}

const caller = { actor: 'recorder', requestId: 'recorder' };

/** Checkout sessions in each way that they can go. */
export const checkoutScenarios: Record<string, (stage: Stage) => Promise<void>> = {
  /** A subscription, an invoice after a decline, and one whose bank takes its time and which only the provider's news tells of. */
  'checkout-paid': async (stage) => {
    const subscribed = await subscriptionSession(stage);
    await pay(stage, subscribed, 'succeeds');
    await read(stage, subscribed);
    const declined = await invoiceSession(stage);
    await pay(stage, declined, 'declines');
    await read(stage, declined);
    await pay(stage, declined, 'succeeds');
    await read(stage, declined);
    const late = await invoiceSession(stage);
    await pay(stage, late, 'never_answers');
    await read(stage, late);
    await stage.platform.gateway.operator.confirmLink(linkOf(late));
    await workflowOf(stage, late).query(checkoutProgress);
    await workflowOf(stage, late).signal(providerNotified);
    await endOf(stage, late, 'completed');
  },
  /** Cancelled, refused while a bank decides, and refused because it was paid meanwhile. */
  'checkout-cancelled': async (stage) => {
    const session = await invoiceSession(stage);
    await cancel(stage, session);
    const undecided = await invoiceSession(stage);
    await pay(stage, undecided, 'never_answers');
    await cancel(stage, undecided).catch(() => undefined);
    await stage.platform.gateway.operator.failLink(linkOf(undecided));
    await cancel(stage, undecided);
    const paid = await invoiceSession(stage);
    await pay(stage, paid, 'succeeds');
    await cancel(stage, paid).catch(() => undefined);
  },
  /** Final invoices paid by link: one that is paid, and one whose page is cancelled, after which it is collected as before. */
  'checkout-payment-link': async (stage) => {
    const paid = await linkSession(stage);
    await pay(stage, paid, 'succeeds');
    await read(stage, paid);
    await cancel(stage, await linkSession(stage));
  },
  /** Saved cards: one that pays without a page, one that declines, and one whose bank takes its time. */
  'checkout-saved-method': async (stage) => {
    await savedMethodSession(stage, 'succeeds');
    const declined = await savedMethodSession(stage, 'declines');
    await cancel(stage, declined);
    const undecided = await savedMethodSession(stage, 'never_answers');
    await stage.platform.gateway.operator.confirm(linkOf(undecided));
    await read(stage, undecided);
    await cancel(stage, await savedMethodSession(stage, 'never_answers'));
  },
  'checkout-expired': async (stage) => {
    const { clockId, session } = await clocked(stage);
    await advanceClock(stage.platform.api, clockId, '2026-01-15T01:00:00Z');
    await endOf(stage, session, 'expired');
  },
  /** Paid in the last second: the question at the end completes it. */
  'checkout-paid-at-its-end': async (stage) => {
    const { clockId, session } = await clocked(stage);
    await advanceClock(stage.platform.api, clockId, '2026-01-15T00:29:59Z');
    await pay(stage, session, 'succeeds');
    await advanceClock(stage.platform.api, clockId, '2026-01-15T00:30:00Z');
    await endOf(stage, session, 'completed');
  },
  /** Its provider is silent at its end: asked for a day, then given up, and its link watched until that has certainly ended. */
  'checkout-provider-silent': async (stage) => {
    const { clockId, session } = await clocked(stage);
    await stage.platform.gateway.operator.failNext('close', 'unreachable', {
      times: 10_000,
      intentToken: linkOf(session),
    });
    await advanceClock(stage.platform.api, clockId, '2026-01-18T00:00:00Z');
    await endOf(stage, session, 'expired');
  },
  /** Cancelled without an answer, paid before the link could be closed: the money goes back. */
  'checkout-paid-late': async (stage) => {
    const { gateway } = stage.platform;
    const session = await invoiceSession(stage);
    await gateway.operator.failNext('close', 'unreachable', { times: 1, intentToken: linkOf(session) });
    await cancel(stage, session);
    await pay(stage, session, 'succeeds');
    await workflowOf(stage, session).signal(providerNotified);
    await refunded(stage, session);
  },
  /** Paid twice, less than asked, and in another currency. */
  'checkout-paid-otherwise': async (stage) => {
    const { gateway } = stage.platform;
    const twice = await invoiceSession(stage);
    await pay(stage, twice, 'succeeds');
    const { token } = await gateway.savePaymentMethod({ cardNumber: sandboxCardNumber('succeeds') });
    await gateway.operator.captureLink(linkOf(twice), token);
    await read(stage, twice);
    for (const card of ['captures_less', 'captures_more', 'captures_otherwise'] as const) {
      const other = await invoiceSession(stage);
      await pay(stage, other, card);
      await read(stage, other);
    }
  },
  'checkout-refused': async (stage) => {
    const { gateway } = stage.platform;
    await gateway.operator.failNext('open', 'refuses');
    await invoiceSession(stage).catch(() => undefined);
    await gateway.operator.failNext('open', 'unreachable', { times: 3 });
    await invoiceSession(stage).catch(() => undefined);
    await gateway.operator.failNext('open', 'loses_answer', { times: 1 });
    await invoiceSession(stage);
  },
  /** Paid, and not carried out: tried again until it is; and one that never is, whose money goes back after a day. */
  'checkout-not-carried-out': async (stage) => {
    for (const until of ['2026-01-15T00:10:00Z', '2026-01-17T00:00:00Z']) {
      const { clockId, session } = await clocked(stage);
      await pay(stage, session, 'succeeds');
      await withConstraint(stage, "invoice add constraint none_now check (invoice_status <> 'FINALIZED')", async () => {
        await advanceClock(stage.platform.api, clockId, until);
      });
      await advanceClock(stage.platform.api, clockId, '2026-01-17T01:00:00Z');
    }
  },
  'checkout-parked-and-retried': async (stage) => {
    const { clockId, session } = await clocked(stage);
    await withConstraint(stage, 'checkout_session add constraint none_now check (version < 0)', async () => {
      await advanceClock(stage.platform.api, clockId, '2026-01-15T00:20:00Z');
    });
    await workflowOf(stage, session).executeUpdate(retry);
    await advanceClock(stage.platform.api, clockId, '2026-01-15T01:00:00Z');
  },
  /** Changes of a subscription: an add-on that is paid, and new quantities whose order a cancellation makes impossible. */
  'checkout-changes': async (stage) => {
    const { api } = stage.platform;
    const customerId = await makeCustomer(api, { externalId: newExternalId() });
    const terms = { customer_id: customerId, plan_id: stage.planId, currency: 'usd', billing_period: 'MONTHLY' };
    const { id } = await makeSubscription(api, { ...terms, collection_method: 'send_invoice' });
    const { id: addonId } = await api<{ id: string }>('POST', '/addons', {
      ...{ name: 'Seats', lookup_key: newExternalId(), type: 'multiple_instance' },
    });
    await api('POST', '/prices', {
      ...{ entity_type: 'ADDON', entity_id: addonId, type: 'FIXED', amount: '200', currency: 'usd' },
      ...{ billing_period: 'MONTHLY', billing_model: 'FLAT_FEE', invoice_cadence: 'ADVANCE' },
      start_date: '2025-01-01T00:00:00Z',
    });
    const checkout = { payment_provider: 'sandbox' };
    const order = { subscription_id: id, addon_id: addonId, checkout };
    const addon = await api<{ checkout_session: Session }>('POST', '/subscriptions/addon', order);
    await pay(stage, addon.checkout_session, 'succeeds');
    await endOf(stage, addon.checkout_session, 'completed');
    const { line_items } = await api<{ line_items: { id: string; addon_association_id: string | null }[] }>(
      'GET',
      `/subscriptions/${id}`,
    );
    const seats = line_items.find((item) => item.addon_association_id)!.id;
    const more = await api<{ checkout_session: Session }>('POST', `/subscriptions/${id}/modify/execute`, {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: seats, quantity: '9' }] },
      checkout,
    });
    await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
    await endOf(stage, more.checkout_session, 'expired');
  },
  /** A provider beyond a network, which this worker does not know: what is asked of it goes the long way. */
  'checkout-elsewhere': async (stage) => {
    const session = await invoiceSession(stage);
    const handle = workflowOf(stage, session);
    await asOwner(stage, `update checkout_session set payment_provider = 'elsewhere' where id = $1`, [session.id]);
    await handle.signal(rowChanged);
    await read(stage, session);
    const unopened = `update checkout_session set checkout_status = 'initiated', link_state = 'none' where id = $1`;
    await asOwner(stage, unopened, [session.id]);
    await handle.signal(rowChanged);
    const at = new Date().toISOString();
    await handle.executeUpdate(openCheckout, { args: [{ caller, at }] }).catch(() => undefined);
    await endOf(stage, session, 'failed');
  },
};

/** An invoice that its session pays. */
async function invoiceSession(stage: Stage, clockId?: string): Promise<Session> {
  const externalId = newExternalId();
  const customerId = await makeCustomer(stage.platform.api, { externalId, ...(clockId ? { clockId } : {}) });
  return orderInvoice(stage, customerId);
}

/** A session whose payer has a saved card, which is charged before a page is opened. */
async function savedMethodSession(stage: Stage, card: SandboxBehaviour): Promise<Session> {
  const { api } = stage.platform;
  const customerId = await makeCustomer(api, { externalId: newExternalId(), card: sandboxCardNumber(card) });
  return orderInvoice(stage, customerId, { collection_method: 'charge_automatically' });
}

async function orderInvoice({ platform: { api } }: Stage, customerId: string, config = {}): Promise<Session> {
  const { checkout_session } = await api<{ checkout_session: Session }>('POST', '/invoices', {
    customer_id: customerId,
    currency: 'usd',
    subtotal: '25',
    total: '25',
    amount_due: '25',
    line_items: [{ display_name: 'Onboarding', quantity: '1', amount: '25' }],
    checkout: { payment_provider: 'sandbox', payment_provider_config: config },
  });
  return checkout_session;
}

/** A session that pays a final invoice. */
async function linkSession({ platform: { api } }: Stage): Promise<Session> {
  const customer_id = await makeCustomer(api, { externalId: newExternalId() });
  const amounts = { subtotal: '25', total: '25', amount_due: '25' };
  const line_items = [{ display_name: 'Onboarding', quantity: '1', amount: '25' }];
  const invoice = await api<{ id: string }>('POST', '/invoices', {
    customer_id,
    currency: 'usd',
    ...amounts,
    line_items,
  });
  await api('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'sandbox',
    amount: '25',
    currency: 'usd',
  });
  const { items } = await api<{ items: Session[] }>('GET', `/checkout/sessions?invoice_id=${invoice.id}`);
  return items[0]!;
}

async function subscriptionSession({ platform: { api }, planId }: Stage): Promise<Session> {
  const externalId = newExternalId();
  await makeCustomer(api, { externalId });
  return api<Session>('POST', '/checkout/sessions', {
    customer_external_id: externalId,
    action: 'create_subscription',
    payment_provider: 'sandbox',
    configuration: { create_subscription_params: { plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' } },
  });
}

/** A session of a customer on a clock of its own. */
async function clocked(stage: Stage): Promise<{ clockId: string; session: Session }> {
  const { id: clockId } = await stage.platform.api('POST', '/test-clocks', { frozen_time: start });
  return { clockId, session: await invoiceSession(stage, clockId) };
}

const linkOf = (session: Session) => `${session.checkout_payment_id}:1`;

async function pay({ platform: { gateway } }: Stage, session: Session, card: SandboxBehaviour): Promise<void> {
  await gateway.payer.payLink(linkOf(session), { cardNumber: sandboxCardNumber(card) });
}

const read = ({ platform: { api } }: Stage, { id }: Session) => api<Session>('GET', `/checkout/sessions/${id}`);
const cancel = ({ platform: { api } }: Stage, { id }: Session) => api('POST', `/checkout/sessions/${id}/cancel`);

function workflowOf({ platform: { temporal } }: Stage, { id }: Session) {
  return temporal.workflow.getHandle(checkoutSessionWorkflowId(id));
}

async function endOf(stage: Stage, session: Session, status: string): Promise<void> {
  await until(async () => ((await read(stage, session)).checkout_status === status ? true : undefined));
}

async function refunded({ platform: { api } }: Stage, session: Session): Promise<void> {
  await until(async () => {
    const path = `/refunds?payment_ids=${session.checkout_payment_id}`;
    const { items } = await api<{ items: { refund_status: string }[] }>('GET', path);
    return items.some((refund) => refund.refund_status === 'SUCCEEDED') || undefined;
  });
}

/** Does `work` while a statement of every step fails. */
async function withConstraint(stage: Stage, constraint: string, work: () => Promise<void>): Promise<void> {
  const [table] = constraint.split(' ');
  await asOwner(stage, `alter table ${constraint} not valid`);
  try {
    await work();
  } finally {
    await asOwner(stage, `alter table ${table} drop constraint none_now`);
  }
}
