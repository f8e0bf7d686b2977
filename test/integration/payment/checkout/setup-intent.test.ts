import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, created, testPlatform } from '../../../support/billing.ts';
import { type Body, customerOf, readSession } from './checkout.fixture.ts';

const { api, app, gateway } = await testPlatform();

const setup = (customerId: string, more: object = {}) =>
  api<Body>('POST', `/payments/customers/${customerId}/setup/intent`, { provider: 'sandbox', ...more });
const methods = async (customerId: string, query = '') =>
  (await api<Body>('GET', `/payments/customers/${customerId}/methods${query}`)).body;
const save = (sessionId: string, card: Parameters<typeof sandboxCardNumber>[0] = 'succeeds') =>
  gateway.payer!.payLink(`${sessionId}:1`, { cardNumber: sandboxCardNumber(card) });

async function opened(more: object = {}) {
  const { id } = await customerOf(api);
  const { status, body } = await setup(id, more);
  expect(status, JSON.stringify(body)).toBe(200);
  return { customerId: id, intent: body };
}

test('a card is saved on a page, nothing is charged, and the page says so', async () => {
  const { customerId, intent } = await opened({ metadata: { shelf: '7' }, success_url: 'https://shop.example/cards' });
  expect(intent).toMatchObject({ status: 'requires_payment_method', client_secret: null, usage: 'off_session' });
  expect(intent.expires_at - intent.created_at).toBe(1_800);
  const path = new URL(intent.checkout_url).pathname;
  const shown = await app.inject({ url: `${path}?lang=en` });
  expect(shown.statusCode).toBe(200);
  expect(shown.body).toContain('Save card');
  expect(shown.body).toContain('Nothing is charged now');
  const form_token = /name="form_token" value="([^"]+)"/.exec(shown.body)![1]!;
  const fields = { form_token, card_number: sandboxCardNumber('succeeds') };
  const paid = await app.inject({
    method: 'POST',
    url: `${path}/pay?lang=en`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  });
  expect(paid.statusCode).toBe(303);
  expect((await app.inject({ url: `${path}?lang=en` })).body).toContain('Card saved');
  const session = await readSession(api, intent.checkout_session_id);
  expect(session).toMatchObject({ action: 'save_method', checkout_status: 'completed', amount: '0', payment: null });
  const { payment_method_id } = session.result.save_method_result;
  expect(await methods(customerId)).toEqual({
    sandbox: {
      data: [
        {
          id: payment_method_id,
          provider: 'sandbox',
          type: 'CARD',
          status: 'ACTIVE',
          card: { brand: expect.any(String), last4: '0002', exp_month: null, exp_year: null },
          is_default: true,
          can_auto_charge: true,
        },
      ],
      has_more: false,
      total_count: 1,
    },
  });
  const { body } = await api<Body>('GET', `/customers/${customerId}/payment-methods`);
  expect(body.items).toMatchObject([{ metadata: { shelf: '7' } }]);
  expect(
    (await api<Body>('GET', `/payments?destination_type=CUSTOMER&destination_id=${customerId}`)).body.items,
  ).toEqual([]);
  expect((await api<Body>('GET', `/checkout/sessions?customer_id=${customerId}`)).body.items).toEqual([]);
});

test('a declined card leaves the page open; 3-D Secure is confirmed on it', async () => {
  const { customerId, intent } = await opened();
  expect(await save(intent.checkout_session_id, 'declines')).toMatchObject({ status: 'declined' });
  expect(await readSession(api, intent.checkout_session_id)).toMatchObject({ checkout_status: 'pending' });
  const attempt = await save(intent.checkout_session_id, 'requires_action');
  expect(attempt.status).toBe('requires_action');
  expect(await readSession(api, intent.checkout_session_id)).toMatchObject({ checkout_status: 'pending' });
  await gateway.payer!.play(attempt.attemptToken!, 'confirm');
  expect(await readSession(api, intent.checkout_session_id)).toMatchObject({ checkout_status: 'completed' });
  expect((await methods(customerId)).sandbox.total_count).toBe(1);
});

test('a setup that is cancelled or expires saves nothing', async () => {
  const { customerId, intent } = await opened();
  const path = `/checkout/sessions/${intent.checkout_session_id}`;
  expect((await api<Body>('POST', `${path}/cancel`)).body).toMatchObject({
    checkout_status: 'expired',
    terminal: true,
  });
  expect((await save(intent.checkout_session_id)).status).toBe('closed');
  expect(await methods(customerId)).toEqual({});
  const { id: clockId } = await created<Body>(api, '/test-clocks', { frozen_time: '2026-01-01T00:00:00Z' });
  const { id } = await customerOf(api, { test_clock_id: clockId });
  const { body } = await setup(id);
  await advanceTo(api, clockId, '2026-01-01T00:31:00Z');
  expect(await readSession(api, body.checkout_session_id)).toMatchObject({ checkout_status: 'expired' });
});

test('a saved card becomes the default where that is wished, and one for payers who are there is never charged alone', async () => {
  const { customerId, intent } = await opened();
  await save(intent.checkout_session_id);
  await readSession(api, intent.checkout_session_id);
  const second = (await setup(customerId, { set_default: true, usage: 'on_session' })).body;
  await save(second.checkout_session_id);
  const { result } = await readSession(api, second.checkout_session_id);
  const { payment_method_id } = result.save_method_result;
  const { data } = (await methods(customerId)).sandbox;
  expect(data.map((one: Body) => [one.is_default, one.can_auto_charge])).toEqual([
    [true, false],
    [false, true],
  ]);
  const payment = await api<Body>('POST', '/payments', {
    destination_type: 'CUSTOMER',
    destination_id: customerId,
    payment_method_type: 'CARD',
    amount: '5',
    currency: 'usd',
  });
  expect(payment).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  expect(payment.body.message).toContain(payment_method_id);
});

test('methods are paged by provider, and a detached one is shown as inactive', async () => {
  const { id } = await customerOf(api);
  for (const _ of [1, 2, 3]) {
    await created(api, `/customers/${id}/payment-methods`, { card_number: sandboxCardNumber('succeeds') });
  }
  const first = (await methods(id, '?limit=2')).sandbox;
  expect(first).toMatchObject({ has_more: true, total_count: 3, data: [{}, {}] });
  const rest = (await methods(id, `?limit=2&starting_after=${first.data[1].id}`)).sandbox;
  expect(rest).toMatchObject({ has_more: false, data: [{ is_default: true }] });
  expect((await methods(id, `?ending_before=${rest.data[0].id}`)).sandbox.data).toEqual(first.data);
  await api('DELETE', `/customers/${id}/payment-methods/${rest.data[0].id}`);
  expect((await methods(id)).sandbox.data.at(-1)).toMatchObject({
    id: rest.data[0].id,
    status: 'INACTIVE',
    can_auto_charge: false,
  });
  expect(await methods(id, '?provider=stripe')).toEqual({});
});

test.each([
  [400, 'provider', { provider: 'nobody' }],
  [400, 'provider', { provider: undefined }],
  [400, 'usage', { usage: 'always' }],
  [400, 'payment_method_types', { payment_method_types: ['sepa_debit'] }],
  [400, 'success_url', { success_url: '/cards' }],
  [400, 'cancel_url', { cancel_url: 'javascript:alert(1)' }],
  [400, 'amount', { amount: '1' }],
])('%i: a setup with a bad %s is refused: %j', async (status, word, more) => {
  const { id } = await customerOf(api);
  const answer = await setup(id, more);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  expect(answer.body.message).toContain(word);
});

test('nobody and an archived customer save no card', async () => {
  expect((await setup('cust_unknown')).status).toBe(404);
  expect((await api('GET', '/payments/customers/cust_unknown/methods')).status).toBe(404);
  const { id } = await customerOf(api);
  expect((await api('GET', `/payments/customers/${id}/methods?starting_after=pm_unknown`)).status).toBe(400);
  await api('DELETE', `/customers/${id}`);
  expect(await setup(id)).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
});
