import { createHash } from 'node:crypto';
import { JSDOM } from 'jsdom';
import { describe, expect, test } from 'vitest';
import { cardFormScript, checkoutScript, renderCheckoutPage } from '../../../../integrations/checkout-page/render.ts';
import { checkoutLanguages } from '../../../../integrations/checkout-page/view.ts';
import { cardFormView, pageView, views } from './views.fixture.ts';

const sha256 = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const rendered = renderCheckoutPage(cardFormView());
const number = '4111111111111111';

test('the page may ask Moyasar and its own server, and lets in nothing besides', () => {
  const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(rendered.html) ?? [];
  expect(rendered.referrerPolicy).toBe('no-referrer');
  expect(rendered.contentSecurityPolicy).toBe(
    `default-src 'none'; style-src ${sha256(style)}; script-src ${sha256(checkoutScript)} ${sha256(cardFormScript)}; connect-src 'self' https://api.moyasar.com; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  );
});

test('every other page, and this one once it is over, may not ask Moyasar', () => {
  const ended = pageView({ kind: 'expired', returnUrl: null, refund: null });
  for (const view of [...Object.values(views), ended]) {
    expect(renderCheckoutPage(view).contentSecurityPolicy).not.toContain('moyasar');
  }
});

describe.each(checkoutLanguages)('in %s', (language) => {
  test('without script it says that nothing works without, and has nothing that could be sent to us', () => {
    const { document } = new JSDOM(renderCheckoutPage(cardFormView({ language })).html).window;
    expect(document.querySelector('noscript')?.textContent).toContain('JavaScript');
    const form = document.querySelector('#card-form')!;
    expect(form.querySelectorAll('[name]')).toHaveLength(0);
    expect([form.hasAttribute('action'), form.querySelector('button')?.hasAttribute('disabled')]).toEqual([
      false,
      true,
    ]);
    for (const input of form.querySelectorAll('input')) {
      expect(form.querySelector(`label[for=${input.getAttribute('id')}]`)).not.toBeNull();
    }
  });
});

type Sent = { url: string; body: string; authorization: string | undefined };
type Answer = { status: number; body?: object };

/** The page in a browser whose payer enters a card; what it sends, and what its status says once all is done. */
async function entered(answerOf: (url: string) => Answer | null) {
  const sent: Sent[] = [];
  const { window } = new JSDOM(rendered.html, {
    url: 'https://pay.example/checkout/aaaabbbbccccddddeeeeff',
    ...{ runScripts: 'dangerously', pretendToBeVisual: true },
    beforeParse: (page) => {
      page.AbortSignal = AbortSignal;
      page.fetch = async (url: string, { body, headers }: { body: unknown; headers?: Record<string, string> }) => {
        sent.push({ url, body: String(body), authorization: headers?.authorization });
        const answer = answerOf(url);
        if (answer === null) throw new TypeError('no network');
        return { ok: answer.status < 300, status: answer.status, json: async () => answer.body };
      };
    },
  });
  const { document, Event } = window;
  const fields = { name: 'Jane Doe', card: number, expiry: '12 / 35', code: '123' };
  for (const [id, value] of Object.entries(fields)) Object.assign(document.querySelector(`#${id}`)!, { value });
  document.querySelector('#card-form')!.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
  const button = document.querySelector('#card-form button')!;
  await expect.poll(() => sent.length === 2 || !button.hasAttribute('disabled')).toBe(true);
  return { sent, button, document };
}

describe('the script of the form', () => {
  test('sends the card to Moyasar alone, and the token that stands for it to us', async () => {
    const kept = { id: 'token_1', verification_url: 'https://api.moyasar.com/v1/verify/1' };
    const { sent } = await entered((url) => ({ status: 201, body: url.startsWith('https:') ? kept : {} }));
    expect(sent[0]).toMatchObject({
      url: 'https://api.moyasar.com/v1/tokens',
      authorization: `Basic ${btoa('pk_test_1:')}`,
    });
    expect(JSON.parse(sent[0]!.body)).toEqual({
      ...{ name: 'Jane Doe', number, month: '12', year: '35', cvc: '123' },
      callback_url: 'https://pay.example/checkout/aaaabbbbccccddddeeeeff/return',
      metadata: { perennial_token: 'pn_1' },
    });
    expect(sent[1]).toMatchObject({
      url: '/checkout/aaaabbbbccccddddeeeeff/kept',
      body: 'form_token=form-token&method_token=token_1',
    });
    expect(sent[1]!.body).not.toContain(number);
  });

  test.each([
    ['a card that Moyasar refuses', { status: 400 }, 'could not be saved'],
    ['a fault of Moyasar', { status: 500 }, 'could not be reached'],
    ['too many requests', { status: 429 }, 'could not be reached'],
    ['no network', null, 'could not be reached'],
  ])('says so of %s, tells us nothing, and lets the payer try again', async (_, answer, told) => {
    const { sent, button, document } = await entered(() => answer);
    expect(sent).toHaveLength(1);
    await expect.poll(() => document.querySelector('#status')?.textContent).toContain(told);
    expect(button.hasAttribute('disabled')).toBe(false);
  });
});
