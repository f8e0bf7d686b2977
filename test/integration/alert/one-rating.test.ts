import { afterAll, expect, test } from 'vitest';
import { usageEvaluator } from '../../../activities/usage-rules.ts';
import { openDatabase } from '../../../db/orm.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { usageReader } from '../../../metering/usage-reader.ts';
import { advanceTo, created, testPlatform } from '../../support/billing.ts';
import { grantFixture, hours } from '../wallet/grant.fixture.ts';
import { alertFixture } from './alert.fixture.ts';

const platform = await testPlatform();
const { api, base, temporal } = platform;
const { setting, enable, wallet, logged, told, watched } = alertFixture(platform);
const { metered, grant, subscribed, use } = grantFixture(api);

/** The rules of the product on one connection, which tells how often its kept statements were carried out. */
const single = await openDatabase({ url: base.applicationUrl, poolSize: 1 });
const metering = openPostgresUsageStore(single);
afterAll(async () => {
  await metering.close();
  await single.close();
});

async function readings(): Promise<number> {
  const { rows } = await single.pool.query<{ count: number }>(
    `select coalesce(sum(generic_plans + custom_plans), 0)::int as count from pg_prepared_statements where name = 'usage-read'`,
  );
  return rows[0]!.count;
}

test('finding 57: usage is read once a look, for budgets, balances, spending, top-ups and thresholds together', async () => {
  await enable('subscription_alert_config');
  await enable('entitlement_alert_config');
  const [on, other] = [await metered(), await metered()];
  await created(api, '/prices', {
    plan_id: on.planId,
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    currency: 'usd',
    amount: '1',
    meter_id: other.meterId,
    start_date: '2020-01-01T00:00:00Z',
  });
  await grant(on, hours('10'));
  const customer = await subscribed(on, { auto_invoice_threshold: '60' });
  const method = { card_number: sandboxCardNumber('succeeds'), set_default: true };
  await created(api, `/customers/${customer.customerId}/payment-methods`, method);
  const { id } = await wallet(customer.customerId, {
    initial_credits_to_load: '100',
    alert_settings: { alert_enabled: true, critical: { threshold: '70' } },
    auto_topup: { enabled: true, threshold: 20, amount: 50, invoicing: true },
  });
  await setting({ entity_type: 'subscription', entity_id: customer.id }, { critical: { threshold: '40' } });
  // 5 units over the budget cost 10, and the others 30: 60 of 100 are left.
  await use(on, customer.externalId, ['04-02T00:00:00', 15]);
  await use(other, customer.externalId, ['04-02T01:00:00', 30]);
  await advanceTo(api, customer.clockId, '2026-04-03T00:00:00Z');

  const readUsage = usageReader(metering);
  const failures: unknown[] = [];
  const onFailure = (_customerId: string, error: unknown) => failures.push(error);
  const evaluator = usageEvaluator({ database: single, readUsage, temporal: temporal.client, onFailure });
  const before = await readings();
  const answers = await evaluator.evaluate(base.scope, [customer.customerId]);
  expect((await readings()) - before).toBe(1);
  // A budget, two alarms that rang, the rest until the wallet is low, and that until the threshold of 60.
  const { customerId } = customer;
  const [, ...ofRules] = answers;
  expect(failures).toEqual([]);
  expect(ofRules).toEqual(['0', null, null, '40', '20'].map((headroom) => ({ customerId, headroom })));

  expect(await logged(id, 'low_ongoing_balance')).toEqual([['in_alarm', '60']]);
  expect(await told(customer.id, 'subscription.spend.threshold_reached')).toMatchObject([{ current_spend: '40' }]);
  const exhausted = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows('select usage::text from entitlement_grant where subscription_id = $1', [customer.id]),
  );
  expect(exhausted).toEqual([{ usage: '15' }]);
});

test('spending has the fee that a period pays in advance, and none while a trial lasts', async () => {
  await enable('subscription_alert_config');
  const on = await metered();
  await created(api, '/prices', {
    plan_id: on.planId,
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ADVANCE',
    currency: 'usd',
    amount: '35',
    display_name: 'Base',
    start_date: '2020-01-01T00:00:00Z',
  });
  const customer = await subscribed(on, { trial_period_days: 10 });
  await setting({ entity_type: 'subscription', entity_id: customer.id }, { critical: { threshold: '40' } });
  const spends = async () =>
    (await told(customer.id, 'subscription.spend.threshold_reached')).map(({ current_spend }) => current_spend);
  await use(on, customer.externalId, ['04-02T00:00:00', 10]);
  await advanceTo(api, customer.clockId, '2026-04-10T00:00:00Z');
  await watched();
  expect(await spends()).toEqual([]);
  await use(on, customer.externalId, ['04-12T00:00:00', 2]);
  await advanceTo(api, customer.clockId, '2026-04-13T00:00:00Z');
  await watched();
  expect(await spends()).toEqual([]);
  await use(on, customer.externalId, ['04-14T00:00:00', 1]);
  await advanceTo(api, customer.clockId, '2026-04-15T00:00:00Z');
  await watched();
  expect(await spends()).toEqual(['41']);
});
