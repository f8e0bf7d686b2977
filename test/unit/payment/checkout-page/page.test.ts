import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { JSDOM } from 'jsdom';
import { describe, expect, test } from 'vitest';
import { listedCardNumber, listedCards } from '../../../../integrations/checkout-page/panel.ts';
import {
  checkoutScript,
  renderCheckoutNotice,
  renderCheckoutPage,
} from '../../../../integrations/checkout-page/render.ts';
import { type CheckoutPageView, checkoutLanguages } from '../../../../integrations/checkout-page/view.ts';
import { sandboxCardOf } from '../../../../integrations/sandbox-gateway/card.ts';
import { order, pageView, views } from './views.fixture.ts';

const inEveryLanguage = Object.entries(views).flatMap(([name, view]) =>
  checkoutLanguages.map((language) => [name, language, { ...view, language }] as const),
);
const viewOf = (name: string): CheckoutPageView => views[name]!;
const pageOf = (name: string, changed: Partial<CheckoutPageView> = {}) =>
  renderCheckoutPage({ ...viewOf(name), ...changed });
const parser = new new JSDOM('').window.DOMParser();
const documentOf = (html: string) => parser.parseFromString(html, 'text/html');
const texts = (html: string, selector: string) =>
  [...documentOf(html).querySelectorAll(selector)].map((element) => element.textContent.trim());
const sha256 = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe.each(inEveryLanguage)('%s in %s', (name, language, view) => {
  const { html, contentSecurityPolicy } = renderCheckoutPage(view);
  const document = documentOf(html);

  test('runs and shows what its policy names, and nothing from anywhere else', () => {
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
    const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(html) ?? [];
    expect([...document.querySelectorAll('style, script')]).toHaveLength(2);
    expect(contentSecurityPolicy).toBe(
      `default-src 'none'; style-src ${sha256(style)}; script-src ${sha256(script)}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    );
    expect(html).not.toMatch(/<link|<iframe|<base|\son\w+=|url\(|@import|\sstyle=/);
    const sources = [...document.querySelectorAll('[src]')].map((element) => element.getAttribute('src'));
    expect(sources.filter((source) => !source?.startsWith('data:image/'))).toEqual([]);
  });

  test('posts to its own address only, with the form token in each form', () => {
    for (const form of document.querySelectorAll('form')) {
      expect(form.getAttribute('method')).toBe('post');
      expect(form.getAttribute('action')).toMatch(
        new RegExp(`^/checkout/aaaabbbbccccddddeeeeff/(pay|confirm|cancel)\\?lang=${language}$`),
      );
      expect(form.querySelector('input[type=hidden][name=form_token]')?.getAttribute('value')).toBe('form-token');
    }
  });

  test('is in its language and direction, with one heading that names the page', () => {
    expect(document.documentElement.getAttribute('lang')).toBe(language);
    expect(document.documentElement.getAttribute('dir')).toBe(language === 'ar' ? 'rtl' : 'ltr');
    expect([...document.querySelectorAll('h1')]).toHaveLength(1);
    expect(document.title).toContain('Acme Software GmbH');
    expect(html).not.toMatch(/\{\w+\}<|undefined|null|NaN|\[object/);
  });

  test('is small', () => {
    expect(Buffer.byteLength(html), name).toBeLessThan(24_000);
  });
});

test('the script is at most 8 kB', () => {
  expect(Buffer.byteLength(checkoutScript)).toBeLessThanOrEqual(8192);
});

describe('what a payer sees', () => {
  test('who sells, what, what comes off and on, what is due and how long the page lasts', () => {
    const { html } = pageOf('pay');
    const rows = texts(html, '.lines li, .totals > div');
    expect(rows).toEqual([
      'Team plan5 × · 25 Nov\u2009–\u200924 Dec 2026€245.00',
      'Onboarding€90.00',
      'Subtotal€335.00',
      'Welcome 10 %−€33.50',
      'VAT 19%€57.29',
      'Due now€358.79',
    ]);
    expect(texts(html, '.amount')).toEqual(['€358.79']);
    expect(texts(html, '.seller')).toEqual(['Acme Software GmbH']);
    expect(texts(html, '.renewal')).toEqual(['Renews every month']);
    expect(texts(html, '.expiry')).toEqual(['This page can be used until 25 November 2026 at 14:30 CET.']);
    expect(texts(html, 'button.primary')).toEqual(['Pay €358.79']);
    expect(html).toContain('<title>Pay €358.79 · Acme Software GmbH</title>');
  });

  test('the part of an invoice that is left, long lists folded, and tax that is contained', () => {
    const { html } = pageOf('pay an invoice');
    expect(texts(html, '.totals > div')).toEqual([
      'Subtotal€335.00',
      'Prepaid credits−€20.00',
      'VAT 5.5% (included)€5,792.10',
      'Total€358.79',
      'Already paid−€100.00',
      'Credit note−€50.25',
      'Due now€111,110,960.10',
    ]);
    expect(texts(html, 'details > summary')).toEqual(['All items (9)']);
    expect(texts(html, 'details li')[0]).toContain('1,200,345 ×');
    expect(html).not.toContain('Renews');
  });

  test('amounts, dates and sentences in the way of the language', () => {
    const shown = (language: 'de' | 'ar') => {
      const { html } = pageOf('pay', { language });
      return [...texts(html, '.amount, .renewal, .expiry'), ...texts(html, 'button.primary')];
    };
    expect(shown('de')).toEqual([
      '358,79\u00a0€',
      'Verlängert sich monatlich',
      'Diese Seite gilt bis 25. November 2026 um 14:30 MEZ.',
      '358,79\u00a0€ zahlen',
    ]);
    expect(shown('ar')[1]).toBe('يتجدد كل شهر');
    expect(shown('ar')[3]).toMatch(/^ادفع /);
  });

  test('how often it renews, also when that is no single month', () => {
    const every = (count: number, unit: 'month' | 'year', language: 'en' | 'de' | 'ar' = 'en') =>
      texts(pageOf('pay', { language, order: { ...order, renewal: { count, unit } } }).html, '.renewal');
    expect(every(3, 'month')).toEqual(['Renews every 3 months']);
    expect(every(1, 'year')).toEqual(['Renews every year']);
    expect(every(2, 'year', 'de')).toEqual(['Verlängert sich alle 2 Jahre']);
    expect(every(3, 'month', 'ar')).toEqual(['يتجدد كل 3 أشهر']);
  });

  test('the test cards, each a button that pays with it, and each is one the sandbox knows', () => {
    const { html } = pageOf('pay');
    const buttons = [...documentOf(html).querySelectorAll('button[name=test_card]')];
    expect(buttons.map((button) => sandboxCardOf(button.getAttribute('value') ?? '')?.behaviour)).toEqual([
      ...listedCards,
    ]);
    expect(listedCards.map((behaviour) => sandboxCardOf(listedCardNumber(behaviour))?.behaviour)).toEqual([
      ...listedCards,
    ]);
    // Enter in the card's field presses the first button of the form, which must not be one of theirs.
    expect(documentOf(html).querySelector('form button')?.hasAttribute('name')).toBe(false);
  });

  test('a sentence for each way a payment can go wrong, read first, and the card form again', () => {
    for (const [name, sentence] of [
      ['pay, declined', /declined.*Nothing was charged.*another card/],
      ['pay, card unusable', /cannot be used.*Nothing was charged.*another card/],
      ['pay, not confirmed', /not confirmed.*Nothing was charged/],
      ['pay, unreachable', /could not be reached.*Nothing was charged/],
      ['pay, no test card', /not the number of a test card/],
      ['save a card, refused', /did not accept this card.*not saved.*Nothing was charged.*another card/],
    ] as const) {
      const { html } = pageOf(name);
      const document = documentOf(html);
      expect(document.querySelector('[role=alert][autofocus]')?.textContent).toMatch(sentence);
      expect(document.querySelector('#card') === null).toBe(false);
    }
    const wrong = documentOf(pageOf('pay, no test card').html).querySelector('#card');
    expect([wrong?.hasAttribute('aria-invalid'), wrong?.getAttribute('aria-describedby')]).toEqual([
      true,
      'hint problem',
    ]);
  });

  test('a link to the page of a real provider, and no card field', () => {
    const { html } = pageOf('pay at a provider');
    const document = documentOf(html);
    expect(document.querySelector('a.primary')?.getAttribute('href')).toBe('https://checkout.stripe.com/c/pay/cs_1');
    expect(texts(html, 'a.primary')).toEqual(['Continue to Stripe']);
    expect(document.querySelector('form') === null).toBe(true);
    expect(html).not.toContain('Test mode');
  });

  test('a consent where the card is kept for later, and none where it is not', () => {
    expect(pageOf('pay').html).toContain('to charge this card for later invoices as well');
    expect(pageOf('pay an invoice').html).not.toContain('later invoices');
    expect(pageOf('save a card').html).toContain('Nothing is charged now.');
  });

  test('the way back to the seller after each end', () => {
    for (const name of ['done', 'card saved', 'expired', 'cancelled', 'failed', 'refund on its way']) {
      const link = documentOf(pageOf(name).html).querySelector('a.primary');
      expect(link?.getAttribute('href'), name).toBe(
        'https://shop.example/back?checkout_session_id=cs_1&status=completed',
      );
    }
    expect(documentOf(pageOf('refunded').html).querySelector('a.primary') === null).toBe(true);
  });

  test('without script a waiting page loads itself anew, at the pace it was told', () => {
    const pace = (name: string) => /<noscript><meta http-equiv="refresh" content="(\d+)">/.exec(pageOf(name).html)?.[1];
    expect([pace('waiting'), pace('waiting after return'), pace('pay')]).toEqual(['5', '10', undefined]);
  });

  test('nothing of a session where there is none', () => {
    for (const kind of ['unknown', 'unavailable'] as const) {
      const html = documentOf(renderCheckoutNotice(kind, 'de').html);
      expect([...html.querySelectorAll('form, a, img')]).toEqual([]);
      expect([...html.querySelectorAll('h1')]).toHaveLength(1);
    }
  });
});

test('after the end there is no form, no form token and nothing of the payer', () => {
  const ended = Object.entries(views).filter(([, { state }]) => !['pay', 'confirm', 'waiting'].includes(state.kind));
  expect(ended).toHaveLength(9);
  for (const [name, view] of ended) {
    const { html } = renderCheckoutPage(view);
    expect(html, name).not.toMatch(/<form|form-token|Jane Doe|0009/);
  }
});

describe('hostile texts', () => {
  const markup = fc.constantFrom(
    ...[
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      "' onfocus='alert(1)",
      '</style><b>',
      '</script><b>',
    ],
    ...['{seller}', '{amount}', '&lt;b&gt;', '<!--', '\u202e gnp.exe', '\u2066', ']]>', '!', '$&', "$'"],
  );
  const text = fc
    .array(fc.oneof(markup, fc.string({ unit: 'binary', maxLength: 8 })), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join(''));

  test('are shown as they are and add no element, attribute or address', () => {
    const counts = new Map(
      Object.keys(views).map((name) => [name, [...documentOf(pageOf(name).html).querySelectorAll('*')].length]),
    );
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(views)), text, (name, hostile) => {
        const document = documentOf(renderCheckoutPage(withTexts(viewOf(name), hostile)).html);
        expect([...document.querySelectorAll('*')]).toHaveLength(counts.get(name)!);
        expect([...document.querySelectorAll('[onerror], [onfocus], [href^=javascript]')]).toEqual([]);
        // Tables of what HTML does to zeros, halves of characters and line ends are the parser's business.
        const plain = hostile.replace(/[\0\r\ud800-\udfff]/g, '').trim();
        if (plain === hostile.trim()) expect(document.querySelector('.seller')?.textContent.trim()).toBe(plain);
      }),
      { numRuns: 100 },
    );
  });

  test('of addresses lead nowhere', () => {
    for (const address of [
      ...['javascript:alert(1)', ' javascript:alert(1)', 'JAVASCRIPT:alert(1)', 'java\nscript:alert(1)'],
      ...['data:text/html,<b>', 'vbscript:x', 'file:///etc/passwd', '//evil.example', '/relative', 'blob:x', ''],
    ]) {
      const state = { ...viewOf('done').state, returnUrl: address } as CheckoutPageView['state'];
      expect(documentOf(renderCheckoutPage(pageView(state)).html).querySelector('a.primary') === null, address).toBe(
        true,
      );
      const pay = { ...viewOf('pay at a provider').state, way: { kind: 'provider', name: 'X', url: address } };
      const link = documentOf(renderCheckoutPage(pageView(pay as CheckoutPageView['state'])).html).querySelector(
        'a.primary',
      );
      expect(link === null, address).toBe(true);
    }
  });

  test('of pictures and colours are passed over', () => {
    const seller = { ...viewOf('pay').seller, accent: 'red;}body{display:none' };
    const shown = (logo: string) => pageOf('pay', { seller: { ...seller, logo } }).html;
    expect(shown('data:image/png;base64,iVBORw0KGgo=')).toContain(
      '<img class="logo" src="data:image/png;base64,iVBORw0KGgo="',
    );
    for (const logo of [
      'https://evil.example/x.png',
      'data:image/svg+xml;base64,AAAA',
      'data:image/png;base64,AA"onload="x',
    ]) {
      expect(shown(logo)).not.toContain('<img');
      expect(shown(logo)).not.toContain('body{display');
    }
  });
});

/** The view with a text in every place that holds a foreign one. */
function withTexts(view: CheckoutPageView, hostile: string): CheckoutPageView {
  const { order: bought, state } = view;
  const named = <Item extends object>(items: readonly Item[], of: (item: Item) => Item): Item[] => items.map(of);
  return {
    ...view,
    seller: { ...view.seller, name: hostile, email: view.seller.email },
    order: bought && {
      ...bought,
      lines: named(bought.lines, (line) => ({ ...line, name: hostile })),
      deductions: named(bought.deductions, (taken) => (taken.name === null ? taken : { ...taken, name: hostile })),
      taxes: named(bought.taxes, (tax) => ({ ...tax, name: hostile })),
    },
    state: {
      ...state,
      ...('customerName' in state ? { customerName: hostile } : {}),
      ...('formToken' in state ? { formToken: hostile } : {}),
      ...('cardLastFour' in state && state.cardLastFour ? { cardLastFour: hostile } : {}),
      ...('way' in state && state.way.kind === 'provider' ? { way: { ...state.way, name: hostile } } : {}),
    } as CheckoutPageView['state'],
  };
}
