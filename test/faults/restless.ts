import { ApiProblem, type DemoClient } from '../../dev/demo/client.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { familyRequests } from './relatives.ts';
import type { OtherPlans } from './strangers.ts';

const badRequest = 400;
const conflict = 409;

/** What people ask for between the stops of a clock. */
export interface Occasion {
  plans: OtherPlans;
  /** The ending of the wave's names. */
  suffix: string;
  subscriptionOf(code: string): string;
}

type Request = (api: DemoClient, occasion: Occasion) => Promise<unknown>;

/**
 * By the number of the stop after which it is asked: each is a command that a kill may interrupt anywhere, and that is asked
 * again until it is answered.
 */
const requests: Record<number, Request[]> = {
  0: [
    creditOpeningInvoice,
    readRawEventsAgain,
    changePlanInPlace,
    replaceByAnotherPlan,
    reachThreshold,
    notPaidFirst,
    payLate,
    familyRequests[0],
  ],
  1: [(api, { subscriptionOf }) => api.send('POST', `/subscriptions/${subscriptionOf('RESTLESS')}/pause`, {})],
  2: [
    (api, { subscriptionOf }) => api.send('POST', `/subscriptions/${subscriptionOf('RESTLESS')}/resume`, {}),
    familyRequests[2],
  ],
  4: [
    (api, { subscriptionOf }) =>
      api.send('POST', `/subscriptions/${subscriptionOf('RESTLESS')}/cancel`, { cancellation_type: 'end_of_period' }),
    familyRequests[4],
  ],
};

/** Asks for what is wanted at a stop, one after the other. */
export async function actAtStop(api: DemoClient, stop: number, occasion: Occasion): Promise<void> {
  for (const request of requests[stop] ?? []) await request(api, occasion);
}

/** A cent goes back to the card that paid. */
async function creditOpeningInvoice(api: DemoClient, { subscriptionOf }: Occasion): Promise<void> {
  const path = `/invoices?subscription_id=${subscriptionOf('RESTLESS')}`;
  const { items } = await api.send<{ items: { id: string }[] }>('GET', path);
  const invoice = await api.send<{ id: string; line_items: { id: string; amount: string }[] }>(
    'GET',
    `/invoices/${items.at(-1)!.id}`,
  );
  const line = invoice.line_items.find(({ amount }) => amount !== '0')!;
  await api.send('POST', '/creditnotes', {
    invoice_id: invoice.id,
    reason: 'SERVICE_ISSUE',
    refund_target: 'BACK_TO_SOURCE',
    line_items: [{ invoice_line_item_id: line.id, amount: '0.01' }],
  });
}

/** Events that no mapping can read: they are looked at again, and stay as they are. */
async function readRawEventsAgain(api: DemoClient): Promise<void> {
  const events = Array.from({ length: 5 }, (_, index) => ({ kind: 'note', text: `number ${index}` }));
  await api.send('POST', '/events/raw/bulk', { events });
  await api.send('POST', '/events/raw/reprocess/all', { start_date: '2001-01-01T00:00:00Z' }).catch((error) => {
    // The other lane has them read at this moment.
    if (!(error instanceof ApiProblem && error.status === conflict)) throw error;
  });
}

const atPeriodEnd = { proration_behavior: 'none', change_at: 'end_of_period' };

function changePlanInPlace(api: DemoClient, { plans, subscriptionOf }: Occasion): Promise<unknown> {
  const path = `/subscriptions/${subscriptionOf('MOVING')}/change/v2/execute`;
  return api.send('POST', path, { ...atPeriodEnd, target_plan_id: plans.targetPlanId });
}

function replaceByAnotherPlan(api: DemoClient, { plans, subscriptionOf }: Occasion): Promise<unknown> {
  const cycle = { billing_cadence: 'RECURRING', billing_period: 'MONTHLY', billing_cycle: 'anniversary' };
  const path = `/subscriptions/${subscriptionOf('REPLACED')}/change/execute`;
  return api.send('POST', path, { ...atPeriodEnd, ...cycle, target_plan_id: plans.targetPlanId });
}

/** A card that declines makes no subscription. */
async function notPaidFirst(api: DemoClient, { plans, suffix }: Occasion): Promise<void> {
  const external_id = `BROKE${suffix}`;
  const { id } = await api.send<{ id: string }>('POST', '/customers', { external_id, name: external_id });
  const card_number = sandboxCardNumber('declines');
  await api.send('POST', `/customers/${id}/payment-methods`, { gateway: 'sandbox', card_number, set_default: true });
  const terms = { plan_id: plans.targetPlanId, currency: 'usd', billing_period: 'MONTHLY' };
  const creation = { ...terms, customer_id: id, payment_behavior: 'error_if_incomplete' };
  await api.send('POST', '/subscriptions', creation).then(
    () => {
      throw new Error('a subscription was made although its card declines');
    },
    (error: unknown) => {
      if (!(error instanceof ApiProblem && error.status === badRequest)) throw error;
    },
  );
}

/** A subscription that was paused because nobody paid goes on when somebody does. */
async function payLate(api: DemoClient, { subscriptionOf }: Occasion): Promise<void> {
  const subscriptionId = subscriptionOf('LATE');
  const { customer_id } = await api.send<{ customer_id: string }>('GET', `/subscriptions/${subscriptionId}`);
  const card = { gateway: 'sandbox', card_number: sandboxCardNumber('succeeds'), set_default: true };
  await api.send('POST', `/customers/${customer_id}/payment-methods`, card);
  const path = `/invoices?subscription_id=${subscriptionId}`;
  const { items } = await api.send<{ items: { id: string; amount_remaining: string }[] }>('GET', path);
  for (const { id } of items.filter(({ amount_remaining }) => amount_remaining !== '0')) {
    await api.send('POST', `/invoices/${id}/payment/attempt`).catch((error) => {
      // Its own retry was quicker.
      if (!(error instanceof ApiProblem && error.status === badRequest)) throw error;
    });
  }
}

/** The usage of the period is invoiced before the period ends. */
function reachThreshold(api: DemoClient, { plans, suffix }: Occasion): Promise<unknown> {
  const events = Array.from({ length: 3 }, (_, index) => ({
    event_id: `watched-${index}${suffix}`,
    event_name: plans.watchedEvent,
    external_customer_id: `WATCHED${suffix}`,
    timestamp: '2001-01-08T00:00:00Z',
  }));
  return api.send('POST', '/events/bulk', { events });
}
