import pg from 'pg';
import { afterAll, describe, expect, it, test } from 'vitest';
import { subscriptionWorkflowId } from '../../../workflows/subscription/subscription.messages.ts';
import { advanceTo, invoicesOf, testPlatform } from '../../support/billing.ts';
import { type BilledCustomer, billedCustomer, countCalls, firstDraft, type Wire } from '../invoice/invoice.fixture.ts';
import { hoursAfter } from '../subscription/preview/preview.fixture.ts';

const platform = await testPlatform();
const { api, base, temporal } = platform;
const owner = new pg.Client({ connectionString: base.ownerUrl });
await owner.connect();
afterAll(() => owner.end());

const trigger = (path: string) => api<Wire>('POST', `/subscriptions/temporal/${path}`);
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);

/** A customer whose subscription has done all that its creation brought. */
async function settledCustomer(): Promise<BilledCustomer> {
  const customer = await billedCustomer(platform, { subscription: { collection_method: 'send_invoice' } });
  await advanceTo(api, customer.clockId, '2026-01-15T00:00:01Z');
  return customer;
}

/** Time passes while the workflow of a subscription is lost: what falls due in it is done by nobody. */
async function lostUntil({ clockId, subscriptionId }: BilledCustomer, instant: string): Promise<void> {
  await temporal.client.workflow.getHandle(subscriptionWorkflowId(subscriptionId)).terminate('lost with the storage');
  await owner.query('update test_clock set frozen_time = $2 where id = $1', [clockId, instant]);
}

/** Returns when the feed has told of the second invoice of a subscription, which is in a status by then. */
async function secondInvoice(
  { subscriptionId, clockId }: BilledCustomer,
  after: string,
  status: string,
): Promise<void> {
  for (let position = after; ; ) {
    const { body } = await api<Wire>('GET', `/outbound-events?limit=1000&wait=30&after=${position}`);
    const { rows } = await owner.query(
      'select 1 from invoice where subscription_id = $1 and billing_sequence = 2 and invoice_status = $2 and id = any($3)',
      [subscriptionId, status, body.items.map((event: Wire) => event.entity_id)],
    );
    if (rows.length > 0) break;
    position = body.next;
  }
  // What else was due is done as well when the clock has come further.
  await advanceTo(api, clockId, hoursAfter((await api<Wire>('GET', `/test-clocks/${clockId}`)).body.frozen_time, 0.01));
}

const feedEnd = async () => (await api<Wire>('GET', '/outbound-events?after=latest')).body.next as string;

describe('trigger-workflow', () => {
  it('starts a workflow that was lost, which does what is due', async () => {
    const customer = await settledCustomer();
    const { subscriptionId: id } = customer;
    await lostUntil(customer, '2026-02-15T00:00:00Z');
    const before = await feedEnd();
    const answer = await trigger(`${id}/trigger-workflow`);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        workflow_id: `subscription/${id}`,
        run_id: uuid,
        message: expect.stringContaining('closePeriod'),
      },
    });
    await secondInvoice(customer, before, 'DRAFT');
    expect(await invoicesOf(api, id)).toHaveLength(2);
  });

  it('says so when nothing is due', async () => {
    const { subscriptionId: id } = await settledCustomer();
    const { body } = await trigger(`${id}/trigger-workflow`);
    expect(body).toEqual({ workflow_id: `subscription/${id}`, run_id: uuid, message: 'nothing is due' });
  });

  it('refuses one that is parked, with what to do', async () => {
    const { subscriptionId: id } = await settledCustomer();
    await owner.query(
      `insert into parked_object (environment_id, tenant_id, object_type, object_id, step, reason, parked_at)
       select environment_id, tenant_id, 'subscription', id, 'closePeriod', 'bewitched', now() from subscription where id = $1`,
      [id],
    );
    const { status, body } = await trigger(`${id}/trigger-workflow`);
    expect([status, body.code]).toEqual([400, 'invalid_operation']);
    expect(body.message).toContain(`/v1/billing-run/subscription/${id}/retry`);
    await owner.query('delete from parked_object where object_id = $1', [id]);
  });

  it.each(['trigger-workflow', 'draft-and-compute'])('%s of an unknown subscription is 404', async (operation) => {
    expect(await trigger(`subs_unknown/${operation}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

test('draft-and-compute computes the drafts of a subscription again, with the usage that came', async () => {
  const customer = await settledCustomer();
  const draft = await firstDraft(api, customer);
  await countCalls(api, customer, 10, '2026-02-01T00:00:00Z');
  const answer = await trigger(`${customer.subscriptionId}/draft-and-compute`);
  expect(answer).toMatchObject({
    status: 202,
    body: { workflow_id: `subscription/${customer.subscriptionId}`, run_id: uuid },
  });
  expect(answer.body.message).toBe('1 of its drafts were computed again');
  const { body: computed } = await api<Wire>('GET', `/invoices/${draft.id}`);
  expect(Number(computed.total) - Number(draft.total)).toBeCloseTo(1);
});

describe('what is due in the whole environment', () => {
  it.each(['schedule-update-billing-period', 'schedule-draft-finalization'])(
    'is nothing for %s as long as workflows are there',
    async (operation) => {
      const { status, body } = await trigger(operation);
      const message = '0 objects had something due and were woken';
      expect([status, body]).toEqual([200, { workflow_id: null, run_id: null, message, woken: 0 }]);
    },
  );

  it.each([
    ['schedule-update-billing-period', '/subscriptions/temporal', '2026-02-15T00:00:00Z', 'DRAFT'],
    ['schedule-update-billing-period', '/tasks/scheduled', '2026-02-15T00:00:00Z', 'DRAFT'],
    ['schedule-draft-finalization', '/subscriptions/temporal', '2026-02-15T06:00:00Z', 'FINALIZED'],
    ['schedule-draft-finalization', '/tasks/scheduled', '2026-02-15T06:00:00Z', 'FINALIZED'],
  ])('is done after %s of %s', async (operation, at, instant, status) => {
    const customer = await settledCustomer();
    const { subscriptionId: id } = customer;
    if (status === 'FINALIZED') await advanceTo(api, customer.clockId, '2026-02-15T00:00:00Z');
    await lostUntil(customer, instant);
    const before = await feedEnd();
    const { body } = await api<Wire>('POST', `${at}/${operation}`, {});
    expect(body).toMatchObject({ workflow_id: `subscription/${id}`, run_id: uuid, woken: 1 });
    await secondInvoice(customer, before, status);
  });
});

describe('an invoice', () => {
  it('is finalized by its workflow, which the answer names', async () => {
    const { id } = await firstDraft(api, await settledCustomer());
    const answer = await api<Wire>('POST', `/invoices/temporal/${id}/finalize`);
    const body = { message: 'invoice finalized successfully', workflow_id: `invoice/${id}`, run_id: uuid };
    expect(answer).toMatchObject({ status: 202, body });
    expect((await api<Wire>('GET', `/invoices/${id}`)).body.invoice_status).toBe('FINALIZED');
    const again = await api<Wire>('POST', `/invoices/temporal/${id}/finalize`);
    const plainly = await api<Wire>('POST', `/invoices/${id}/finalize`);
    expect([again.status, again.body.code]).toEqual([plainly.status, plainly.body.code]);
  });

  it('of an unknown id is 404', async () => {
    const answer = await api('POST', '/invoices/temporal/inv_unknown/finalize');
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('is previewed under both of its paths', async () => {
    const { subscriptionId } = await settledCustomer();
    const [one, other] = await Promise.all(
      ['/invoices/preview', '/invoices/internal/preview'].map((path) =>
        api<Wire>('POST', path, { subscription_id: subscriptionId }),
      ),
    );
    expect([one!.status, other!.body.total]).toEqual([200, one!.body.total]);
  });
});
