import { describe, expect, test } from 'vitest';
import type { FakeEvent } from '../../../../dev/provider-fakes/nomod/books.ts';
import { decideRefund, refundInDashboard } from '../../../../dev/provider-fakes/nomod/payment.ts';
import type { SandboxBehaviour } from '../../../../integrations/sandbox-gateway/card.ts';
import { nomodWorld, webhookSecret } from './nomod.fixture.ts';

const world = await nomodWorld();
const { books, credit, notify, read, temporal } = world;
const { body: connection } = await world.connect();
const patience = { timeout: 20_000 };

/** An invoice of 25 that was paid on the page of Nomod. */
async function paid(card: SandboxBehaviour = 'succeeds') {
  const session = await world.opened();
  world.pay(session, card);
  await world.becomes(session, 'completed');
  const { checkout_payment_id: paymentId, checkout_invoice_id: invoiceId } = session;
  return { paymentId, invoiceId, checkout: world.pageOf(session) };
}
type Paid = Awaited<ReturnType<typeof paid>>;

/** Somebody gives money back in the dashboard; what Nomod tells of it is not sent yet. */
function inDashboard({ checkout }: Paid, amount: number): FakeEvent {
  refundInDashboard(books, checkout, amount);
  return books.events.at(-1)!;
}

async function tell(event: FakeEvent): Promise<void> {
  expect((await notify(event)).status).toBe(200);
}

async function passedOn({ messageId }: FakeEvent): Promise<void> {
  await expect.poll(async () => (await world.inboxOf(messageId))?.outcome, patience).toBe('passed_on');
}

/** Waits until the workflow of a payment has nothing to do any more, so that what was told is looked at. */
async function looked({ paymentId }: Paid, event: FakeEvent): Promise<void> {
  await passedOn(event);
  await temporal.client.workflow.getHandle(`payment/${paymentId}`).result();
}

const refundsOf = async ({ paymentId }: Paid): Promise<string[]> =>
  (await read(`/refunds?payment_ids=${paymentId}`)).items.map(
    (each: { amount: string; refund_status: string; metadata: { made_at?: string } }) =>
      `${each.amount} ${each.refund_status}${each.metadata.made_at ? ' elsewhere' : ''}`,
  );
const haveRefunds = (of: Paid, expected: string[]) =>
  expect.poll(async () => (await refundsOf(of)).toSorted(), patience).toEqual(expected.toSorted());
const become = (path: string, expected: object) => expect.poll(() => read(path), patience).toMatchObject(expected);
const readLists = () => world.readLists(connection.id, { webhook_secret: webhookSecret });

describe('a refund that somebody makes in Nomod’s dashboard', () => {
  test('of a part, and then of the rest, becomes a row each, its payment and invoice follow', async () => {
    const of = await paid();
    await tell(inDashboard(of, 5.5));
    await haveRefunds(of, ['5.5 SUCCEEDED elsewhere']);
    await become(`/payments/${of.paymentId}`, { payment_status: 'PARTIALLY_REFUNDED' });
    await tell(inDashboard(of, 19.5));
    await haveRefunds(of, ['19.5 SUCCEEDED elsewhere', '5.5 SUCCEEDED elsewhere']);
    await become(`/payments/${of.paymentId}`, { payment_status: 'REFUNDED' });
    await become(`/invoices/${of.invoiceId}`, { payment_status: 'REFUNDED', refunded_amount: '25' });
  });

  test('is one, told ten times at once, in the wrong order and late', async () => {
    const of = await paid();
    const [first, second] = [inDashboard(of, 5), inDashboard(of, 3)];
    await Promise.all(Array.from({ length: 10 }, (_, n) => tell({ ...second, messageId: `${second.messageId}${n}` })));
    await haveRefunds(of, ['8 SUCCEEDED elsewhere']);
    await credit(of.invoiceId, '10');
    await haveRefunds(of, ['10 SUCCEEDED', '8 SUCCEEDED elsewhere']);
    await tell(first);
    await looked(of, first);
    await haveRefunds(of, ['10 SUCCEEDED', '8 SUCCEEDED elsewhere']);
  });

  test('is found by the charge alone, where the notification names nothing else', async () => {
    const of = await paid();
    const { messageId, body } = inDashboard(of, 5);
    const { checkout: _, metadata: __, ...data } = body.data;
    await tell({ messageId, body: { ...body, data } });
    await haveRefunds(of, ['5 SUCCEEDED elsewhere']);
  });

  test('is found without a notification, by the list of refunded charges, once', async () => {
    const of = await paid();
    const event = inDashboard(of, 7);
    await readLists();
    await haveRefunds(of, ['7 SUCCEEDED elsewhere']);
    await readLists();
    await tell(event);
    await looked(of, event);
    await haveRefunds(of, ['7 SUCCEEDED elsewhere']);
    expect(await read(`/connections/${connection.id}`)).toMatchObject({ health: { status: 'healthy' } });
  });

  test('beside a refund of ours that is on its way is counted when ours is decided', async () => {
    const of = await paid('refund_never_answers');
    await credit(of.invoiceId, '10');
    const [charge] = of.checkout.charges;
    const made = () => [...books.refunds.values()].filter(({ charge_id }) => charge_id === charge!.id);
    await expect.poll(() => made().length, patience).toBe(1);
    const event = inDashboard(of, 5);
    await tell(event);
    await passedOn(event);
    await haveRefunds(of, ['10 PROCESSING']);
    decideRefund(books, made()[0]!, 'completed');
    await haveRefunds(of, ['10 SUCCEEDED', '5 SUCCEEDED elsewhere']);
  });

  test('where the key may not read charges only one of everything is found, and the connection is no worse for it', async () => {
    const [part, all] = [await paid(), await paid()];
    books.hidesCharges = true;
    const [ofPart, ofAll] = [inDashboard(part, 5), inDashboard(all, 25)];
    for (const event of [ofPart, ofAll]) await tell(event);
    await haveRefunds(all, ['25 SUCCEEDED elsewhere']);
    await looked(part, ofPart);
    await haveRefunds(part, []);
    await readLists();
    expect(await read(`/connections/${connection.id}`)).toMatchObject({ health: { status: 'healthy' } });
    books.hidesCharges = false;
    await tell({ ...ofPart, messageId: 'permitted' });
    await haveRefunds(part, ['5 SUCCEEDED elsewhere']);
  });
});
