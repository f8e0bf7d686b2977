import { describe, expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import type { FakeEvent, FakePayment } from '../../../../dev/provider-fakes/moyasar/books.ts';
import { refundInDashboard, refundPayment, voidInDashboard } from '../../../../dev/provider-fakes/moyasar/payment.ts';
import { parkObject, unparkObject } from '../../../../services/lifecycle/parked-object.ts';
import { accountedRefunds, RefundsChanged } from '../../../../services/refund/refund-count.ts';
import { recordRefundsElsewhere } from '../../../../services/refund/refund-elsewhere.ts';
import { gatewayNotified } from '../../../../workflows/payment/payment.messages.ts';
import { refundWorkflowId } from '../../../../workflows/payment/refund.messages.ts';
import { checkProviderBooks } from '../../../support/gateways/provider-books.ts';
import { violationsOf } from '../../../support/invariants.ts';
import { moyasarWorld } from './moyasar.fixture.ts';

const world = await moyasarWorld('dashboard');
const { base, books, credit, fake, notify, paid, read, temporal } = world;
const { body: connection } = await world.connect();
const patience = { timeout: 20_000 };

/** Somebody gives money back in the dashboard, in the smallest unit; what Moyasar tells of it is not sent yet. */
function inDashboard(payment: FakePayment, amount: number): FakeEvent {
  refundInDashboard(books, payment, amount);
  return world.lastEvent('payment_refunded');
}

async function tell(event: FakeEvent): Promise<void> {
  expect((await notify(event)).status).toBe(200);
}

/** Waits until the workflow of a payment has nothing to do any more, so that what was told is looked at. */
async function looked(paymentId: string, event: FakeEvent): Promise<void> {
  await expect.poll(async () => (await world.inboxOf(event.id))?.outcome, patience).toBe('passed_on');
  await temporal.client.workflow.getHandle(`payment/${paymentId}`).result();
}

/** Has the workflow of a refund ask, as time does, only later. */
const askAbout = (refundId: string) =>
  temporal.client.workflow.getHandle(refundWorkflowId(refundId)).signal(gatewayNotified);

const refundsOf = async (paymentId: string) =>
  (await read(`/refunds?payment_ids=${paymentId}`)).items.map(
    (each: { amount: string; refund_status: string; metadata: { made_at?: string } }) =>
      `${each.amount} ${each.refund_status}${each.metadata.made_at ? ' elsewhere' : ''}`,
  );
const haveRefunds = (paymentId: string, expected: string[]) =>
  expect.poll(async () => (await refundsOf(paymentId)).toSorted(), patience).toEqual(expected.toSorted());
const become = (path: string, expected: object) => expect.poll(() => read(path), patience).toMatchObject(expected);

describe('a refund that somebody makes in Moyasar’s dashboard', () => {
  test('of a part becomes a row, its payment and invoice follow', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    await tell(inDashboard(payment, 500));
    await haveRefunds(paymentId, ['5 SUCCEEDED elsewhere']);
    await become(`/payments/${paymentId}`, { payment_status: 'PARTIALLY_REFUNDED' });
    await become(`/invoices/${invoiceId}`, { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '5' });
    expect((await read(`/refunds?payment_ids=${paymentId}`)).items).toMatchObject([
      {
        gateway_refund_id: `${payment.id}/elsewhere:5`,
        refund_destination: 'GATEWAY',
        metadata: { made_at: 'moyasar', counted_amount: '5' },
      },
    ]);
  });

  test('of everything', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    await tell(inDashboard(payment, 2500));
    await haveRefunds(paymentId, ['25 SUCCEEDED elsewhere']);
    await become(`/payments/${paymentId}`, { payment_status: 'REFUNDED' });
    await become(`/invoices/${invoiceId}`, { payment_status: 'REFUNDED', refunded_amount: '25' });
  });

  test('by voiding the payment', async () => {
    const { paymentId, payment } = await paid();
    voidInDashboard(books, payment);
    await tell(world.lastEvent('payment_voided'));
    await haveRefunds(paymentId, ['25 SUCCEEDED elsewhere']);
    await become(`/payments/${paymentId}`, { payment_status: 'REFUNDED' });
  });

  test('twice: each is one, and two that are found by one look are one sum', async () => {
    const { paymentId, payment } = await paid();
    await tell(inDashboard(payment, 500));
    await haveRefunds(paymentId, ['5 SUCCEEDED elsewhere']);
    inDashboard(payment, 300);
    await tell(inDashboard(payment, 400));
    await haveRefunds(paymentId, ['5 SUCCEEDED elsewhere', '7 SUCCEEDED elsewhere']);
    await tell(inDashboard(payment, 1300));
    await become(`/payments/${paymentId}`, { payment_status: 'REFUNDED' });
  });

  test('is one, told ten times at once and again under other names', async () => {
    const { paymentId, payment } = await paid();
    const event = inDashboard(payment, 500);
    await Promise.all(Array.from({ length: 10 }, (_, n) => tell({ ...event, id: `${event.id}-${n}` })));
    await Promise.all(Array.from({ length: 10 }, () => tell(event)));
    await haveRefunds(paymentId, ['5 SUCCEEDED elsewhere']);
    const last = { ...event, id: `${event.id}-last` };
    await tell(last);
    await looked(paymentId, last);
    await haveRefunds(paymentId, ['5 SUCCEEDED elsewhere']);
  });

  test('counts once when two are told in the wrong order, and the first of them late', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    const [first, second] = [inDashboard(payment, 500), inDashboard(payment, 300)];
    await tell(second);
    await haveRefunds(paymentId, ['8 SUCCEEDED elsewhere']);
    await credit(invoiceId, '10');
    await haveRefunds(paymentId, ['10 SUCCEEDED', '8 SUCCEEDED elsewhere']);
    await tell(first);
    await looked(paymentId, first);
    await haveRefunds(paymentId, ['10 SUCCEEDED', '8 SUCCEEDED elsewhere']);
  });

  test('is found without a notification, by the list of payments that changed, once', async () => {
    const { paymentId, payment } = await paid();
    refundInDashboard(books, payment, 700);
    const readLists = () => world.readLists(connection.id, { webhook_secret: 'mwh_1' });
    await readLists();
    await haveRefunds(paymentId, ['7 SUCCEEDED elsewhere']);
    await readLists();
    const event = world.lastEvent('payment_refunded');
    await tell(event);
    await looked(paymentId, event);
    await haveRefunds(paymentId, ['7 SUCCEEDED elsewhere']);
    expect(await read(`/connections/${connection.id}`)).toMatchObject({ health: { status: 'healthy' } });
  });
});

test('of looks at the same moment one records it, and the others are out of date and repeated', async () => {
  const { paymentId, payment } = await paid();
  const event = inDashboard(payment, 500);
  const accounted = () => inSqlTransaction(base.database, base.scope, (tx) => accountedRefunds(tx, paymentId));
  const { asOf } = await accounted();
  const record = (of: string) =>
    inSqlTransaction(base.database, base.scope, (tx) => {
      const givenBack = { amount: '5', asOf: of };
      return recordRefundsElsewhere(tx, { paymentId, refunds: [], givenBack, at: new Date().toISOString() });
    });
  const looks = await Promise.allSettled(Array.from({ length: 8 }, () => record(asOf)));
  expect(looks.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const each of looks) if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(RefundsChanged);
  expect(await record((await accounted()).asOf)).toMatchObject({ paymentId });
  await tell(event);
  await looked(paymentId, event);
  expect(await refundsOf(paymentId)).toEqual(['5 SUCCEEDED elsewhere']);
});

test('the books of Moyasar disagree until it is recorded, also where they tell only a sum', async () => {
  const { paymentId, payment } = await paid();
  const reported = async () =>
    violationsOf(await checkProviderBooks(base.database, { moyasar: fake })).map(({ text }) => text);
  expect(await reported()).toEqual([]);
  await tell(inDashboard(payment, 500));
  await haveRefunds(paymentId, ['5 SUCCEEDED elsewhere']);
  const event = inDashboard(payment, 300);
  expect(await reported()).toEqual([expect.stringContaining(`8 sar given back of ${payment.id}, recorded 5 sar`)]);
  await tell(event);
  await haveRefunds(paymentId, ['5 SUCCEEDED elsewhere', '3 SUCCEEDED elsewhere']);
  expect(await reported()).toEqual([]);
});

/** Gives 10 of an invoice back while Moyasar cannot be reached: the refund is written down there, was sent, and has not arrived. */
async function sentInVain(invoiceId: string): Promise<void> {
  const sent = fake.calls('refund');
  fake.failNext('refund', 'unreachable');
  await credit(invoiceId, '10');
  await expect.poll(() => fake.calls('refund'), patience).toBeGreaterThan(sent);
}

describe('beside a refund of ours', () => {
  test('that arrived and whose answer was lost: ours is not counted twice', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    fake.failNext('refund', 'loses_answer');
    await credit(invoiceId, '10');
    await expect.poll(() => payment.refunded, patience).toBe(1000);
    await tell(world.lastEvent('payment_refunded'));
    await tell(inDashboard(payment, 500));
    await haveRefunds(paymentId, ['10 SUCCEEDED', '5 SUCCEEDED elsewhere']);
  });

  test('that is on its way: it is counted when ours is decided', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    await sentInVain(invoiceId);
    await haveRefunds(paymentId, ['10 PROCESSING']);
    const event = inDashboard(payment, 500);
    await tell(event);
    await expect.poll(async () => (await world.inboxOf(event.id))?.outcome, patience).toBe('passed_on');
    await haveRefunds(paymentId, ['10 PROCESSING']);
    // Ours arrives after all.
    refundPayment(books, payment, 1000, Object.keys(payment.metadata ?? {})[0]!.slice('refund_'.length));
    const [ours] = (await read(`/refunds?payment_ids=${paymentId}`)).items;
    await askAbout(ours.id);
    await haveRefunds(paymentId, ['10 SUCCEEDED', '5 SUCCEEDED elsewhere']);
  });

  test('that is shown as parked: ours counts as given back, and what is more was made there', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    await sentInVain(invoiceId);
    const [{ id: objectId }] = (await read(`/refunds?payment_ids=${paymentId}`)).items;
    const ours = { objectType: 'refund', objectId };
    // Time does the same after a day.
    await inSqlTransaction(base.database, base.scope, (tx) =>
      parkObject(tx, tx.scope, { ...ours, step: 'reportUnanswered', reason: 'no answer' }),
    );
    await tell(inDashboard(payment, 1200));
    await expect.poll(() => refundsOf(paymentId), patience).toContain('2 SUCCEEDED elsewhere');
    // Ours arrives after all.
    refundPayment(books, payment, 1000, Object.keys(payment.metadata ?? {})[0]!.slice('refund_'.length));
    await inSqlTransaction(base.database, base.scope, (tx) => unparkObject(tx, tx.scope, ours));
    await askAbout(objectId);
    await tell(world.lastEvent('payment_refunded'));
    await haveRefunds(paymentId, ['10 SUCCEEDED', '10 SUCCEEDED elsewhere', '2 SUCCEEDED elsewhere']);
  });

  test('that finds nothing left: ours failed, and all of it was made there', async () => {
    const { paymentId, invoiceId, payment } = await paid();
    const event = inDashboard(payment, 2500);
    await credit(invoiceId, '10');
    await haveRefunds(paymentId, ['10 FAILED']);
    await tell(event);
    await haveRefunds(paymentId, ['10 FAILED', '25 SUCCEEDED elsewhere']);
    await become(`/payments/${paymentId}`, { payment_status: 'REFUNDED' });
    await become(`/invoices/${invoiceId}`, { payment_status: 'REFUNDED', refunded_amount: '25' });
  });
});
