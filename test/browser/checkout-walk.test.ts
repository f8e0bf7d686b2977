import { afterAll, expect, test } from 'vitest';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { created, monthlyPlan, testPlatform } from '../support/billing.ts';
import { launchBrowser } from './browser.ts';

const { api, app } = await testPlatform();
const address = await app.listen({ host: '127.0.0.1', port: 0 });
const browser = await launchBrowser();
afterAll(() => browser.close());

interface Session {
  id: string;
  checkout_status: string;
  payment_action: { url: string };
  result: { create_subscription_result: { subscription_id: string } };
}

let shoppers = 0;

/** A session for a subscription, and the address of its page on this server. */
async function opened(): Promise<{ session: Session; url: string }> {
  shoppers += 1;
  const external_id = `shopper-${shoppers}`;
  await created(api, '/customers', { external_id, name: `Shopper ${shoppers}` });
  const { planId } = await monthlyPlan(api);
  const session = await created<Session>(api, '/checkout/sessions', {
    customer_external_id: external_id,
    action: 'create_subscription',
    payment_provider: 'sandbox',
    configuration: { create_subscription_params: { plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' } },
    success_url: 'https://shop.example/thanks',
  });
  return { session, url: `${address}${new URL(session.payment_action.url).pathname}` };
}

test.each([
  ['with script', true],
  ['without script', false],
])('a stranger pays for a subscription, %s', async (_, javaScriptEnabled) => {
  const { session, url } = await opened();
  const context = await browser.newContext({ javaScriptEnabled, locale: 'en-US' });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  await page.getByText('$30.00').first().waitFor();
  // A card that is declined, written by hand; then one whose bank asks, chosen from the list.
  await page.locator('#card').fill(sandboxCardNumber('declines'));
  await page.locator('button.primary').click();
  await page.locator('#problem').waitFor();
  await page.locator(`button[value="${sandboxCardNumber('requires_action')}"]`).click();
  await page.locator('button[value="confirm"]').click();
  const back = page.locator('a.primary');
  await back.waitFor();
  expect(await back.getAttribute('href')).toBe(
    `https://shop.example/thanks?checkout_session_id=${session.id}&status=completed`,
  );
  expect(complaints).toEqual([]);
  const paid = (await api<Session>('GET', `/checkout/sessions/${session.id}`)).body;
  expect(paid.checkout_status).toBe('completed');
  const { subscription_id } = paid.result.create_subscription_result;
  expect((await api('GET', `/subscriptions/${subscription_id}`)).body).toMatchObject({ subscription_status: 'active' });
  await context.close();
});

test('a bank that takes its time is waited for by the page itself', async () => {
  const { url } = await opened();
  const page = await browser.newPage();
  await page.goto(url);
  await page.locator('#card').fill(sandboxCardNumber('answers_late', 4));
  await page.locator('button.primary').click();
  await page.locator('a.primary').waitFor({ timeout: 60_000 });
  await page.close();
});
