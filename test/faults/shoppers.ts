import { setTimeout as delay } from 'node:timers/promises';
import type { DemoClient } from '../../dev/demo/client.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { createCustomer, type OtherPlans, type Place } from './strangers.ts';

interface Session {
  id: string;
  checkout_status: string;
  payment_action: { url: string } | null;
}

const patienceMs = 150_000;
const pauseMs = 150;

/**
 * Payment pages of a wave, through whatever is killed: a subscription that is paid after a decline, credits that are paid with a card whose
 * answer is lost, an invoice that is given up, one that nobody pays, which ends when the clock goes on, and one that a saved card pays without
 * a page. Each is asked for until it has ended as it must.
 */
export async function goShopping(api: DemoClient, place: Place, plans: OtherPlans): Promise<void> {
  const { suffix } = place.catalogue;
  const customerId = await createCustomer(api, place, { code: 'SHOPPER', zone: 'UTC' });
  const subscribed = await api.send<Session>('POST', '/checkout/sessions', {
    customer_external_id: `SHOPPER${suffix}`,
    action: 'create_subscription',
    payment_provider: 'sandbox',
    configuration: {
      create_subscription_params: { plan_id: plans.targetPlanId, currency: 'usd', billing_period: 'MONTHLY' },
    },
  });
  await pay(subscribed, sandboxCardNumber('declines'));
  await pay(subscribed, sandboxCardNumber('succeeds'));
  await ended(api, subscribed, 'completed');
  const wallet = await api.send<{ id: string }>('POST', '/wallets', { customer_id: customerId, currency: 'usd' });
  const topUp = await api.send<{ checkout_session: Session }>('POST', `/wallets/${wallet.id}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credits_to_add: '10',
    checkout: { payment_provider: 'sandbox' },
  });
  await pay(topUp.checkout_session, sandboxCardNumber('loses_answer'));
  await ended(api, topUp.checkout_session, 'completed');
  const givenUp = await invoiceOf(api, customerId, '20');
  await api.send('POST', `/checkout/sessions/${givenUp.id}/cancel`);
  await ended(api, givenUp, 'expired');
  await invoiceOf(api, customerId, '30');
  await api.send('POST', `/customers/${customerId}/payment-methods`, { card_number: sandboxCardNumber('succeeds') });
  await ended(api, await invoiceOf(api, customerId, '40', { collection_method: 'charge_automatically' }), 'completed');
}

async function invoiceOf(api: DemoClient, customerId: string, amount: string, config = {}): Promise<Session> {
  const line_items = [{ display_name: 'Onboarding', quantity: '1', amount }];
  const { checkout_session } = await api.send<{ checkout_session: Session }>('POST', '/invoices', {
    ...{ customer_id: customerId, currency: 'usd', subtotal: amount, total: amount, amount_due: amount, line_items },
    checkout: { payment_provider: 'sandbox', payment_provider_config: config },
  });
  return checkout_session;
}

/** Sends the form of the page as a browser does, until there is an answer: pressed twice it is one attempt. */
async function pay(session: Session, cardNumber: string): Promise<void> {
  const page = session.payment_action?.url ?? '';
  const shown = await answered(page, {});
  const formToken = /name="form_token" value="([^"]+)"/.exec(shown)?.[1];
  if (!formToken) return;
  const body = new URLSearchParams({ form_token: formToken, card_number: cardNumber });
  await answered(`${page}/pay`, { method: 'POST', body });
}

async function answered(url: string, request: RequestInit): Promise<string> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(20_000) }).catch(() => null);
    const text = await answer?.text().catch(() => null);
    if (answer && text !== null && text !== undefined && answer.status < 500) return text;
    if (performance.now() > end) throw new Error(`the page ${url} does not answer: ${answer?.status}`);
    await delay(pauseMs);
  }
}

async function ended(api: DemoClient, { id }: Session, status: string): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const session = await api.send<Session>('GET', `/checkout/sessions/${id}`);
    if (session.checkout_status === status) return;
    if (performance.now() > end) throw new Error(`checkout session ${id} is ${session.checkout_status}, not ${status}`);
    await delay(pauseMs);
  }
}
