import { describe, expect, test } from 'vitest';
import { capture, decide } from '../../../../dev/provider-fakes/whop/payment.ts';
import { startWhopFake } from '../../../../dev/provider-fakes/whop/server.ts';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { whopAdapter } from '../../../../integrations/whop/adapter.ts';
import { testApp } from '../../../support/app.ts';
import { testDatabase } from '../../../support/database.ts';
import { type Body, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { whopWorld } from './whop.fixture.ts';

const world = await whopWorld('pages');
const {
  api,
  app,
  base,
  becomes,
  books,
  cancel,
  checkout,
  fake,
  idOf,
  lastEvent,
  notify,
  opened,
  pay,
  read,
  secrets,
  temporal,
} = world;

const unconnected = await world.order();
const refusedKeys = [await world.connect({ api_key: 'no_key' }), await world.connect({ company_id: 'biz_other' })];
const { body: connection } = await world.connect();
const planOf = (session: Body) => books.plans.get(books.configurations.get(idOf(session))!.plan!.id)!;

describe('a connection', () => {
  test('is asked for before an order, and its key and company are tried before they are kept', () => {
    expect(unconnected).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation', message: expect.stringContaining('whop is not connected') },
    });
    expect(refusedKeys).toMatchObject([
      { status: 400, body: { message: 'encrypted_secret_data.api_key is refused by whop' } },
      { status: 400, body: { message: 'encrypted_secret_data.company_id is refused by whop' } },
    ]);
    expect(connection).toMatchObject({ provider_type: 'whop', status: 'published' });
  });

  test('takes another key of its company while a page is open, and none of another company', async () => {
    const session = await opened();
    const put = (changes: object) =>
      api<Body>('PUT', `/connections/${connection.id}`, { encrypted_secret_data: { ...secrets, ...changes } });
    expect(await put({ api_key: 'apik_other', company_id: 'biz_other' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation' },
    });
    expect((await put({ api_key: 'apik_pages_2' })).status).toBe(200);
    pay(session);
    await becomes(session, 'completed');
  });

  test('whose key moves money is refused where time is played with', async () => {
    const [live, test] = await Promise.all([startWhopFake(), startWhopFake()]);
    const both = new Map([['whop', whopAdapter({ live: live.url, test: test.url })]]);
    const other = await testApp(await testDatabase(), temporal, { providers: both });
    const save = () =>
      other.api<Body>('POST', '/connections', {
        name: 'Whop',
        provider_type: 'whop',
        encrypted_secret_data: { api_key: 'apik_modes', company_id: 'biz_modes' },
      });
    expect(await save()).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('api_key is a live key; development environments take test keys') },
    });
    live.failNext('list', '401');
    expect((await save()).status).toBe(201);
    await Promise.all([live.close(), test.close()]);
  });
});

describe('a page', () => {
  test('is paid, and its payer comes back to the shop', async () => {
    const session = await opened();
    const { url } = session.payment_action;
    expect(books.configurations.get(idOf(session))).toMatchObject({
      purchase_url: url,
      metadata: { environment: base.scope.environmentId, kind: 'checkout_session', id: session.id },
    });
    expect(planOf(session)).toMatchObject({ initial_price: 25, currency: 'usd' });
    const payWith = (card_number: string) =>
      fetch(url, { method: 'POST', body: new URLSearchParams({ card_number }), redirect: 'manual' });
    expect(await (await payWith(sandboxCardNumber('declines'))).text()).toContain('The last attempt: failed.');
    expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending', terminal: false });
    const back = new URL((await payWith(sandboxCardNumber('succeeds'))).headers.get('location') ?? '');
    const { statusCode, headers } = await app.inject({ method: 'GET', url: back.pathname });
    expect(statusCode).toBe(303);
    expect(headers.location).toBe(`https://shop.example/thanks?checkout_session_id=${session.id}&status=completed`);
    expect(await read(`/payments/${session.checkout_payment_id}`)).toMatchObject({
      payment_status: 'SUCCEEDED',
      payment_gateway: 'whop',
      amount: '25',
      gateway_payment_id: books.paymentsOf(idOf(session)).at(-1)!.id,
    });
    expect(await read(`/invoices/${session.checkout_invoice_id}`)).toMatchObject({
      invoice_status: 'FINALIZED',
      payment_status: 'SUCCEEDED',
    });
  });

  test('stands behind the payment link of a final invoice', async () => {
    const { body: invoice } = await world.order('25', { checkout: undefined });
    const link = await api<Body>('POST', '/payments', {
      destination_type: 'INVOICE',
      destination_id: invoice.id,
      payment_method_type: 'PAYMENT_LINK',
      payment_gateway: 'whop',
      amount: '25',
      currency: 'usd',
    });
    expect(link, JSON.stringify(link.body)).toMatchObject({ status: 201, body: { payment_status: 'PENDING' } });
    const [session] = (await read(`/checkout/sessions?invoice_id=${invoice.id}`)).items;
    const page = await app.inject({ url: new URL(link.body.payment_url).pathname });
    expect(page.body).toContain(books.configurations.get(idOf(session))!.purchase_url.replace('=', '&#61;'));
    pay(session);
    await becomes(session, 'completed');
    expect(await read(`/invoices/${invoice.id}`)).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0' });
  });

  test('whose answer was lost is one page, and is paid once', async () => {
    fake.failNext('open', 'loses_answer');
    const session = await opened();
    const ofOrder = [...books.configurations.values()].filter(({ metadata }) => metadata.id === session.id);
    expect(ofOrder).toMatchObject([{ purchase_url: session.payment_action.url }]);
    pay(session);
    await becomes(session, 'completed');
    expect(books.paymentsOf(ofOrder[0]!.id)).toHaveLength(1);
  });

  test('is closed with its session; while a bank decides the session cannot be cancelled', async () => {
    const waiting = await opened();
    pay(waiting, 'never_answers');
    expect((await cancel(waiting)).status).toBe(400);
    expect(decide(books, idOf(waiting), 'capture')).toBe(true);
    await becomes(waiting, 'completed');
    const session = await opened();
    expect((await cancel(session)).body).toMatchObject({ checkout_status: 'expired', failure_reason: 'cancelled' });
    expect(books.deleted).toContain(idOf(session));
    expect(pay(session)).toBe('closed');
  });

  test('of an amount or currency that Whop does not take is refused before it is opened', async () => {
    const before = books.plans.size;
    expect(await world.order('25', { checkout, currency: 'isk' })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('whop takes no payments in isk') },
    });
    expect(books.plans.size).toBe(before);
  });
});

describe('notifications', () => {
  test('complete a session without anybody asking, once', async () => {
    const session = await opened();
    pay(session);
    const event = lastEvent('payment.succeeded');
    const answers = await Promise.all(Array.from({ length: 5 }, () => notify(event)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await expect
      .poll(() => world.inboxOf(event.id), { timeout: 20_000 })
      .toMatchObject({ outcome: 'passed_on', object_type: 'checkout_session', object_id: session.id });
    await becomes(session, 'completed');
  });

  test('of a payment by the address of the plan alone lead to its session', async () => {
    const session = await opened();
    pay(session, 'never_answers');
    const [payment] = books.paymentsOf(idOf(session));
    Object.assign(payment!, { checkout_configuration_id: null, metadata: {} });
    capture(books, payment!);
    await notify(lastEvent('payment.succeeded'));
    await becomes(session, 'completed');
  });

  test('without a signature or with another are 401, with another time 400, and not kept; an exchanged secret stays valid', async () => {
    const event = lastEvent('payment.succeeded');
    const before = (await world.kept()).length;
    const problem = (status: number, message: string) => ({
      status,
      body: { message: expect.stringContaining(message) },
    });
    const named = (id: string) => ({ ...event, id });
    expect(await notify(named('unsigned'), { without: 'webhook-signature' })).toMatchObject(problem(401, 'not signed'));
    expect(await notify(named('forged'), { secret: 'ws_2' })).toMatchObject(problem(401, 'does not fit'));
    const old = { atMs: Date.now() - 10 * 60_000 };
    expect(await notify(named('late'), old)).toMatchObject(problem(400, 'clock of this server'));
    expect(await world.kept()).toHaveLength(before);
    const exchange = { encrypted_secret_data: { webhook_secret: 'ws_2' } };
    expect((await api('PUT', `/connections/${connection.id}`, exchange)).status).toBe(200);
    expect((await notify(named('new'), { secret: 'ws_2' })).status).toBe(200);
    expect((await notify(named('old'))).status).toBe(200);
    expect(await world.kept()).toHaveLength(before + 2);
  });
});
