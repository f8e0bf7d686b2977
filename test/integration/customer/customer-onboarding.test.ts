import { describe, expect, it } from 'vitest';
import { reconcile } from '../../../activities/check/reconcile.ts';
import { createCustomerOnboardingActivities } from '../../../activities/customer/customer-onboarding.ts';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { planOnboarding } from '../../../services/across/customer-onboarding.ts';
import { createCustomer } from '../../../services/customer/customer.ts';
import { customerOnboardingWorkflowId } from '../../../workflows/customer/customer-onboarding.messages.ts';
import { created, monthlyPlan, testPlatform } from '../../support/billing.ts';

const { api, base, temporal } = await testPlatform();
const { database, scope } = base;

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;
const settle = (value: Record<string, unknown>) => api<Wire>('PUT', '/settings/customer_onboarding', { value });

let count = 0;
async function customer(fields: Record<string, unknown> = {}): Promise<string> {
  count += 1;
  return (await created(api, '/customers', { external_id: `new-${count}`, name: 'Customer', ...fields })).id;
}

const workflowOf = (customerId: string) => temporal.client.workflow.getHandle(customerOnboardingWorkflowId(customerId));
const walletsOf = async (customerId: string) => (await api<Wire>('GET', `/customers/${customerId}/wallets`)).body;
const subscriptionsOf = async (customerId: string) =>
  (await api<Wire>('POST', '/subscriptions/search', { customer_id: customerId })).body.items;
const onboardingOf = async (customerId: string) =>
  (
    await inSqlTransaction(database, scope, (tx) =>
      tx.rows('select * from customer_onboarding where customer_id = $1', [customerId]),
    )
  )[0] as Wire;

const wallet = {
  action: 'create_wallet',
  currency: 'USD',
  initial_credits_to_load: '25',
  initial_credits_expiration_duration: 1,
  initial_credits_expiration_duration_unit: 'YEAR',
};

describe('a new customer', () => {
  it('gets what is configured, in order, without waiting for it', async () => {
    const { planId } = await monthlyPlan(api);
    const actions = [wallet, { action: 'create_subscription', plan_id: planId }];
    expect((await settle({ actions })).status).toBe(200);
    const id = await customer();
    await workflowOf(id).result();
    const [opened] = await walletsOf(id);
    expect(opened).toMatchObject({ currency: 'usd', credit_balance: '25' });
    const { body } = await api<Wire>('GET', `/wallets/${opened.id}/transactions`);
    expect(body.items).toMatchObject([{ transaction_reason: 'FREE_CREDIT_GRANT', expiry_date: expect.any(String) }]);
    const [subscription] = await subscriptionsOf(id);
    expect(subscription).toMatchObject({ plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' });
    expect(await onboardingOf(id)).toMatchObject({
      onboarding_status: 'completed',
      results: [
        { action: 'create_wallet', objectId: opened.id },
        { action: 'create_subscription', objectId: subscription.id },
      ],
    });
  });

  it('on a test clock is subscribed at the time of the clock', async () => {
    const clock = await created(api, '/test-clocks', { frozen_time: '2026-03-10T00:00:00Z' });
    const id = await customer({ test_clock_id: clock.id });
    await workflowOf(id).result();
    expect(await subscriptionsOf(id)).toMatchObject([{ start_date: '2026-03-10T00:00:00.000Z' }]);
  });

  it('gets the named workflow instead, and nothing when its maker skips it', async () => {
    await settle({ custom_workflows: { trial: { actions: [{ ...wallet, currency: 'eur' }] } } });
    const id = await customer({ onboarding_workflow_name: 'trial' });
    await workflowOf(id).result();
    expect(await walletsOf(id)).toMatchObject([{ currency: 'eur' }]);
    expect(await subscriptionsOf(id)).toEqual([]);
    const skipped = await customer({ skip_onboarding_workflow: true });
    expect(await onboardingOf(skipped)).toBeUndefined();
  });

  it('is not made when it names a workflow nobody configured', async () => {
    const body = { external_id: 'refused', name: 'Customer', onboarding_workflow_name: 'unknown' };
    const answer = await api<Wire>('POST', '/customers', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain('onboarding_workflow_name');
    expect((await api('GET', '/customers/external/refused')).status).toBe(404);
  });

  it('stays when an action is refused; the workflow fails with the reason and does nothing after it', async () => {
    await settle({
      actions: [
        { action: 'create_subscription', plan_id: 'plan_gone', currency: 'usd', billing_period: 'MONTHLY' },
        wallet,
      ],
    });
    const id = await customer();
    await expect(workflowOf(id).result()).rejects.toThrow();
    expect(await onboardingOf(id)).toMatchObject({
      onboarding_status: 'failed',
      failure_reason: expect.stringMatching(/^actions\[0\] create_subscription: .*plan_gone/),
      results: [],
    });
    expect(await walletsOf(id)).toEqual([]);
    expect((await api('GET', `/customers/${id}`)).status).toBe(200);
  });

  it('is onboarded by reconcile when nothing was started, and twice does nothing twice', async () => {
    await settle({ actions: [wallet] });
    const { id, onboardingId } = await inTransaction(database, scope, async (tx) => {
      const { id } = await createCustomer(tx, { externalId: 'left', name: 'Left behind' });
      return { id, onboardingId: await planOnboarding(tx, id, { skip: false, workflowName: null }) };
    });
    await reconcile({ database, temporal: temporal.client });
    await workflowOf(id).result();
    expect(await walletsOf(id)).toHaveLength(1);
    const activities = createCustomerOnboardingActivities({ database, temporal: temporal.client });
    const { tenantId, environmentId } = scope;
    await activities.onboardWallet({ tenantId, environmentId, customerId: id, onboardingId: onboardingId!, index: 0 });
    expect(await walletsOf(id)).toMatchObject([{ credit_balance: '25' }]);
  });
});

describe('the setting customer_onboarding', () => {
  it.each([
    [{ actions: [{ action: 'fly' }] }, 400, 'actions'],
    [{ actions: [wallet, { action: 'create_wallet' }] }, 400, '1'],
    [{ actions: [{ action: 'create_subscription' }] }, 400, 'plan_id'],
    [
      { actions: [{ ...wallet, initial_credits_expiration_duration_unit: undefined }] },
      400,
      'initial_credits_expiration_duration',
    ],
    [{ custom_workflows: { empty: { actions: [] } } }, 400, 'custom_workflows'],
    [{ actions: [{ action: 'create_customer' }] }, 501, 'create_customer'],
  ])('refuses %j', async (value, status, named) => {
    const answer = await settle(value);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(named);
  });
});
