import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { reconcile } from '../../../activities/check/reconcile.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { waitingFor } from '../../../workflows/lifecycle.messages.ts';
import { subscriptionWorkflowId } from '../../../workflows/subscription/subscription.messages.ts';
import { advanceTo, clockedCustomer, invoicesOf, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';

const platform = await testPlatform();
const { api, base, temporal } = platform;
const card = sandboxCardNumber('succeeds');
const { planId } = await monthlyPlan(api);
const owner = new pg.Client({ connectionString: base.ownerUrl });
await owner.connect();
afterAll(() => owner.end());

interface RunView {
  due: Section;
  waiting: Section;
  parked: Section;
  done: Section;
}
interface Section {
  total: number;
  items: { object_id: string; step: string; reason: string | null }[];
}

async function billingRun(at: string): Promise<RunView> {
  return (await api<RunView>('GET', `/billing-run?at=${at}&limit=1000`)).body;
}

/** Makes every new invoice of one subscription fail, as a bug would. */
async function breakInvoicesOf(subscriptionId: string): Promise<() => Promise<void>> {
  const name = `broken_${subscriptionId.toLowerCase()}`;
  await owner.query(`create function ${name}() returns trigger language plpgsql as $$ begin
    if new.subscription_id = '${subscriptionId}' then raise exception 'the ledger is bewitched'; end if; return new; end $$`);
  await owner.query(`create trigger ${name} before insert on invoice for each row execute function ${name}()`);
  return async () => {
    await owner.query(`drop trigger ${name} on invoice`);
  };
}

test('an object that cannot go on is parked with its reason, holds nobody up, and goes on after a retry', {
  timeout: 120_000,
}, async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const other = await clockedCustomer(api, { frozenTime: '', clockId, card });
  const stuck = await subscribe(api, { customer_id: customerId, plan_id: planId });
  const healthy = await subscribe(api, { customer_id: other.customerId, plan_id: planId });
  const mend = await breakInvoicesOf(stuck.id);

  await advanceTo(api, clockId, '2026-03-01T03:00:00Z');
  expect(await invoicesOf(api, healthy.id)).toHaveLength(3);
  expect(await invoicesOf(api, stuck.id)).toHaveLength(1);
  const run = await billingRun('2026-03-01T03:00:00Z');
  expect(run.parked.items).toEqual([
    expect.objectContaining({ object_id: stuck.id, step: 'closePeriod', reason: expect.stringContaining('bewitched') }),
  ]);
  expect(await temporal.client.workflow.getHandle(subscriptionWorkflowId(stuck.id)).query(waitingFor)).toMatchObject({
    blockedOn: 'closePeriod',
  });

  await mend();
  const retried = await api('POST', `/billing-run/subscription/${stuck.id}/retry`);
  expect(retried).toMatchObject({ status: 200, body: { step: 'closePeriod' } });
  await advanceTo(api, clockId, '2026-03-01T04:00:00Z');
  expect(
    (await invoicesOf(api, stuck.id)).map((invoice) => [invoice.billing_sequence, invoice.payment_status]),
  ).toEqual([
    [1, 'SUCCEEDED'],
    [2, 'SUCCEEDED'],
    [3, 'SUCCEEDED'],
  ]);
  expect((await billingRun('2026-03-01T04:00:00Z')).parked.total).toBe(0);
});

test('User Metadata of the Temporal UI tells what is to come and what was done, by runs before too', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  const workflow = temporal.client.workflow.getHandle(subscriptionWorkflowId(id));
  const { runId: firstRun } = await workflow.describe();
  const told = async () => {
    const { currentDetails } = await workflow.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    const [identity, standing, ...lists] = currentDetails.replace(/pay_\w+/, 'pay_…').split('\n\n');
    return { identity, standing, lists };
  };

  await advanceTo(api, clockId, '2026-02-01T03:00:00Z');
  await advanceTo(api, clockId, '2026-03-01T03:00:00Z');
  const invoices = await invoicesOf(api, id);
  expect((await workflow.describe()).runId).not.toBe(firstRun);
  expect(await told()).toEqual({
    identity: `subscription ${id}, customer ${customerId}`,
    standing: expect.stringMatching(
      /^active · period 2026-03-01.* · next: noticeRenewal at 2026-03-31.* by its test clock$/,
    ),
    lists: [
      '**After that**',
      '- 2026-04-01T00:00:00.000Z closePeriod',
      '**Done, the last first**',
      [
        `- 2026-03-01T02:00:00.000Z finalizeInvoice ${invoices[2]?.id}`,
        '- 2026-03-01T00:00:00.000Z closePeriod',
        '- 2026-02-28T00:00:00.000Z noticeRenewal',
        `- 2026-02-01T02:00:00.000Z finalizeInvoice ${invoices[1]?.id}`,
        '- 2026-02-01T00:00:00.000Z closePeriod',
        '- 2026-01-31T00:00:00.000Z noticeRenewal',
        '- 2026-01-01T00:00:00.000Z chargePayment pay_…',
        '- 2026-01-01T00:00:00.000Z createSubscription',
      ].join('\n'),
    ],
  });

  await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' });
  expect((await told()).lists.at(-1)).toMatch(/^- 2026-03-01T03:00:00.000Z cancelSubscription\n/);
});

test('the billing run tells what is due, what waits and what was done', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2030-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  await advanceTo(api, clockId, '2030-01-01T00:00:01Z');
  const before = await billingRun('2030-01-31T23:59:59Z');
  const after = await billingRun('2030-02-01T00:00:00Z');
  const stepsOf = (section: Section) => section.items.filter((item) => item.object_id === id).map((item) => item.step);
  expect(stepsOf(before.due)).toEqual(['noticeRenewal']);
  expect(stepsOf(before.waiting)).toEqual(['closePeriod']);
  expect(stepsOf(after.due)).toEqual(['noticeRenewal', 'closePeriod']);
  expect(stepsOf((await billingRun('2030-01-01T01:00:00Z')).done)).toContain('created');
  // Without an instant, what lives on a test clock is judged by that clock.
  const { body: now } = await api<RunView>('GET', '/billing-run?limit=1000');
  expect([stepsOf(now.due), stepsOf(now.waiting)]).toEqual([[], ['noticeRenewal', 'closePeriod']]);
});

test('workflows that were lost are started again from their rows, and nothing is billed twice', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  await advanceTo(api, clockId, '2026-02-01T03:00:00Z');
  const workflow = temporal.client.workflow.getHandle(subscriptionWorkflowId(id));
  await workflow.terminate('lost with the storage');

  const { started } = await reconcile({ database: base.database, temporal: temporal.client });
  expect(started).toBeGreaterThan(0);
  expect((await workflow.describe()).status.name).toBe('RUNNING');
  await advanceTo(api, clockId, '2026-03-01T03:00:00Z');
  expect((await invoicesOf(api, id)).map((invoice) => invoice.billing_sequence)).toEqual([1, 2, 3]);
});

test('nothing is retried that is not parked', async () => {
  const answer = await api('POST', '/billing-run/subscription/subs_unknown/retry');
  expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
});
