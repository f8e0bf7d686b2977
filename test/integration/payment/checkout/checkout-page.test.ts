import { expect, test } from 'vitest';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { testPlatform } from '../../../support/billing.ts';
import { type Body, checkout, customerOf, invoiceOf, readSession } from './checkout.fixture.ts';

const { api, app } = await testPlatform();

const html = { accept: 'text/html' };

async function get(path: string, headers: Record<string, string> = {}) {
  const { statusCode: status, body, headers: sent } = await app.inject({ url: path, headers: { ...html, ...headers } });
  return { status, body, headers: sent };
}

/** Text of a page as its reader sees it. */
const readable = (page: string) => page.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));

async function post(path: string, fields: Record<string, string>) {
  const { statusCode: status, headers } = await app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  });
  return { status, location: String(headers.location ?? '') };
}

/** A page of an invoice of 25, as a browser without script goes through it. */
async function opened(name = 'Onboarding', more: object = {}) {
  const customer = await customerOf(api);
  const invoice = invoiceOf(customer.id, '25', {
    line_items: [{ display_name: name, quantity: '1', amount: '25' }],
    checkout: { ...checkout, failure_url: 'https://shop.example/again', ...more },
  });
  const { body } = await api<Body>('POST', '/invoices', invoice);
  const session = body.checkout_session;
  const path = new URL(session.payment_action.url).pathname;
  const tokenOf = async () => /name="form_token" value="([^"]+)"/.exec((await get(path)).body)?.[1] ?? '';
  const pay = async (card: SandboxBehaviour, count = 0) =>
    post(`${path}/pay?lang=en`, { form_token: await tokenOf(), card_number: sandboxCardNumber(card, count) });
  return { session, path, tokenOf, pay };
}

test('a stranger pays: declined, confirmed, done, and only then back to the seller', async () => {
  const { session, path, tokenOf, pay } = await opened();
  const shown = await get(path);
  expect(shown.status).toBe(200);
  expect(shown.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  expect(shown.headers['content-security-policy']).toContain("form-action 'self'");
  expect(shown.body).toContain('Onboarding');
  expect(shown.body).toContain('$25.00');
  expect(shown.body).toContain('Payer');

  expect(await pay('declines')).toEqual({ status: 303, location: `${path}?lang=en` });
  expect((await get(path)).body).toContain('role="alert"');
  expect(await pay('requires_action')).toEqual({ status: 303, location: `${path}?lang=en` });
  expect((await get(path)).body).toContain('name="answer"');
  const answer = await post(`${path}/confirm?lang=en`, { form_token: await tokenOf(), answer: 'confirm' });
  // To its own page: a policy of forms that lead home alone would stop a browser on its way to another host.
  expect(answer).toEqual({ status: 303, location: `${path}?lang=en` });
  const done = await get(path);
  expect(readable(done.body)).toContain(
    `https://shop.example/thanks?checkout_session_id=${session.id}&status=completed`,
  );
  expect(done.body).not.toContain('form_token');
  expect(await readSession(api, session.id)).toMatchObject({
    checkout_status: 'completed',
    payment: { status: 'SUCCEEDED' },
  });
  const back = await get(`${path}/return`);
  expect(back.status).toBe(303);
  expect(back.headers.location).toBe(`https://shop.example/thanks?checkout_session_id=${session.id}&status=completed`);
});

test('a bank that takes its time: the page waits, says when to ask again, and tells the end', async () => {
  const { path, pay } = await opened();
  await pay('answers_late', 3);
  expect((await get(path)).body).toContain('http-equiv="refresh"');
  expect((await get(`${path}/progress`)).body).toMatch(/"state":"(waiting|done)"/);
  await expect.poll(async () => JSON.parse((await get(`${path}/progress`)).body).state).toBe('done');
});

test('a payer gives up, and is shown the way back; a page that has ended takes no card', async () => {
  const { session, path, tokenOf } = await opened();
  const form_token = await tokenOf();
  expect(await post(`${path}/cancel?lang=de`, { form_token })).toEqual({ status: 303, location: `${path}?lang=de` });
  expect(readable((await get(path)).body)).toContain(
    `https://shop.example/again?checkout_session_id=${session.id}&status=expired`,
  );
  await post(`${path}/pay`, { form_token, card_number: sandboxCardNumber('succeeds') });
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'expired', failure_reason: 'cancelled' });
});

test('forms of other sites, unknown tokens and numbers that are no test card change nothing', async () => {
  const { session, path, tokenOf } = await opened();
  const card_number = sandboxCardNumber('succeeds');
  expect((await post(`${path}/pay`, { form_token: 'guessed', card_number })).status).toBe(403);
  expect((await post(`${path}/pay`, { card_number })).status).toBe(403);
  expect((await get('/checkout/aaaaaaaaaaaaaaaaaaaaaaaaaa')).status).toBe(404);
  expect((await get(`/checkout/${session.id}`)).status).toBe(404);
  const refused = await post(`${path}/pay?lang=en`, { form_token: await tokenOf(), card_number: '4242424242424242' });
  expect(refused.location).toBe(`${path}?lang=en&problem=card_number`);
  expect((await get(refused.location)).body).toContain('aria-invalid');
  expect((await readSession(api, session.id)).checkout_status).toBe('pending');
});

test('digits of Arabic are those of the card, and the page speaks the language of its reader', async () => {
  const { session, path, tokenOf } = await opened();
  expect((await get(path, { 'accept-language': 'ar-SA,ar;q=0.9' })).body).toContain('<html lang="ar" dir="rtl">');
  expect((await get(`${path}?lang=de`, { 'accept-language': 'ar' })).body).toContain('<html lang="de"');
  expect((await get(path, { 'accept-language': 'xx' })).body).toContain('<html lang="en"');
  const digits = [...sandboxCardNumber('succeeds')].map((digit) => String.fromCharCode(0x660 + Number(digit)));
  await post(`${path}/pay`, { form_token: await tokenOf(), card_number: digits.join('') });
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'completed' });
});

test('hostile names are text', async () => {
  const { path } = await opened('<script>alert(1)</script>"><img src=x onerror=alert(1)>');
  const { body } = await get(path);
  expect(body).not.toContain('<script>alert');
  expect(body).not.toContain('<img');
  expect(readable(body)).toContain('<script>alert(1)</script>');
});

test('the pay button pressed twenty times at once is one charge', async () => {
  const { session, path, tokenOf } = await opened();
  const form = { form_token: await tokenOf(), card_number: sandboxCardNumber('succeeds') };
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(`${path}/pay?lang=en`, form)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'completed' });
  const { body } = await api<Body>('GET', `/payments?destination_id=${session.checkout_invoice_id}`);
  expect(body.items).toMatchObject([{ payment_status: 'SUCCEEDED', amount: '25' }]);
});

test('a card that its bank refuses to have saved is explained in a sentence, and another one is saved', async () => {
  const { id } = await customerOf(api);
  const { body } = await api<Body>('POST', `/payments/customers/${id}/setup/intent`, { provider: 'sandbox' });
  const path = new URL(body.checkout_url).pathname;
  const save = async (card: SandboxBehaviour) => {
    const form_token = /name="form_token" value="([^"]+)"/.exec((await get(path)).body)?.[1] ?? '';
    return post(`${path}/pay?lang=en`, { form_token, card_number: sandboxCardNumber(card) });
  };
  const { location } = await save('declines');
  expect(readable((await get(location)).body)).toContain('did not accept this card, so it was not saved');
  await save('succeeds');
  expect(await readSession(api, body.checkout_session_id)).toMatchObject({ checkout_status: 'completed' });
});
