import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { connectTemporal } from '../../../api/temporal.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { poll } from '../../../dev/processes.ts';
import { createPrice } from '../../../services/catalogue/price/price.ts';
import { cancelPriceSync, priceSyncWorkflowId, progress } from '../../../workflows/catalogue/price-sync.messages.ts';
import { retry } from '../../../workflows/lifecycle.messages.ts';
import { testApp } from '../../support/app.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  eventsOf,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';
import { locksAreAwaited } from '../../support/locks/awaited-locks.ts';
import { priceSyncs } from './price-sync.fixture.ts';

const { api, base, temporal } = await testPlatform();
const { asOwner, begin, ended, hold, lineItems, sync, usagePrice } = priceSyncs(api, base.ownerUrl);
const nowhere = connectTemporal({ address: '127.0.0.1:1', namespace: temporal.namespace });
const withoutTemporal = await testApp(base, { ...temporal, client: nowhere.client });
const frozenTime = '2026-01-15T00:00:00Z';

async function subscriber(planId: string, terms: Record<string, unknown> = {}) {
  const customer = await clockedCustomer(api, { frozenTime });
  const subscription = await subscribe(api, { customer_id: customer.customerId, plan_id: planId, ...terms });
  return { ...customer, ...subscription };
}

const runningSync = (planId: string) => temporal.client.workflow.getHandle(priceSyncWorkflowId(planId));

test('an added usage price reaches the subscriptions of its plan, once', async () => {
  const plan = await monthlyPlan(api);
  const active = await subscriber(plan.planId);
  const trialing = await subscriber(plan.planId, { trial_period_days: 14 });
  const incomplete = await subscriber(plan.planId);
  const draft = await subscriber(plan.planId);
  const paused = await subscriber(plan.planId);
  const cancelled = await subscriber(plan.planId);
  await api('POST', `/subscriptions/${cancelled.id}/cancel`, { cancellation_type: 'immediate' });
  const setStatus = (id: string, status: string) =>
    asOwner('update subscription set subscription_status = $2 where id = $1', [id, status]);
  const former = [draft, paused, incomplete];
  for (const [index, { id }] of former.entries()) await setStatus(id, ['draft', 'paused', 'incomplete'][index]!);
  const added = await usagePrice(plan);
  const fixed = await usagePrice(plan, { type: 'FIXED', invoice_cadence: 'ADVANCE', meter_id: undefined });
  const inEuro = await usagePrice(plan, { currency: 'eur' });
  const quarterly = await usagePrice(plan, { billing_period: 'QUARTERLY' });

  expect(await sync(plan.planId)).toMatchObject({
    sync_status: 'completed',
    subscriptions_found: 4,
    subscriptions_synced: 4,
    line_items_found_for_creation: 4,
    line_items_created: 4,
    line_items_terminated: 0,
    failures: [],
  });
  for (const { id } of [active, trialing, incomplete, draft]) expect(await lineItems(id, added)).toHaveLength(1);
  for (const { id } of [paused, cancelled]) expect(await lineItems(id, added)).toEqual([]);
  for (const price of [fixed, inEuro, quarterly]) expect(await lineItems(active.id, price)).toEqual([]);
  expect((await subscriptionOf(api, active.id)).version).toBe(active.version + 1);
  expect((await eventsOf(api, active.id)).at(-1)).toBe('subscription.updated');

  expect(await sync(plan.planId)).toMatchObject({ subscriptions_found: 0, line_items_created: 0 });
  for (const { id } of former) await setStatus(id, 'active');
  await sync(plan.planId);
  expect(await lineItems(paused.id, added)).toHaveLength(1);
  expect(await lineItems(active.id, added)).toHaveLength(1);
});

test('a superseded price bills until its end, its successor from there, each its own part of the period', async () => {
  const plan = await monthlyPlan(api, { fee: '0' });
  const { id, clockId, externalId } = await subscriber(plan.planId);
  const [old] = await asOwner<{ id: string }>(`select id from price where entity_id = $1 and type = 'USAGE'`, [
    plan.planId,
  ]);
  const successor = await api<{ id: string }>('PUT', `/prices/${old!.id}`, {
    amount: '1',
    effective_from: '2026-02-01T00:00:00Z',
  });
  const run = await sync(plan.planId);
  expect(run).toMatchObject({ line_items_created: 1, line_items_terminated: 1 });
  expect(await lineItems(id, old!.id)).toMatchObject([{ end_date: new Date('2026-02-01T00:00:00Z') }]);
  expect(await lineItems(id, successor.body.id)).toMatchObject([
    { start_date: new Date('2026-02-01T00:00:00Z'), end_date: null },
  ]);
  const events = ['2026-01-20T00:00:00Z', '2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z'].map((timestamp) => ({
    event_id: randomUUID(),
    event_name: plan.eventName,
    external_customer_id: externalId,
    timestamp,
  }));
  await created(api, '/events/bulk', { events });
  await advanceTo(api, clockId, '2026-02-15T03:00:00Z');
  const invoice = (await invoicesOf(api, id)).at(-1);
  expect(invoice?.line_items.filter((line) => line.display_name === 'Calls').map((line) => line.amount)).toEqual([
    '0.2',
    '1',
  ]);
});

test('a price that ended is not brought to who came later, and one that will end carries its end', async () => {
  const plan = await monthlyPlan(api);
  const { id } = await subscriber(plan.planId);
  const over = await usagePrice(plan, { end_date: '2026-01-01T00:00:00Z' });
  const ending = await usagePrice(plan, { end_date: '2026-06-01T00:00:00Z' });
  expect(await sync(plan.planId)).toMatchObject({ line_items_created: 1 });
  expect(await lineItems(id, over)).toEqual([]);
  expect(await lineItems(id, ending)).toMatchObject([{ end_date: new Date('2026-06-01T00:00:00Z') }]);
});

test('a subscription with a price of its own keeps it, whatever becomes of the one it replaces', async () => {
  const plan = await monthlyPlan(api);
  const [own, other] = [await subscriber(plan.planId), await subscriber(plan.planId)];
  const root = await usagePrice(plan);
  const override = await usagePrice(plan, { entity_type: 'SUBSCRIPTION', entity_id: own.id });
  await asOwner('update price set parent_price_id = $2 where id = $1', [override, root]);
  const { body: successor } = await api<{ id: string }>('PUT', `/prices/${root}`, { amount: '9' });
  await sync(plan.planId);
  for (const price of [root, successor.id]) expect(await lineItems(own.id, price)).toEqual([]);
  expect(await lineItems(other.id, successor.id)).toHaveLength(1);
});

test('one subscription that fails is named and stops no other; the next run tries it again', async () => {
  const plan = await monthlyPlan(api);
  const [bad, good] = [await subscriber(plan.planId), await subscriber(plan.planId)];
  const added = await usagePrice(plan);
  const constraint = `alter table subscription_line_item add constraint none_for_one check (subscription_id <> '${bad.id}') not valid`;
  await asOwner(constraint);
  const failing = await sync(plan.planId);
  await asOwner('alter table subscription_line_item drop constraint none_for_one');
  expect(failing).toMatchObject({
    sync_status: 'completed',
    subscriptions_synced: 1,
    subscriptions_failed: 1,
    line_items_found_for_creation: 2,
    line_items_created: 1,
    failures: [{ subscription_id: bad.id, reason: expect.stringContaining('none_for_one') }],
  });
  expect(await lineItems(good.id, added)).toHaveLength(1);
  expect(await sync(plan.planId)).toMatchObject({ subscriptions_found: 1, line_items_created: 1 });
  expect(await lineItems(bad.id, added)).toHaveLength(1);
});

test('one run of a plan at a time, which shows how far it is', async () => {
  const plan = await monthlyPlan(api);
  const { id } = await subscriber(plan.planId);
  const added = await usagePrice(plan);
  const letGo = await hold('subscription', id);
  const path = `/plans/${plan.planId}/sync/subscriptions`;
  const first = await api('POST', path, undefined, { 'idempotency-key': 'one' });
  expect(first).toMatchObject({ status: 200, body: { workflow_id: `price-sync/${plan.planId}` } });
  const again = await api('POST', path, undefined, { 'idempotency-key': 'one' });
  expect(again.body).toEqual(first.body);
  for (const spelling of [path, `${path}/v2`]) {
    expect(await api('POST', spelling)).toMatchObject({ status: 409, body: { code: 'already_exists' } });
  }
  const standing = await poll(
    async () => (await runningSync(plan.planId).query(progress)).standing ?? undefined,
    20_000,
  );
  expect(standing).toMatchObject({ sync_status: 'running', subscriptions_found: 1, subscriptions_synced: 0 });
  await letGo();
  expect(await ended(plan.planId)).toMatchObject({ sync_status: 'completed', line_items_created: 1 });
  expect(await lineItems(id, added)).toHaveLength(1);
});

test('a run can be stopped, and another goes on with what is left', async () => {
  const plan = await monthlyPlan(api);
  const { id } = await subscriber(plan.planId);
  const added = await usagePrice(plan);
  const letGo = await hold('plan', plan.planId);
  await begin(plan.planId);
  const stopping = await runningSync(plan.planId).startUpdate(cancelPriceSync, { waitForStage: 'ACCEPTED' });
  await letGo();
  expect(await stopping.result()).toMatchObject({ sync_status: 'cancelled', subscriptions_synced: 0 });
  expect(await lineItems(id, added)).toEqual([]);
  expect(await sync(plan.planId)).toMatchObject({ sync_status: 'completed', line_items_created: 1 });
});

test('a subscription that begins during a sync has every price once', async () => {
  const plan = await monthlyPlan(api);
  const { id } = await subscriber(plan.planId);
  const before = await usagePrice(plan);
  const letGo = await hold('subscription', id);
  await begin(plan.planId);
  const during = await usagePrice(plan);
  const late = await subscriber(plan.planId);
  await letGo();
  await ended(plan.planId);
  await sync(plan.planId);
  for (const price of [before, during])
    for (const who of [id, late.id]) expect(await lineItems(who, price)).toHaveLength(1);
});

test('a price that is committed after one with a higher sequence is missed by nobody', async () => {
  const plan = await monthlyPlan(api);
  const { id } = await subscriber(plan.planId);
  const customer = await clockedCustomer(api, { frozenTime });
  const price = {
    entityType: 'PLAN',
    entityId: plan.planId,
    type: 'USAGE',
    billingModel: 'FLAT_FEE',
    billingPeriod: 'MONTHLY',
    invoiceCadence: 'ARREAR',
    currency: 'usd',
    amount: '1',
    meterId: plan.meterId,
    startDate: '2020-01-01T00:00:00.000Z',
  } as const;
  const others: Promise<{ id: string }>[] = [];
  const slow = await inTransaction(base.database, base.scope, async (tx) => {
    const made = await createPrice(tx, price);
    others.push(
      inTransaction(base.database, base.scope, (other) => createPrice(other, price)),
      subscribe(api, { customer_id: customer.customerId, plan_id: plan.planId }),
    );
    // If nothing made them wait they would end now, before this one.
    await Promise.race([Promise.all(others), locksAreAwaited(base, 2)]);
    return made;
  });
  const [fast, late] = await Promise.all(others);
  await sync(plan.planId);
  for (const priceId of [slow.id, fast!.id])
    for (const who of [id, late!.id]) expect(await lineItems(who, priceId)).toHaveLength(1);
});

test('a run that cannot go on says why and goes on with retry', async () => {
  const plan = await monthlyPlan(api);
  const { id } = await subscriber(plan.planId);
  const added = await usagePrice(plan);
  await asOwner('alter table price_sync rename to price_sync_away');
  try {
    await begin(plan.planId);
    const reason = await poll(
      async () => (await runningSync(plan.planId).query(progress)).blockedOn ?? undefined,
      45_000,
    );
    expect(reason).toContain('price_sync');
  } finally {
    await asOwner('alter table price_sync_away rename to price_sync');
  }
  const parked = await runningSync(plan.planId).describe();
  expect(parked.typedSearchAttributes.getAll().map(({ value }) => value)).toContain('syncPrices');
  await runningSync(plan.planId).executeUpdate(retry);
  expect(await runningSync(plan.planId).result()).toMatchObject({ sync_status: 'completed', line_items_created: 1 });
  expect(await lineItems(id, added)).toHaveLength(1);
});

test('an unknown plan is 404, and without Temporal a sync is 503', async () => {
  expect(await api('POST', '/plans/plan_unknown/sync/subscriptions')).toMatchObject({ status: 404 });
  const plan = await monthlyPlan(api);
  expect(await api('GET', `/plans/${plan.planId}/sync/subscriptions`)).toMatchObject({ status: 404 });
  expect(await withoutTemporal.api('POST', `/plans/${plan.planId}/sync/subscriptions`)).toMatchObject({
    status: 503,
    body: { code: 'service_unavailable' },
  });
});
