import { afterAll, expect, test } from 'vitest';
import { startPaddleFake } from '../../dev/provider-fakes/paddle/server.ts';
import { providerAdapters } from '../../integrations/connect.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { created, testPlatform } from '../support/billing.ts';
import { launchBrowser } from './browser.ts';

const fake = await startPaddleFake();
const { api, app } = await testPlatform({ providers: providerAdapters({ paddle: fake.url }) });
const address = await app.listen({ host: '127.0.0.1', port: 0 });
const browser = await launchBrowser();
afterAll(async () => {
  await browser.close();
  await fake.close();
});

await created(api, '/connections', {
  name: 'Paddle',
  provider_type: 'paddle',
  encrypted_secret_data: { api_key: 'pdl_sdbx_apikey_walk', client_side_token: 'test_walk' },
});

interface Session {
  id: string;
  checkout_status: string;
  payment_action: { url: string };
}

/** A session for an invoice, and the address of its page on this server. */
async function opened(): Promise<{ session: Session; url: string }> {
  const customer = await created(api, '/customers', { external_id: crypto.randomUUID(), name: 'Shopper' });
  const invoice = await created<{ checkout_session: Session }>(api, '/invoices', {
    customer_id: customer.id,
    currency: 'usd',
    ...{ subtotal: '25', total: '25', amount_due: '25' },
    line_items: [{ display_name: 'Onboarding', amount: '25', quantity: '1' }],
    checkout: { payment_provider: 'paddle', success_url: 'https://shop.example/thanks' },
  });
  const session = invoice.checkout_session;
  return { session, url: `${address}${new URL(session.payment_action.url).pathname}` };
}

test('a stranger pays by the script of Paddle over our page, whose policy nothing of it breaks', async () => {
  const { session, url } = await opened();
  const page = await browser.newPage({ locale: 'en-US' });
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  await page.locator('button#paddle:enabled').click();
  const frame = page.frameLocator('iframe[title="Paddle fake"]');
  await frame.locator('select').selectOption(sandboxCardNumber('succeeds'));
  expect(complaints).toEqual([]);
  // Back by the address that asks what is true, and on to the shop, which is not there.
  const leaving = page.waitForRequest((request) => request.url().startsWith('https://shop.example/thanks'));
  await frame.locator('button').click();
  expect(new URL((await leaving).url()).searchParams.get('status')).toBe('completed');
  expect((await api<Session>('GET', `/checkout/sessions/${session.id}`)).body.checkout_status).toBe('completed');
  await page.close();
});

test('without script the page says that it cannot be paid so', async () => {
  const { url } = await opened();
  const context = await browser.newContext({ javaScriptEnabled: false, locale: 'en-US' });
  const page = await context.newPage();
  await page.goto(url);
  expect(await page.locator('noscript .alert').isVisible()).toBe(true);
  expect(await page.locator('button#paddle').isEnabled()).toBe(false);
  await context.close();
});
