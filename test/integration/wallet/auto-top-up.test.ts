import { expect, test } from 'vitest';
import { autoTopUpWorkflowId, balanceDropped, standing } from '../../../workflows/wallet/auto-top-up.messages.ts';
import { created, monthlyPlan, testPlatform } from '../../support/billing.ts';
import { advanceClock } from '../../support/clock.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { fillingWallets, later, start } from './auto-top-up.fixture.ts';

const platform = await testPlatform();
const { api, temporal } = platform;
const { read, filled, addCard, debit, standingOf, balanceOf, attemptsOf, becomes, put } = fillingWallets(platform);
const handleOf = (walletId: string) => temporal.client.workflow.getHandle(autoTopUpWorkflowId(walletId));

/** First line of what Temporal's page of the workflow shows of where it stands. */
async function pageOf(walletId: string): Promise<string> {
  const { currentDetails } = await handleOf(walletId).query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return currentDetails;
}

/** Names of the signals that the workflow of a wallet got, over all of its runs. */
async function signalsOf(walletId: string): Promise<string[]> {
  const names: string[] = [];
  for (let runId: string | null | undefined; runId !== null; ) {
    const handle = temporal.client.workflow.getHandle(autoTopUpWorkflowId(walletId), runId);
    const { events = [] } = await handle.fetchHistory();
    names.push(...(events ?? []).flatMap((event) => event.workflowExecutionSignaledEventAttributes?.signalName ?? []));
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || null;
  }
  return names;
}

test('a wallet is charged once when its balance falls, and waits for an hour, which its workflow shows', async () => {
  const { walletId, clockId } = await filled({}, 'succeeds');
  expect(await standingOf(walletId)).toMatchObject({ state: 'blocked', reason: 'no_use' });
  await debit(walletId, '85');
  await becomes(walletId, { state: 'cooling', until: later(1), attempts_24h: 1, month_amount: '50' });
  expect(await balanceOf(walletId)).toBe('65');
  const [attempt] = await attemptsOf(walletId);
  expect(attempt).toMatchObject({ number: 1, credits: '50', amount: '50', outcome: 'succeeded', opened_at: start });
  expect(await read(`/invoices/${attempt.invoice_id}`)).toMatchObject({
    billing_reason: 'WALLET_AUTO_TOPUP',
    payment_status: 'SUCCEEDED',
    metadata: { auto_topup: 'true' },
  });
  expect(await handleOf(walletId).query(standing)).toEqual({ state: 'cooling', reason: 'cooldown', until: later(1) });
  expect(await pageOf(walletId)).toContain(`cooling: cooldown until ${later(1)} · 1 attempts, 1 in 24 h`);
  // What its own step settled is no news to it.
  expect(await signalsOf(walletId)).toContain('balanceDropped');
  expect(await signalsOf(walletId)).not.toContain('paymentSettled');
  await debit(walletId, '60');
  await advanceClock(api, clockId, later(2));
  expect(await balanceOf(walletId)).toBe('55');
  expect((await attemptsOf(walletId)).length).toBe(2);
});

test('without an invoice the card is charged first, and its decline gives nothing', async () => {
  const good = await filled({ invoicing: false }, 'succeeds');
  await debit(good.walletId, '85');
  await becomes(good.walletId, { state: 'cooling' });
  expect(await balanceOf(good.walletId)).toBe('65');
  const bad = await filled({ invoicing: false }, 'declines');
  await debit(bad.walletId, '85');
  await becomes(bad.walletId, { state: 'backing_off', consecutive_declines: 1, until: later(1) });
  expect(await balanceOf(bad.walletId)).toBe('15');
});

test('finding 8: declines back off for one, two and four hours, and the fourth in a row pauses', async () => {
  const { walletId, clockId, customerId } = await filled({}, 'declines');
  await debit(walletId, '85');
  await becomes(walletId, { state: 'backing_off', until: later(1) });
  await advanceClock(api, clockId, later(40));
  expect(await standingOf(walletId)).toMatchObject({ state: 'paused', reason: 'declines', consecutive_declines: 4 });
  const attempts = (await attemptsOf(walletId)).toReversed();
  expect(attempts.map((each: Wire) => each.opened_at)).toEqual([0, 1, 3, 7].map(later));
  for (const { invoice_id } of attempts) {
    expect(await read(`/invoices/${invoice_id}`)).toMatchObject({ invoice_status: 'VOIDED' });
  }
  expect(await balanceOf(walletId)).toBe('15');
  await addCard(customerId, 'succeeds');
  await becomes(walletId, { state: 'cooling', consecutive_declines: 0 });
  expect(await balanceOf(walletId)).toBe('65');
});

test('auto-topup-storm: 50 looks in one second give one attempt', async () => {
  const { walletId } = await filled({}, 'succeeds');
  await debit(walletId, '99');
  await becomes(walletId, { state: 'cooling' });
  const workflow = handleOf(walletId);
  await Promise.all(Array.from({ length: 50 }, () => workflow.signal(balanceDropped, { at: start })));
  await workflow.query(standing);
  expect((await attemptsOf(walletId)).length).toBe(1);
});

test('finding 10: an invoice that nobody pays lapses after its days, and another waits an hour', async () => {
  const { walletId, clockId } = await filled({ invoice_lifetime_days: 2 });
  await debit(walletId, '85');
  await becomes(walletId, { state: 'awaiting_payment', until: later(48) });
  const [first] = await attemptsOf(walletId);
  await advanceClock(api, clockId, later(48.5));
  expect(await standingOf(walletId)).toMatchObject({ state: 'cooling', until: later(49) });
  expect(await read(`/invoices/${first.invoice_id}`)).toMatchObject({ invoice_status: 'VOIDED' });
  await advanceClock(api, clockId, later(50));
  expect((await attemptsOf(walletId)).map((each: Wire) => each.outcome)).toEqual([null, 'lapsed']);
});

test('auto-topup-unpaid: while an automatic invoice waits for its money there is no other, and paid it makes room for the next', async () => {
  const { walletId, clockId } = await filled();
  await debit(walletId, '85');
  await becomes(walletId, { state: 'awaiting_payment' });
  await debit(walletId, '10');
  await advanceClock(api, clockId, later(24));
  const [waiting, ...others] = await attemptsOf(walletId);
  expect([waiting.outcome, others]).toEqual([null, []]);
  const paid = await api('PUT', `/invoices/${waiting.invoice_id}/payment`, { payment_status: 'SUCCEEDED' });
  expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  expect(await balanceOf(walletId)).toBe('55');
  await debit(walletId, '50');
  await advanceClock(api, clockId, later(26));
  expect((await attemptsOf(walletId)).map((each: Wire) => each.outcome)).toEqual([null, 'succeeded']);
});

test('finding 3: losing the card blocks, and gives no credits', async () => {
  const { walletId, customerId } = await filled({ invoicing: false }, 'succeeds');
  const { items } = await read(`/customers/${customerId}/payment-methods`);
  await api('DELETE', `/customers/${customerId}/payment-methods/${items[0].id}`);
  await debit(walletId, '85');
  await becomes(walletId, { state: 'blocked', reason: 'no_method' });
  expect(await balanceOf(walletId)).toBe('15');
});

test('finding 9: switching off and on forgets no pause', async () => {
  const { walletId, clockId } = await filled({}, 'declines');
  await debit(walletId, '85');
  await becomes(walletId, { state: 'backing_off' });
  await advanceClock(api, clockId, later(10));
  const switched = (enabled: boolean) => put(walletId, { auto_topup: { enabled } });
  expect((await switched(false)).body.auto_topup_standing).toMatchObject({ state: 'disabled' });
  expect((await switched(true)).body.auto_topup_standing).toMatchObject({ state: 'paused', reason: 'declines' });
  const resumed = await api<Wire>('POST', `/wallets/${walletId}/auto-topup/resume`, {});
  expect(resumed.status, JSON.stringify(resumed.body)).toBe(200);
});

test('usage that no event of a balance tells of is seen: a subscription uses credits up, and one charge covers it', async () => {
  const { walletId, customerId, clockId, externalId } = await filled(
    { invoicing: false, cover_shortfall: true },
    'succeeds',
  );
  const plan = await monthlyPlan(api, { fee: '0', perCall: '1' });
  const subscription = { customer_id: customerId, plan_id: plan.planId, currency: 'usd', billing_period: 'MONTHLY' };
  await created(api, '/subscriptions', { ...subscription, start_date: start });
  await advanceClock(api, clockId, later(2));
  const event = { event_name: plan.eventName, external_customer_id: externalId, timestamp: later(1), properties: {} };
  const events = Array.from({ length: 190 }, (_, index) => ({ ...event, event_id: `${walletId}-${index}` }));
  expect((await api('POST', '/events/bulk', { events })).status).toBe(202);
  await becomes(walletId, { state: 'cooling' });
  // 100 credits less 190 used: three times 50 lift what is left above 20.
  expect((await attemptsOf(walletId)).map((each) => each.credits)).toEqual(['150']);
  expect(await balanceOf(walletId)).toBe('250');
});

test('decision 29: a changed minimum and a changed limit are looked at again', async () => {
  const { walletId, clockId } = await filled({}, 'succeeds');
  await api('PUT', '/settings/min_topup_amount_per_currency', { value: { usd: '60' } });
  await becomes(walletId, { state: 'blocked', reason: 'below_minimum' });
  await debit(walletId, '90');
  await api('PUT', '/settings/auto_topup_limits', { value: { monthly_amount: { usd: '49' } } });
  await api('PUT', '/settings/min_topup_amount_per_currency', { value: { usd: '1' } });
  await becomes(walletId, { state: 'limited', reason: 'monthly_amount', until: '2026-04-01T00:00:00.000Z' });
  await api('DELETE', '/settings/auto_topup_limits');
  await becomes(walletId, { state: 'cooling', month_limit: '10000' });
  expect(await balanceOf(walletId)).toBe('60');
  await advanceClock(api, clockId, later(2));
  expect(await standingOf(walletId)).toMatchObject({ state: 'armed' });
  await api('DELETE', '/settings/min_topup_amount_per_currency');
});

test('what people ask of a wallet that never filled itself is refused, and so is what is not under way', async () => {
  const { walletId } = await filled({}, 'succeeds');
  const post = (path: string, body: Wire = {}) => api<Wire>('POST', `/wallets/${walletId}/auto-topup/${path}`, body);
  for (const answer of [await post('resume'), await post('resume', { give_up: true })]) {
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  }
  expect(await post('retry')).toMatchObject({ status: 200, body: { auto_topup_standing: { state: 'blocked' } } });
  const { id } = await created(api, '/customers', { external_id: 'never', name: 'Never' });
  const { id: plain } = await created(api, '/wallets', { customer_id: id, currency: 'usd' });
  expect(await read(`/wallets/${plain}`)).toMatchObject({ auto_topup: null, auto_topup_standing: null });
  for (const path of ['retry', 'resume']) {
    expect(await api('POST', `/wallets/${plain}/auto-topup/${path}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation', message: expect.stringContaining('never had automatic top-ups') },
    });
    expect((await api('POST', `/wallets/wallet_none/auto-topup/${path}`)).status).toBe(404);
  }
  expect((await api('GET', '/wallets/wallet_none/auto-topup/attempts')).status).toBe(404);
});
