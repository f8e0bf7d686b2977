import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';

const { api, base } = await testPlatform({ plansAsInstalled: true });

/** PostgreSQL plans a prepared statement for its parameters five times before it thinks of keeping one plan. */
const plannedAtFirst = 8;

test('what runs with every step of a life is planned a few times, and not again with each step', async () => {
  const { planId } = await monthlyPlan(api);
  const { id: clockId } = await created(api, '/test-clocks', { frozen_time: '2026-01-15T00:00:00Z' });
  for (let made = 0; made < 25; made += 1) {
    const card = sandboxCardNumber('succeeds');
    const { customerId } = await clockedCustomer(api, { frozenTime: '', clockId, card });
    await subscribe(api, { customer_id: customerId, plan_id: planId });
  }
  await advanceTo(api, clockId, '2026-02-15T03:00:00Z');
  const { pool } = base.database;
  const connections = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()));
  const statements = await Promise.all(
    connections.map((connection) =>
      connection.query<{ name: string; custom: number; generic: number }>(
        'select name, custom_plans::int as custom, generic_plans::int as generic from pg_prepared_statements',
      ),
    ),
  ).finally(() => {
    for (const connection of connections) connection.release();
  });
  const all = statements.flatMap(({ rows }) => rows);
  expect(all.some(({ generic }) => generic > 0)).toBe(true);
  expect(all.filter(({ custom, generic }) => custom > plannedAtFirst && generic === 0)).toEqual([]);
});
