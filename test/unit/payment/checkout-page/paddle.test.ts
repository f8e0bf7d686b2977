import { createHash } from 'node:crypto';
import { JSDOM } from 'jsdom';
import { describe, expect, test } from 'vitest';
import { fakeScript } from '../../../../dev/provider-fakes/paddle/page.ts';
import { checkoutScript, paddlePageScript, renderCheckoutPage } from '../../../../integrations/checkout-page/render.ts';
import { type CheckoutPageView, checkoutLanguages } from '../../../../integrations/checkout-page/view.ts';
import { paddleView, pageView, views } from './views.fixture.ts';

const sandbox = paddleView('pdl_sdbx_1');
const sha256 = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

test('the page loads Paddle’s script and nothing else, and its policy lets in no more than that needs', () => {
  const { html, contentSecurityPolicy, referrerPolicy } = renderCheckoutPage(sandbox);
  expect(referrerPolicy).toBe('strict-origin');
  const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
  expect(contentSecurityPolicy).toBe(
    `default-src 'none'; style-src ${sha256(style)} https://sandbox-cdn.paddle.com; style-src-attr 'unsafe-inline'; frame-src https://sandbox-buy.paddle.com; script-src ${sha256(checkoutScript)} ${sha256(paddlePageScript)} https://cdn.paddle.com; connect-src 'self' https://sandbox-checkout-service.paddle.com; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  );
  const { document } = new JSDOM(html).window;
  const loaded = [...document.querySelectorAll('[src]')].map((element) => element.getAttribute('src'));
  expect(loaded).toEqual(['https://cdn.paddle.com/paddle/v2/paddle.js']);
});

test('live keys load nothing of the sandbox', () => {
  const { html, contentSecurityPolicy } = renderCheckoutPage(paddleView('pdl_live_1'));
  expect(contentSecurityPolicy).toContain('frame-src https://buy.paddle.com;');
  expect(contentSecurityPolicy).not.toContain('sandbox');
  expect(html).toContain('data-environment="production"');
});

test('every other page, and this one once it is over, lets in nothing of it', () => {
  const ended = pageView({ kind: 'expired', returnUrl: null, refund: null });
  for (const view of [...Object.values(views), ended]) {
    const { html, contentSecurityPolicy, referrerPolicy } = renderCheckoutPage(view);
    expect(referrerPolicy).toBe('no-referrer');
    expect(html + contentSecurityPolicy).not.toMatch(/paddle|unsafe/i);
  }
});

describe.each(checkoutLanguages)('in %s', (language) => {
  test('without script it says that nothing works without, and the button cannot be pressed', () => {
    const { document } = new JSDOM(renderCheckoutPage({ ...sandbox, language }).html).window;
    expect(document.querySelector('noscript')?.textContent).toContain('JavaScript');
    const button = document.querySelector('button#paddle');
    expect(button?.hasAttribute('disabled')).toBe(true);
    expect(button?.getAttribute('data-token')).toBe('test_token"1');
  });
});

interface Called {
  environment: unknown[];
  initialized: unknown[];
  opened: unknown[];
}

/** The page in a browser, in which Paddle's script notes what it is asked; null where it could not be loaded. */
function open(view: CheckoutPageView, called: Called | null) {
  const { window } = new JSDOM(renderCheckoutPage(view).html, {
    url: 'https://pay.example/checkout/aaaabbbbccccddddeeeeff?lang=de',
    ...{ runScripts: 'dangerously', pretendToBeVisual: true },
    beforeParse: (page) => {
      if (called === null) return;
      page.Paddle = {
        Environment: { set: (name: string) => called.environment.push(name) },
        Initialize: (options: unknown) => called.initialized.push(options),
        Checkout: { open: (options: unknown) => called.opened.push(options) },
      };
    },
  });
  return window;
}

describe('the script of the page', () => {
  test('opens the transaction of the page when its button is pressed, and leads back to what is true', () => {
    const called: Called = { environment: [], initialized: [], opened: [] };
    const { document, Event } = open({ ...sandbox, language: 'de' }, called);
    const settings = {
      displayMode: 'overlay',
      locale: 'de',
      successUrl: 'https://pay.example/checkout/aaaabbbbccccddddeeeeff/return',
      allowedPaymentMethods: ['card'],
      showAddDiscounts: false,
    };
    expect(called).toEqual({
      environment: ['sandbox'],
      initialized: [{ token: 'test_token"1', checkout: { settings } }],
      opened: [],
    });
    document.querySelector('button#paddle')!.dispatchEvent(new Event('click', { bubbles: true }));
    expect(called.opened).toEqual([{ transactionId: 'txn_1', settings }]);
  });

  test('is answered by the script of the fake, which lays its own page over ours', () => {
    const script = fakeScript.replace('document.currentScript.src', "'http://127.0.0.1:1/paddle/v2/paddle.js'");
    const html = renderCheckoutPage(sandbox).html.replace(/<script src=[^>]+>/, () => `<script>${script}`);
    const { window } = new JSDOM(html, {
      url: 'https://pay.example/checkout/aaaabbbbccccddddeeeeff',
      ...{ runScripts: 'dangerously', pretendToBeVisual: true },
    });
    const { document, Event } = window;
    expect(document.querySelector('iframe')).toBeNull();
    document.querySelector('button#paddle')!.dispatchEvent(new Event('click', { bubbles: true }));
    const laid = new URL(document.querySelector('iframe')!.getAttribute('src')!);
    expect(`${laid.origin}${laid.pathname}`).toBe('http://127.0.0.1:1/pay/txn_1');
    expect(Object.fromEntries(laid.searchParams)).toEqual({
      token: 'test_token"1',
      back: 'https://pay.example/checkout/aaaabbbbccccddddeeeeff/return',
    });
  });

  test('asks the live Paddle for live keys', () => {
    const called: Called = { environment: [], initialized: [], opened: [] };
    open(paddleView('pdl_live_1'), called);
    expect(called.environment).toEqual([]);
  });

  test('says that Paddle cannot be reached, and the button stays as it is', () => {
    const { document } = open(sandbox, null);
    expect(document.querySelector('#status')?.textContent).toContain('could not be reached');
    expect(document.querySelector('button#paddle')?.hasAttribute('disabled')).toBe(true);
  });
});
