import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { JSDOM } from 'jsdom';
import { expect, test } from 'vitest';
import { renderCheckoutNotice, renderCheckoutPage } from '../../../../integrations/checkout-page/render.ts';
import { cardFormView, paddleView, views } from './views.fixture.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Everything axe finds wrong without looking at colours, which need a browser: color.test.ts and the walk in one look at those. A
 * reader with script never meets what is there for those without.
 */
async function violations(page: string): Promise<string[]> {
  const html = page.replace(/<style>[\s\S]*?<\/style>/, '').replace(/<noscript>.*?<\/noscript>/, '');
  const { window } = new JSDOM(html, { runScripts: 'outside-only', pretendToBeVisual: true });
  window.eval(axe);
  const options = { rules: { 'color-contrast': { enabled: false } } };
  const result = (await window.eval(`axe.run(document, ${JSON.stringify(options)})`)) as {
    violations: { id: string; nodes: { html: string }[] }[];
    passes: unknown[];
  };
  expect(result.passes.length).toBeGreaterThan(10);
  window.close();
  return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

// A page of each build; every state in every language and look is walked through by test/browser.
const pages = [
  ['pay', 'ar'],
  ['pay, no test card', 'en'],
  ['pay at a provider', 'de'],
  ['pay an invoice', 'en'],
  ['confirm', 'de'],
  ['waiting', 'en'],
  ['done', 'ar'],
  ['refunded', 'en'],
] as const;

test.each(pages)('%s in %s: axe finds nothing wrong', async (name, language) => {
  expect(await violations(renderCheckoutPage({ ...views[name]!, language }).html)).toEqual([]);
});

test('pages with the part of a provider too', async () => {
  expect(await violations(renderCheckoutPage(paddleView('pdl_sdbx_1', { language: 'ar' })).html)).toEqual([]);
  expect(await violations(renderCheckoutPage(cardFormView({ language: 'ar' })).html)).toEqual([]);
});

test('pages without a session too', async () => {
  expect(await violations(renderCheckoutNotice('unknown', 'ar').html)).toEqual([]);
});

test('a fault would be found', async () => {
  const { html } = renderCheckoutPage(views.pay!);
  expect(await violations(html.replace('<label for="card">', '<label>'))).toContainEqual(
    expect.stringMatching(/^label: /),
  );
});
