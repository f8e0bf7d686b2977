import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { clockedCustomer, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { locksAreAwaited } from '../../support/locks/awaited-locks.ts';
import { holdLock } from '../../support/locks/held-lock.ts';

const { api, base, workers } = await testPlatform();
const plan = await monthlyPlan(api);

/** New subscriptions whose first invoice is not paid, in the order in which a change of the settings locks them. */
async function latePayers(count: number): Promise<string[]> {
  const late = Array.from({ length: count }, async () => {
    const { customerId } = await clockedCustomer(api, {
      frozenTime: '2026-04-01T00:00:00Z',
      card: sandboxCardNumber('declines'),
    });
    return (await subscribe(api, { customer_id: customerId, plan_id: plan.planId })).id;
  });
  return (await Promise.all(late)).sort();
}

const [first, second, third] = await latePayers(3);
// Without workers, only the tests below wait for locks.
await workers.stop();

const key = { 'idempotency-key': 'after-the-last-attempt' };
const subscriptionLock = 'select from subscription where id = $1 for update';

const setAfterLastAttempt = (after_last_attempt: string, headers = {}) =>
  api('PUT', '/settings/dunning_config', { value: { retry_after_days: [1, 3], after_last_attempt } }, headers);

const afterLastAttempt = async () =>
  (await api<{ value: { after_last_attempt: string } }>('GET', '/settings/dunning_config')).body.value
    .after_last_attempt;

test('a change of the settings and a step that lock subscriptions in another order both go on', async () => {
  const step = await holdLock(base, subscriptionLock, [third]);
  const other = await holdLock(base, subscriptionLock, [second]);
  try {
    const changing = setAfterLastAttempt('pause');
    // It has locked the first and waits for the second.
    expect(await locksAreAwaited(base)).toBe(true);
    const stepGoesOn = step.query(subscriptionLock, [first]);
    expect(await locksAreAwaited(base, 2)).toBe(true);
    await other.end();
    await stepGoesOn;
    await step.query('commit');
    expect((await changing).status).toBe(200);
    expect(await afterLastAttempt()).toBe('pause');
  } finally {
    await Promise.all([other.end(), step.end()]);
  }
});

test('a change that PostgreSQL undid for another one is answered 503, and takes effect when it is sent again', async () => {
  // The answer to a request with a key is kept after all else.
  const step = await holdLock(base, 'lock table idempotent_request in share mode');
  const other = await holdLock(base, subscriptionLock, [second]);
  try {
    const changing = setAfterLastAttempt('cancel', key);
    expect(await locksAreAwaited(base)).toBe(true);
    const stepGoesOn = step.query(subscriptionLock, [first]);
    expect(await locksAreAwaited(base, 2)).toBe(true);
    await other.end();
    await stepGoesOn;
    await step.query('rollback');
    expect(await changing).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    expect(await afterLastAttempt()).toBe('pause');
    expect((await setAfterLastAttempt('cancel', key)).status).toBe(200);
    expect(await afterLastAttempt()).toBe('cancel');
  } finally {
    await Promise.all([other.end(), step.end()]);
  }
});
