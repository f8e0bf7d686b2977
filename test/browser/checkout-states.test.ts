import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { renderCheckoutPage } from '../../integrations/checkout-page/render.ts';
import { type CheckoutPageView, checkoutLanguages } from '../../integrations/checkout-page/view.ts';
import { views } from '../unit/payment/checkout-page/views.fixture.ts';
import { launchBrowser } from './browser.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pictures = process.env.KEEP_PICTURES;
if (pictures) mkdirSync(pictures, { recursive: true });
const browser = await launchBrowser();
afterAll(() => browser.close());

const devices = { phone: { width: 360, height: 740 }, desktop: { width: 1200, height: 800 } };
const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  Object.entries(devices).map(([device, viewport]) => [device, colorScheme, viewport] as const),
);

describe.each(looks)('on a %s, %s', async (device, colorScheme, viewport) => {
  // axe is put into the page by the browser's own tools, which a policy does not bind; the page itself is bound.
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));

  test.each(Object.entries(views))('%s can be read by everybody and fits', async (name, view) => {
    for (const language of checkoutLanguages) {
      const label = `${name.replace(/\W+/g, '-')}.${device}.${colorScheme}.${language}`;
      await show(page, { ...view, language });
      if (pictures) await page.screenshot({ path: join(pictures, `${label}.png`), fullPage: true });
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), label).toBeLessThanOrEqual(0);
      await page.evaluate(axe);
      const { violations } = (await page.evaluate('axe.run()')) as {
        violations: { id: string; nodes: { html: string }[] }[];
      };
      expect(
        violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
        label,
      ).toEqual([]);
    }
    expect(complaints).toEqual([]);
  });
});

/** Opens a state at an address of its own, with the policy that goes with it. */
async function show(page: Page, view: CheckoutPageView): Promise<void> {
  const { html, contentSecurityPolicy } = renderCheckoutPage(view);
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': contentSecurityPolicy };
  await page.unroute('**');
  await page.route('**', (route) => route.fulfill({ body: html, headers }));
  await page.goto(`https://pay.example${view.address}`);
}
