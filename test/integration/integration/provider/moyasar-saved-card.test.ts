import { describe, expect, test } from 'vitest';
import { decidePayment } from '../../../../dev/provider-fakes/moyasar/payment.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { type Body, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { moyasarWorld } from './moyasar.fixture.ts';
import { savedCardsAt } from './saved-card.fixture.ts';

const world = await moyasarWorld('cards');
const { api, app, becomes, books, fake, lastEvent, notify, read, refundsBecome } = world;
await world.connect({ publishable_key: 'pk_test_cards' });
const cards = savedCardsAt({ api, provider: 'moyasar' }, { currency: 'sar' });
const { collected, invoiceBecomes, methodsOf, paymentBecomes, paymentsOf, setUp } = cards;

/** The page of a session as its payer's browser has it: its address, and what its form names to the script. */
async function pageOf(session: Body) {
  const address = new URL(session.payment_action.url).pathname;
  const page = await app.inject({ url: address });
  const told = Object.fromEntries(
    [...page.body.matchAll(/data-([a-z-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  return { address, page, told: told as Record<string, string> };
}

/** A payer's browser sends a card to Moyasar, as the script of the page does. */
async function sendCard({ told, address }: Awaited<ReturnType<typeof pageOf>>, reference = told.reference) {
  const answer = await fetch(told.tokens!, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${told.key}:`)}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ name: 'Payer', number: sandboxCardNumber('succeeds'), month: '12', year: '35', cvc: '123' },
      ...{ callback_url: `http://localhost${address}/return`, metadata: { perennial_token: reference } },
    }),
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as { id: string; verification_url: string };
}

/** The browser names the card to the page. */
const tell = ({ address, told }: Awaited<ReturnType<typeof pageOf>>, token: string, formToken = told['form-token']!) =>
  app.inject({
    method: 'POST',
    url: `${address}/kept`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ form_token: formToken, method_token: token }).toString(),
  });

/** The payer answers its bank, which sends it on. */
async function verify(url: string, answer: 'confirm' | 'fail') {
  const sent = await fetch(url, { method: 'POST', body: new URLSearchParams({ answer }), redirect: 'manual' });
  return new URL(sent.headers.get('location') ?? '').pathname;
}

async function save(session: Body): Promise<{ token: string; back: string }> {
  const page = await pageOf(session);
  const { id, verification_url } = await sendCard(page);
  expect((await tell(page, id)).statusCode).toBe(200);
  return { token: id, back: await verify(verification_url, 'confirm') };
}

/** A payer whose saved card behaves so when it is charged. */
async function cardholder(behaviour: SandboxBehaviour = 'succeeds', count = 0) {
  const { id, session } = await setUp();
  const { token } = await save(session);
  Object.assign(books.kept.get(token)!.card, { behaviour, count });
  await becomes(session, 'completed');
  const [method] = await methodsOf(id);
  return { id, methodId: method!.id as string, token };
}

/** Payments at Moyasar of one of ours. */
const chargesOf = ({ id }: Body) => [...books.payments.values()].filter(({ metadata }) => metadata?.payment_id === id);

describe('a card', () => {
  test('goes from our page to Moyasar, its payer comes back to the shop, and an invoice is charged to it', async () => {
    const { id, session } = await setUp({ success_url: 'https://shop.example/thanks' });
    const { page } = await pageOf(session);
    expect(page.headers['content-security-policy']).toContain(`connect-src 'self' ${fake.url};`);
    expect(page.body).not.toMatch(/<input[^>]+name="(?!form_token)/);
    const { back } = await save(session);
    const returned = await app.inject({ url: back });
    expect(returned.headers.location).toBe(
      `https://shop.example/thanks?checkout_session_id=${session.id}&status=completed`,
    );
    expect(books.captures()).toEqual([]);
    const [method] = await methodsOf(id);
    expect(method).toMatchObject({ gateway: 'moyasar', is_default: true, brand: 'visa' });
    const invoiceId = await collected(id);
    await invoiceBecomes(invoiceId, 'SUCCEEDED');
    const [payment] = await paymentsOf(invoiceId);
    expect(payment).toMatchObject({ payment_status: 'SUCCEEDED', payment_method_id: method!.id, amount: '25' });
    expect(chargesOf(payment!)).toMatchObject([{ id: payment!.gateway_payment_id, amount: 2500, status: 'paid' }]);
  });

  test('that its bank refuses is not saved, and its payer is told so and may try another', async () => {
    const { id, session } = await setUp();
    const page = await pageOf(session);
    expect(page.page.body).not.toContain('did not accept this card');
    const first = await sendCard(page);
    await tell(page, first.id);
    const back = await app.inject({ url: await verify(first.verification_url, 'fail') });
    expect(back.headers.location).toBe(`${page.address}?returned=1`);
    const progress = await app.inject({ url: `${page.address}/progress` });
    expect(progress.json()).toMatchObject({ state: 'pay' });
    const again = await app.inject({ url: page.address });
    expect(again.body).toContain('Your bank did not accept this card, so it was not saved. Nothing was charged.');
    expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending' });
    await save(session);
    await becomes(session, 'completed');
    expect(await methodsOf(id)).toHaveLength(1);
  });

  test('of another page, or one that Moyasar does not have, is not taken for this one', async () => {
    const { id, session } = await setUp();
    const other = await cardholder();
    const page = await pageOf(session);
    for (const token of [other.token, 'token_unknown', (await sendCard(page, 'pn_other')).id]) {
      expect((await tell(page, token)).statusCode).toBe(200);
    }
    expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending' });
    expect(await methodsOf(id)).toEqual([]);
  });

  test('is named only by the form of the page itself, while that is open, and by a token alone', async () => {
    const { session } = await setUp();
    const page = await pageOf(session);
    expect((await tell(page, 'token_1', 'forged')).statusCode).toBe(403);
    expect((await tell(page, sandboxCardNumber('succeeds'))).statusCode).toBe(409);
    await api('POST', `/checkout/sessions/${session.id}/cancel`);
    expect((await tell(page, 'token_1')).statusCode).toBe(409);
  });

  test('that is deleted at Moyasar is declined for good', async () => {
    const { id, token } = await cardholder();
    books.tokens.delete(token);
    await paymentBecomes(await collected(id), {
      payment_status: 'FAILED',
      error_message: 'invalid_request_error (token)',
    });
  });
});

describe('a charge', () => {
  test('that is declined is told with its code, and nothing is taken', async () => {
    const { id } = await cardholder('declines_for_good');
    await paymentBecomes(await collected(id), { payment_status: 'FAILED', error_message: '43' });
  });

  test('that is decided later is processing until Moyasar tells', async () => {
    const { id } = await cardholder('never_answers');
    const invoiceId = await collected(id);
    await paymentBecomes(invoiceId, { payment_status: 'PROCESSING' });
    const [payment] = await paymentsOf(invoiceId);
    expect(decidePayment(books, chargesOf(payment!)[0], 'capture')).toBe(true);
    expect((await notify(lastEvent('payment_paid'))).status).toBe(200);
    await paymentBecomes(invoiceId, { payment_status: 'SUCCEEDED' });
  });

  test('whose request or answer is lost, or is broken, is taken once', async () => {
    for (const how of ['unreachable', 'loses_answer', 'half', 'html', '429', '500'] as const) {
      const { id } = await cardholder();
      fake.failNext('charge', how);
      const invoiceId = await collected(id);
      await invoiceBecomes(invoiceId, 'SUCCEEDED');
      const [payment] = await paymentsOf(invoiceId);
      expect(chargesOf(payment!), how).toHaveLength(1);
    }
  });

  test('goes back to its card', async () => {
    const { id } = await cardholder();
    const invoiceId = await collected(id);
    await invoiceBecomes(invoiceId, 'SUCCEEDED');
    const [payment] = await paymentsOf(invoiceId);
    await world.credit(invoiceId, '10');
    await refundsBecome(payment!.id, [{ refund_status: 'SUCCEEDED', refund_target: 'BACK_TO_SOURCE', amount: '10' }]);
    expect(chargesOf(payment!)).toMatchObject([{ refunded: 1000 }]);
  });
});

describe('finding B9: an order', () => {
  const orderBy = async (card: SandboxBehaviour) => cards.orderBy((await cardholder(card)).id);

  test('is charged to the kept card, without a page, once', async () => {
    const session = await orderBy('succeeds');
    await becomes(session, 'completed');
    expect(await readSession(api, session.id)).toMatchObject({ payment_action: null });
    expect(chargesOf({ id: session.checkout_payment_id })).toMatchObject([{ status: 'paid', amount: 2500 }]);
  });

  test('opens its page when the card is declined', async () => {
    const session = await orderBy('declines');
    await expect
      .poll(() => readSession(api, session.id), { timeout: 20_000 })
      .toMatchObject({ checkout_status: 'pending', payment_action: { type: 'checkout_url' } });
    const open = await readSession(api, session.id);
    world.pay(open);
    await becomes(open, 'completed');
    expect(await read(`/payments/${session.checkout_payment_id}`)).toMatchObject({ payment_status: 'SUCCEEDED' });
  });
});
