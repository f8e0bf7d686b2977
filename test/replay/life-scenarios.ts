import { reconcile } from '../../activities/check/reconcile.ts';
import { advanceClock, makeCustomer, makeSubscription } from '../../bench/account.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { poll } from '../../dev/processes.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { personal } from './personal.ts';
import type { Stage } from './stage.ts';

const start = '2026-01-15T00:00:00Z';

let customers = 0;

async function customerWith({ platform: { api } }: Stage, card: SandboxBehaviour, count = 0) {
  customers += 1;
  const { id: clockId } = await api('POST', '/test-clocks', { frozen_time: start });
  const customerId = await makeCustomer(api, {
    externalId: `living-${customers}`,
    name: personal.name,
    email: personal.email,
    clockId,
    card: sandboxCardNumber(card, count),
  });
  return { clockId, customerId };
}

/** Creations and an activation that are paid first: at once, after questions, given up, declined; one whose run was lost. */
async function paidFirst(stage: Stage): Promise<void> {
  const { api, database, temporal } = stage.platform;
  const terms = { plan_id: stage.planId, payment_behavior: 'error_if_incomplete' };
  for (const [card, count] of [
    ['succeeds', 0],
    ['declines', 0],
    ['requires_action', 0],
    ['answers_late', 1],
  ] as const) {
    const { clockId, customerId } = await customerWith(stage, card, count);
    await makeSubscription(api, { customer_id: customerId, ...terms }).catch(() => undefined);
    await advanceClock(api, clockId, '2026-01-16T00:00:00Z');
  }
  const { customerId } = await customerWith(stage, 'declines_times', 1);
  const draft = await makeSubscription(api, { customer_id: customerId, ...terms, subscription_status: 'draft' });
  const activate = () => api('POST', `/subscriptions/${draft.id}/activate`, { start_date: start });
  await activate().catch(() => undefined);
  await activate();
  await openChargeIsLost(stage, customerId);
  await reconcile({ database, temporal });
  const status = () => statusOf(stage, 'pay_of_lost_run');
  await poll(async () => ((await status()) === 'returned' ? true : undefined), 20_000);
}

/** What a run leaves that vanished after its charge was captured. */
async function openChargeIsLost({ platform }: Stage, customerId: string): Promise<void> {
  const text = `
    insert into opening_charge (id, tenant_id, environment_id, subscription_id, customer_id, created_at, at, payment_method_id,
      payment_gateway, intent_token, amount, currency)
    select 'pay_of_lost_run', tenant_id, environment_id, 'subs_of_lost_run', customer_id, now(), now(), id, 'sandbox',
      'pay_of_lost_run:1', 1, 'usd' from payment_method where customer_id = $1 returning payment_method_id`;
  const method = 'select gateway_token as token from payment_method where customer_id = $1';
  const [card] = await inSqlTransaction(platform.database, platform.scope, async (tx) => {
    await tx.rows(text, [customerId]);
    return tx.rows<{ token: string }>(method, [customerId]);
  });
  const request = { intentToken: 'pay_of_lost_run:1', amount: '1', currency: 'usd', description: '', metadata: {} };
  await platform.gateway.charge({ ...request, paymentMethodToken: card!.token });
}

/** Subscriptions that nobody pays for: cancelled after the grace, cancelled and paused after the last attempt, and paid after all. */
async function notPaid(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const set = (key: string, value: object) => api('PUT', `/settings/${key}`, { value });
  for (const after_last_attempt of ['cancel', 'pause']) {
    await set('dunning_config', { after_last_attempt });
    const { clockId, customerId } = await customerWith(stage, 'declines');
    const { id } = await makeSubscription(api, { customer_id: customerId, plan_id: stage.planId });
    await advanceClock(api, clockId, '2026-01-25T00:00:00Z');
    if (after_last_attempt === 'cancel') continue;
    const card = { gateway: 'sandbox', card_number: sandboxCardNumber('succeeds'), set_default: true };
    await api('POST', `/customers/${customerId}/payment-methods`, card);
    type Invoices = { items: { id: string; amount_remaining: string }[] };
    const { items } = await api<Invoices>('GET', `/invoices?subscription_id=${id}`);
    const unpaid = items.filter(({ amount_remaining }) => amount_remaining !== '0');
    for (const invoice of unpaid) await api('POST', `/invoices/${invoice.id}/payment/attempt`);
    await advanceClock(api, clockId, '2026-01-26T00:00:00Z');
  }
  await set('dunning_config', { after_last_attempt: 'none' });
  await set('subscription_config', { auto_cancellation_enabled: true });
  const { clockId, customerId } = await customerWith(stage, 'declines');
  await makeSubscription(api, { customer_id: customerId, plan_id: stage.planId });
  await advanceClock(api, clockId, '2026-03-01T00:00:00Z');
  await set('subscription_config', { auto_cancellation_enabled: false });
}

async function statusOf({ platform }: Stage, chargeId: string): Promise<string | undefined> {
  const text = 'select charge_status as status from opening_charge where id = $1';
  const rows = await inSqlTransaction(platform.database, platform.scope, (tx) =>
    tx.rows<{ status: string }>(text, [chargeId]),
  );
  return rows[0]?.status;
}

/** How subscriptions begin and end by what is paid, by the names of the histories. */
export const lifeScenarios: Record<string, (stage: Stage) => Promise<void>> = {
  'paid-before-created': paidFirst,
  'not-paid-and-stopped': notPaid,
};
