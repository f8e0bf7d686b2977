import { reconcile } from '../../activities/check/reconcile.ts';
import { advanceClock, makeCustomer, makeSubscription, sendCalls } from '../../bench/account.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { retry } from '../../workflows/lifecycle.messages.ts';
import { gatewayNotified, paymentWorkflowId, refreshPayment } from '../../workflows/payment/payment.messages.ts';
import { changeScenarios } from './change-scenarios.ts';
import { checkoutScenarios } from './checkout-scenarios.ts';
import { cloneScenarios } from './clone-scenarios.ts';
import { hierarchyScenarios } from './hierarchy-scenarios.ts';
import { importScenario } from './import-scenario.ts';
import { notificationsScenario } from './inbox-scenario.ts';
import { invoicesByHand, invoicesMade } from './invoice-scenarios.ts';
import { lifeScenarios } from './life-scenarios.ts';
import { onboardingScenario } from './onboarding-scenario.ts';
import { clockParked, invoiceParked, periodParked } from './parked-scenarios.ts';
import { payerLinked, payerTookTime } from './payer-scenario.ts';
import { personal } from './personal.ts';
import { priceSyncParked, priceSyncStopped, pricesSynced } from './price-sync-scenarios.ts';
import { creditsBought, walletPays } from './purchase-scenario.ts';
import { refundedElsewhereScenario, refundNotified, refundScenario, refundTakenBack } from './refund-scenario.ts';
import {
  daysAgo,
  eventName,
  inRealTime,
  invoiceWorkflowOf,
  newExternalId,
  onClock,
  paidInvoices,
  payerAnswers,
  paymentOf,
  paymentWorkflowOf,
  rowOf,
  type Stage,
  start,
  until,
  workflowOf,
} from './stage.ts';
import { stoppedScenarios } from './stopped-scenarios.ts';
import { topUpGivenUp, walletsFilled } from './top-up-scenario.ts';
import { heldBackScenario, usageFeedScenario } from './usage-feed-scenario.ts';
import { meterBuildScenario, rawEventsScenario, retentionScenario, thresholdScenario } from './usage-scenarios.ts';
import { lotsExpired } from './wallet-scenario.ts';
import { endpointStands, shardServed } from './webhook-scenario.ts';

/** Every scenario by the name its histories get. Together they take every branch of every workflow. */
export const scenarios: Record<string, (stage: Stage) => Promise<void>> = {
  'year-of-renewals': async (stage) => {
    const { clockId, externalId } = await onClock(stage, { card: 'succeeds' });
    const calls = { eventName, externalId, count: 12 };
    for (const month of ['01', '02', '07']) {
      await sendCalls(stage.platform.api, { ...calls, timestamp: `2026-${month}-20T00:00:00Z` });
    }
    await advanceClock(stage.platform.api, clockId, '2026-09-20T00:00:00Z');
  },
  /** On clocks whose members share nothing: each goes on alone from the notice of a period to the payment of its invoice. */
  'renewals-alone': async (stage) => {
    for (const card of ['succeeds', 'declines'] as const) {
      const { clockId } = await onClock(stage, { card });
      await advanceClock(stage.platform.api, clockId, '2026-05-20T00:00:00Z');
    }
  },
  'trial-on-clock': async (stage) => {
    const { clockId } = await onClock(stage, { card: 'succeeds', subscription: { trial_period_days: 14 } });
    await advanceClock(stage.platform.api, clockId, '2026-03-05T00:00:00Z');
  },
  'incomplete-until-paid': async (stage) => {
    const subscription = { payment_behavior: 'allow_incomplete' };
    const { clockId } = await onClock(stage, { card: 'declines_times', count: 1, subscription });
    await advanceClock(stage.platform.api, clockId, '2026-02-20T00:00:00Z');
  },
  'cancelled-at-once': cancelled({ cancellation_type: 'immediate' }),
  'cancelled-at-period-end': cancelled({ cancellation_type: 'end_of_period' }),
  'cancelled-on-a-date': cancelled({ cancellation_type: 'scheduled_date', cancel_at: '2026-02-20T00:00:00Z' }),
  'add-on-attached-and-detached': addonAttached,
  'declined-then-paid': async (stage) => {
    const { clockId } = await onClock(stage, { card: 'declines_times', count: 3 });
    await advanceClock(stage.platform.api, clockId, '2026-02-17T00:00:00Z');
  },
  'declined-until-overdue': async (stage) => {
    const { clockId } = await onClock(stage, { card: 'declines' });
    await advanceClock(stage.platform.api, clockId, '2026-03-01T00:00:00Z');
  },
  'invoices-by-hand': async (stage) => invoicesByHand(stage, '2026-02-15T00:00:00Z'),
  'invoices-made-and-edited': invoicesMade,
  'lost-answer': async (stage) => {
    const { clockId } = await onClock(stage, { card: 'loses_answer' });
    await advanceClock(stage.platform.api, clockId, '2026-02-16T00:00:00Z');
  },
  'late-answer': async (stage) => {
    const { clockId } = await onClock(stage, { card: 'answers_late', count: 2 });
    await advanceClock(stage.platform.api, clockId, '2026-02-16T00:00:00Z');
  },
  'unanswered-for-a-day': async (stage) => {
    const { clockId, subscriptionId } = await onClock(stage, { card: 'never_answers' });
    await advanceClock(stage.platform.api, clockId, '2026-01-17T00:00:00Z');
    const paymentId = await paymentOf(stage, subscriptionId);
    await payerAnswers(stage, paymentId, 'confirm');
    await stage.platform.temporal.workflow.getHandle(paymentWorkflowId(paymentId)).executeUpdate(retry);
  },
  'payer-asked-on-clock': payerAsked,
  'payer-took-time': payerTookTime,
  'payer-linked': payerLinked,
  'payment-by-hand': paymentByHand,
  'invoice-parked-and-retried': invoiceParked,
  'period-parked-and-retried': periodParked,
  'lots-expired': lotsExpired,
  'creation-refused': async (stage) => {
    const { api } = stage.platform;
    const customerId = await makeCustomer(api, { externalId: newExternalId() });
    await makeSubscription(api, { customer_id: customerId, plan_id: 'plan_unknown' }).catch(() => undefined);
  },
  'real-time-life': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'succeeds' });
    const { api } = stage.platform;
    await until(async () => (await workflowOf(stage, subscriptionId).query('waitingFor')) || undefined);
    await api('PUT', `/subscriptions/${subscriptionId}`, { metadata: { note: personal.note } });
    const cancelAt = new Date(Date.now() + 40 * 86_400_000).toISOString();
    const onDate = { cancellation_type: 'scheduled_date', cancel_at: cancelAt, reason: personal.reason };
    await api('POST', `/subscriptions/${subscriptionId}/cancel`, onDate);
    await api('POST', `/subscriptions/${subscriptionId}/cancel`, { cancellation_type: 'immediate' });
  },
  'real-time-catching-up': async (stage) => {
    const subscription = { start_date: daysAgo(100) };
    const { subscriptionId } = await inRealTime(stage, { card: 'succeeds', subscription });
    await until(async () => (await paidInvoices(stage, subscriptionId)) >= 4 || undefined);
  },
  'real-time-trial': async (stage) => {
    const subscription = { start_date: daysAgo(20), trial_period_days: 14 };
    const { subscriptionId } = await inRealTime(stage, { card: 'succeeds', subscription });
    await until(async () => (await paidInvoices(stage, subscriptionId)) >= 1 || undefined);
  },
  'real-time-decline': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'declines' });
    await until(() => invoiceWorkflowOf(stage, subscriptionId));
  },
  'real-time-lost-answer': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'loses_answer' });
    const workflow = await until(() => paymentWorkflowOf(stage, subscriptionId));
    await workflow.executeUpdate(refreshPayment).catch(() => undefined);
    await until(async () => (await paidInvoices(stage, subscriptionId)) >= 1 || undefined);
  },
  'real-time-late-answer': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'answers_late', count: 1 });
    await until(async () => (await paidInvoices(stage, subscriptionId)) >= 1 || undefined);
  },
  'real-time-notified': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'requires_action' });
    const workflow = await until(() => paymentWorkflowOf(stage, subscriptionId));
    await payerAnswers(stage, await paymentOf(stage, subscriptionId), 'confirm');
    await workflow.signal(gatewayNotified);
    await until(async () => (await paidInvoices(stage, subscriptionId)) >= 1 || undefined);
  },
  'real-time-given-up': async (stage) => {
    const { subscriptionId } = await inRealTime(stage, { card: 'requires_action' });
    await until(() => paymentWorkflowOf(stage, subscriptionId));
    await stage.platform.api('POST', `/payments/${await paymentOf(stage, subscriptionId)}/cancel`);
  },
  reconciled: reconciledLives,
  'clock-parked-and-retried': clockParked,
  'prices-synced': pricesSynced,
  'price-sync-stopped': priceSyncStopped,
  'price-sync-parked-and-retried': priceSyncParked,
  ...checkoutScenarios,
  ...cloneScenarios,
  ...changeScenarios,
  ...lifeScenarios,
  ...hierarchyScenarios,
  ...stoppedScenarios,
  'files-imported': importScenario,
  // As above, since failed imports fail and clocks have labels.
  'import-failed': importScenario,
  'clock-labelled': clockParked,
  'raw-events-reprocessed': rawEventsScenario,
  'events-dropped': retentionScenario,
  'events-held-back': heldBackScenario,
  'meter-built': meterBuildScenario,
  'usage-fed': usageFeedScenario,
  'usage-watched': thresholdScenario,
  'customer-onboarded': onboardingScenario,
  'refunds-refused-and-silent': refundScenario,
  'refund-notified': refundNotified,
  'refund-taken-back': refundTakenBack,
  'refund-elsewhere': refundedElsewhereScenario,
  'notifications-passed-on': notificationsScenario,
  'webhooks-sent': shardServed,
  'webhook-endpoint-disabled': endpointStands,
  'credits-bought': creditsBought,
  'wallet-pays': walletPays,
  'wallets-filled': walletsFilled,
  'top-up-given-up': topUpGivenUp,
};

function cancelled(cancellation: Record<string, unknown>): (stage: Stage) => Promise<void> {
  return async (stage) => {
    const { clockId, subscriptionId } = await onClock(stage, { card: 'succeeds' });
    const { api } = stage.platform;
    await advanceClock(api, clockId, '2026-02-01T00:00:00Z');
    await api('POST', `/subscriptions/${subscriptionId}/cancel`, { ...cancellation, reason: personal.reason });
    await advanceClock(api, clockId, '2026-04-01T00:00:00Z');
  };
}

/** One attachment is billed at once, a second is refused, and the first is detached. */
async function addonAttached(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { clockId, subscriptionId } = await onClock(stage, { card: 'succeeds' });
  const addon = await api('POST', '/addons', { name: 'Seats', lookup_key: newExternalId(), type: 'onetime' });
  await api('POST', '/prices', {
    entity_type: 'ADDON',
    entity_id: addon.id,
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ADVANCE',
    currency: 'usd',
    amount: '20',
    start_date: start,
  });
  await advanceClock(api, clockId, '2026-02-01T00:00:00Z');
  const attachment = { subscription_id: subscriptionId, addon_id: addon.id, metadata: { note: personal.note } };
  const { id } = await api('POST', '/subscriptions/addon', attachment);
  await api('POST', '/subscriptions/addon', attachment).catch(() => undefined);
  await api('DELETE', '/subscriptions/addon', { addon_association_id: id, reason: personal.reason });
  await advanceClock(api, clockId, '2026-04-01T00:00:00Z');
}

async function payerAsked(stage: Stage): Promise<void> {
  const { clockId, subscriptionId } = await onClock(stage, { card: 'requires_action' });
  const { api } = stage.platform;
  await advanceClock(api, clockId, '2026-01-15T00:02:00Z');
  await payerAnswers(stage, await paymentOf(stage, subscriptionId), 'fail');
  await advanceClock(api, clockId, '2026-01-16T00:05:00Z');
}

/** A card that is saved after the invoice and charged by request. */
async function paymentByHand(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { subscriptionId, customerId } = await onClock(stage, {});
  const text = `select id, amount_remaining from invoice where subscription_id = $1 and invoice_status = 'FINALIZED'`;
  const invoice = await until(() => rowOf(stage, text, [subscriptionId]));
  const card = { gateway: 'sandbox', card_number: sandboxCardNumber('succeeds'), set_default: true };
  await api('POST', `/customers/${customerId}/payment-methods`, card);
  await api('POST', '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'CARD',
    amount: invoice.amount_remaining,
    currency: 'usd',
  });
}

/** The workflows of a live subscription and a live invoice vanish and are started from their rows. */
async function reconciledLives(stage: Stage): Promise<void> {
  const { database, temporal } = stage.platform;
  const { clockId, subscriptionId } = await onClock(stage, { card: 'declines' });
  await advanceClock(stage.platform.api, clockId, '2026-01-16T12:00:00Z');
  const real = await inRealTime(stage, { card: 'declines' });
  await until(() => invoiceWorkflowOf(stage, real.subscriptionId));
  for (const id of [subscriptionId, real.subscriptionId]) {
    const { workflowId } = await until(() => invoiceWorkflowOf(stage, id));
    await temporal.workflow.getHandle(workflowId).terminate('recorded: storage lost');
    await workflowOf(stage, id).terminate('recorded: storage lost');
  }
  await reconcile({ database, temporal });
  await advanceClock(stage.platform.api, clockId, '2026-02-20T00:00:00Z');
}
