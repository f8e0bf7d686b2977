import { afterAll, describe, expect, test } from 'vitest';
import { tendProviderInboxes } from '../../../activities/integration/provider-inbox.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { decide } from '../../../dev/provider-fakes/stripe/payment.ts';
import { startStripeFake } from '../../../dev/provider-fakes/stripe/server.ts';
import { providerAdapters } from '../../../integrations/connect.ts';
import { keepNotifications, type NewNotification } from '../../../services/integration/inbound-event.ts';
import { addressNotifications } from '../../../services/integration/inbound-recipient.ts';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { gatewayNotified, paymentWorkflowId } from '../../../workflows/payment/payment.messages.ts';
import { testApp } from '../../support/app.ts';
import { testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';
import { startWorkers } from '../../support/worker.ts';
import {
  connectStripe,
  inboxOf,
  lastEvent,
  notify,
  payInvoice,
  type StripeWorld,
  stripePayer,
} from './provider-inbox.fixture.ts';

const fake = await startStripeFake();
const providers = providerAdapters({ stripe: fake.url });
// Invoices are written by hand, without their documents.
const base = await testDatabase({ breaks: ['I19'], fakes: { stripe: fake } });
const temporal = await testTemporal();
const { app, api, gateway } = await testApp(base, temporal, { providers });
await startWorkers(base, temporal, { gateway, providers });
afterAll(() => fake.close());

type Wire = Record<string, never> & { id: string };

const secretKey = 'sk_test_inbox';
const books = fake.booksOf(secretKey);
const world: StripeWorld = { app, api, base, books, secretKey };
const connection = await connectStripe(world);

const paymentOf = async (id: string) => (await api<Wire>('GET', `/payments/${id}`)).body;
const become = (id: string, status: string) =>
  expect.poll(() => paymentOf(id), { timeout: 20_000 }).toMatchObject({ payment_status: status });
const outcomeOf = (eventId: string) => expect.poll(() => inboxOf(world, eventId), { timeout: 20_000 });

/** A payment that its gateway has not decided, and whose workflow waits for it. */
async function undecided() {
  const payment = await payInvoice(world, await stripePayer(world, 'never_answers'));
  await become(payment.id, 'PROCESSING');
  await expect.poll(() => isAttended(payment.id), { timeout: 20_000 }).toBe(true);
  return payment;
}

async function isAttended(id: string): Promise<boolean | undefined> {
  const [row] = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ attended: boolean }>('select attended from payment where id = $1', [id]),
  );
  return row?.attended;
}

/** How often the workflow of a payment was told, in all its runs. */
async function timesTold(paymentId: string): Promise<number> {
  let times = 0;
  const query = `WorkflowId = "${paymentWorkflowId(paymentId)}"`;
  for await (const { workflowId, runId } of temporal.client.workflow.list({ query })) {
    const { events } = await temporal.client.workflow.getHandle(workflowId, runId).fetchHistory();
    times += (events ?? []).filter(
      (event) => event.workflowExecutionSignaledEventAttributes?.signalName === gatewayNotified.name,
    ).length;
  }
  return times;
}

/** An event as the account told it, under another id. */
const copyOf = (type: string, id: string, change: (object: Record<string, unknown>) => object = (object) => object) => {
  const event = lastEvent(books, type);
  return { ...event, id, data: { object: change({ ...event.data.object }) } };
};

const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

/** Keeps a notification that nobody is told of. */
function keep(given: Pick<NewNotification, 'providerEventId' | 'receivedAt'> & Partial<NewNotification>) {
  const usual = {
    connectionId: connection.id,
    provider: 'stripe',
    eventType: 'payment_intent.succeeded',
    marker: null,
    providerIds: [],
    headers: {},
    body: Buffer.from('{}'),
    outcome: null,
  };
  return inSqlTransaction(base.database, base.scope, (tx) => keepNotifications(tx, [{ ...usual, ...given }]));
}

describe('a notification of a payment', () => {
  test('has the provider asked at once, and nothing else is believed', async () => {
    const payment = await undecided();
    // It says what is not so: the workflow asks, and the charge is as undecided as before.
    const early = {
      id: 'evt_early',
      type: 'payment_intent.succeeded',
      data: { object: { ...books.intents.get(payment.intentId) } },
    };
    expect((await notify(world, early)).status).toBe(200);
    await outcomeOf('evt_early').toMatchObject({ outcome: 'passed_on', object_type: 'payment', object_id: payment.id });
    expect(await paymentOf(payment.id)).toMatchObject({ payment_status: 'PROCESSING' });

    decide(books, payment.intentId, 'capture');
    const event = lastEvent(books, 'payment_intent.succeeded');
    expect((await notify(world, event)).status).toBe(200);
    await become(payment.id, 'SUCCEEDED');
    await outcomeOf(event.id).toMatchObject({ object_type: 'payment', object_id: payment.id });
    expect(books.captures().filter(({ id }) => id === payment.intentId)).toHaveLength(1);
  });

  test('that comes ten times and in the wrong order settles it once', async () => {
    const payment = await undecided();
    decide(books, payment.intentId, 'capture');
    const succeeded = lastEvent(books, 'payment_intent.succeeded');
    const processing = copyOf('payment_intent.succeeded', 'evt_reversed', (object) => ({
      ...object,
      status: 'processing',
    }));
    const sent = [...Array.from({ length: 10 }, () => succeeded), { ...processing, type: 'payment_intent.processing' }];
    for (const { status } of await Promise.all(sent.map((event) => notify(world, event)))) expect(status).toBe(200);
    await become(payment.id, 'SUCCEEDED');
    await outcomeOf('evt_reversed').toMatchObject({ object_id: payment.id });
    await outcomeOf(succeeded.id).toMatchObject({ object_id: payment.id });
    const { body } = await api<{ items: Wire[] }>('GET', '/payments?limit=100');
    expect(body.items.filter(({ id }) => id === payment.id)).toMatchObject([{ payment_status: 'SUCCEEDED' }]);
    expect(await attempts(payment.id)).toBe(1);
  });

  test('that comes three days late finds it settled and tells nobody', async () => {
    const payment = await payInvoice(world, await stripePayer(world, 'succeeds'));
    await become(payment.id, 'SUCCEEDED');
    const before = await timesTold(payment.id);
    const threeDaysAgo = Math.floor(Date.now() / 1000) - 3 * 86_400;
    const late = { ...copyOf('payment_intent.succeeded', 'evt_late'), created: threeDaysAgo };
    expect((await notify(world, late)).status).toBe(200);
    await outcomeOf('evt_late').toMatchObject({ outcome: 'settled', object_type: 'payment', object_id: payment.id });
    expect(await timesTold(payment.id)).toBe(before);
  });

  test.each([
    ['amount', (object: Record<string, unknown>) => ({ ...object, amount: 1, amount_received: 1 })],
    ['currency', (object: Record<string, unknown>) => ({ ...object, currency: 'jpy' })],
  ])(
    'with the right id and another %s is a hint like any other: what the provider says counts',
    async (what, change) => {
      const payment = await undecided();
      decide(books, payment.intentId, 'capture');
      const wrong = copyOf('payment_intent.succeeded', `evt_wrong_${what}`, change);
      expect((await notify(world, wrong)).status).toBe(200);
      await become(payment.id, 'SUCCEEDED');
      expect(await paymentOf(payment.id)).toMatchObject({ amount: '12.5', currency: 'usd' });
    },
  );

  test('that carries no name of ours is found by the id of the provider', async () => {
    const payment = await undecided();
    decide(books, payment.intentId, 'capture');
    const nameless = copyOf('payment_intent.succeeded', 'evt_nameless', (object) => ({ ...object, metadata: {} }));
    expect((await notify(world, nameless)).status).toBe(200);
    await outcomeOf('evt_nameless').toMatchObject({ object_type: 'payment', object_id: payment.id });
    await become(payment.id, 'SUCCEEDED');
  });
});

describe('a notification that is not ours', () => {
  test('finding A13: of the same account is kept, with no question to the provider and no workflow', async () => {
    const theirs = {
      id: 'evt_shop',
      type: 'payment_intent.succeeded',
      data: { object: { id: 'pi_of_the_shop', metadata: {} } },
    };
    expect((await notify(world, theirs)).status).toBe(200);
    await outcomeOf('evt_shop').toMatchObject({ outcome: 'not_ours', object_type: null });
  });

  test('finding A13: of another environment or tenant, though it names an object of this one, changes nothing', async () => {
    const payment = await undecided();
    const told = await timesTold(payment.id);
    const other = await createSandbox(base.database, { tenantName: 'Other' });
    const metadata = { environment: other.environmentId, kind: 'payment', id: payment.id };
    const foreign = {
      id: 'evt_foreign',
      type: 'payment_intent.succeeded',
      data: { object: { id: payment.intentId, metadata } },
    };
    expect((await notify(world, foreign)).status).toBe(200);
    await outcomeOf('evt_foreign').toMatchObject({ outcome: 'not_ours', object_type: null });
    expect(await timesTold(payment.id)).toBe(told);
    decide(books, payment.intentId, 'fail');
    expect((await notify(world, lastEvent(books, 'payment_intent.payment_failed'))).status).toBe(200);
    await become(payment.id, 'FAILED');
  });

  test('because of its kind is kept and not looked for', async () => {
    const metadata = { environment: base.scope.environmentId, kind: 'nonsense', id: 'x' };
    const event = { id: 'evt_kind', type: 'payment_intent.succeeded', data: { object: { id: 'pi_kind', metadata } } };
    expect((await notify(world, event)).status).toBe(200);
    await outcomeOf('evt_kind').toMatchObject({ outcome: 'not_ours' });
  });
});

describe('finding A13: the inbox loses what it acknowledged', () => {
  test('a process that ends between commit and message: whoever looks finds it', async () => {
    const payment = await undecided();
    decide(books, payment.intentId, 'capture');
    await keep({ providerEventId: 'evt_untold', providerIds: [payment.intentId], receivedAt: ago(60_000) });
    await tendProviderInboxes(base.database, temporal.client);
    await outcomeOf('evt_untold').toMatchObject({ object_id: payment.id, done_at: expect.anything() });
    await become(payment.id, 'SUCCEEDED');
  });

  test('one that is through is forgotten after 30 days, whatever else comes', async () => {
    await keep({ providerEventId: 'evt_a_month_ago', receivedAt: ago(30 * 86_400_000 + 1_000), outcome: 'ignored' });
    await keep({ providerEventId: 'evt_nearly', receivedAt: ago(30 * 86_400_000 - 60_000), outcome: 'ignored' });
    await tendProviderInboxes(base.database, temporal.client);
    expect(await inboxOf(world, 'evt_a_month_ago')).toBeUndefined();
    expect(await inboxOf(world, 'evt_nearly')).toMatchObject({ outcome: 'ignored' });
  });

  test('a notification before the commit of what it is about is looked for again', async () => {
    const metadata = { environment: base.scope.environmentId, kind: 'payment', id: 'pay_not_committed' };
    const event = {
      id: 'evt_before',
      type: 'payment_intent.succeeded',
      data: { object: { id: 'pi_before', metadata } },
    };
    expect((await notify(world, event)).status).toBe(200);
    await outcomeOf('evt_before').toMatchObject({ outcome: null, attempt: 1 });
    const payment = await undecided();
    decide(books, payment.intentId, 'capture');
    // The transaction that made it commits.
    await inSqlTransaction(base.database, base.scope, (tx) =>
      tx.rows(
        `update inbound_event set marker = jsonb_set(marker, '{id}', to_jsonb($1::text)) where provider_event_id = 'evt_before'`,
        [payment.id],
      ),
    );
    await outcomeOf('evt_before').toMatchObject({ object_id: payment.id, done_at: expect.anything() });
    await become(payment.id, 'SUCCEEDED');
  });

  test('it is looked for after 5 s, 1 min, 10 min, 1 h and 24 h, and then shown as unmatched', async () => {
    const received = Date.UTC(2026, 0, 1);
    const seconds: number[] = [];
    let now = received;
    for (let attempt = 0; ; attempt += 1) {
      const notification = {
        id: 'inev_1',
        provider: 'stripe',
        eventType: 'payment_intent.succeeded',
        marker: { environment: base.scope.environmentId, kind: 'payment', id: 'pay_never' },
        providerIds: [],
        receivedAt: new Date(received).toISOString(),
        attempt,
      };
      const [found] = await inSqlTransaction(base.database, base.scope, (tx) =>
        addressNotifications(tx, [notification], { now: new Date(now).toISOString(), tellsOfRefund: () => false }),
      );
      if (found?.fate.outcome !== null) {
        expect(found?.fate).toMatchObject({ outcome: 'unmatched', dueAt: null });
        break;
      }
      now = Date.parse(String(found.fate.dueAt));
      seconds.push((now - received) / 1000);
    }
    expect(seconds).toEqual([5, 60, 600, 3_600, 86_400]);
  });
});

async function attempts(paymentId: string): Promise<number> {
  const [row] = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ count: number }>('select count(*)::int as count from payment_attempt where payment_id = $1', [paymentId]),
  );
  return row?.count ?? 0;
}
