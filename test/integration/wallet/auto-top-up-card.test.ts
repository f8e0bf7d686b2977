import { afterAll, expect, test } from 'vitest';
import { paySession } from '../../../dev/provider-fakes/stripe/payment.ts';
import { startStripeFake } from '../../../dev/provider-fakes/stripe/server.ts';
import { providerAdapters } from '../../../integrations/connect.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { created, testPlatform } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { readSession } from '../payment/checkout/checkout.fixture.ts';
import { fillingWallets } from './auto-top-up.fixture.ts';

const fake = await startStripeFake();
const providers = providerAdapters({ stripe: fake.url });
const platform = await testPlatform({ providers, fakes: { stripe: fake } });
afterAll(() => fake.close());
const { api } = platform;
const { walletOf, debit, attemptsOf, becomes, standingOf } = fillingWallets(platform);

const secretKey = 'sk_test_cards';
const books = fake.booksOf(secretKey);
await created(api, '/connections', {
  name: 'Stripe',
  provider_type: 'stripe',
  encrypted_secret_data: { publishable_key: 'pk_test_1', secret_key: secretKey, webhook_secret: null },
});

let people = 0;
async function person(): Promise<string> {
  people += 1;
  const name = `card-${people}`;
  return (await created(api, '/customers', { external_id: name, name, email: `${name}@example.com` })).id;
}

/** Saves a card on a page of Stripe, as the default. */
async function save(customerId: string, cardNumber: string): Promise<void> {
  const path = `/payments/customers/${customerId}/setup/intent`;
  const intent = await created<Wire>(api, path, { provider: 'stripe', set_default: true });
  const { provider_result } = await readSession(api, intent.checkout_session_id);
  expect(paySession(books, provider_result.provider_session_id, cardNumber)).toBe('succeeded');
  await expect
    .poll(() => readSession(api, intent.checkout_session_id), { timeout: 20_000 })
    .toMatchObject({ checkout_status: 'completed' });
}

test('finding 9: a card has its limits once, for whomever and however often its provider saved it', async () => {
  await api('PUT', '/settings/auto_topup_limits', { value: { succeeded_per_day: 1 } });
  const [first, second, other] = [await person(), await person(), await person()];
  await save(first, sandboxCardNumber('succeeds'));
  await save(second, sandboxCardNumber('succeeds'));
  await save(other, sandboxCardNumber('answers_twice'));
  const walletId = await walletOf(first);
  await debit(walletId, '90');
  await becomes(walletId, { state: 'limited', attempts_24h: 1 });
  const sharing = await walletOf(second);
  await debit(sharing, '90');
  await becomes(sharing, { state: 'limited', reason: 'card_succeeded_per_day', attempts_24h: 0 });
  const apart = await walletOf(other);
  await debit(apart, '90');
  await becomes(apart, { attempts_24h: 1 });
  expect(await attemptsOf(sharing)).toEqual([]);
  await api('DELETE', '/settings/auto_topup_limits');
});

test('finding 26: the card that was declined ends no pause when it is saved again; another card does', async () => {
  const customerId = await person();
  const declined = sandboxCardNumber('declines_times', 50);
  await save(customerId, declined);
  const walletId = await walletOf(customerId);
  await debit(walletId, '90');
  for (const consecutive_declines of [1, 2, 3]) {
    await becomes(walletId, { state: 'backing_off', consecutive_declines });
    await api('POST', `/wallets/${walletId}/auto-topup/retry`);
  }
  await becomes(walletId, { state: 'paused', reason: 'declines' });
  await save(customerId, declined);
  expect(await standingOf(walletId)).toMatchObject({ state: 'paused', reason: 'declines', consecutive_declines: 4 });
  await save(customerId, sandboxCardNumber('succeeds'));
  // The pause is over; the limit that its declines reached is not.
  await becomes(walletId, { state: 'limited', reason: 'declined_per_day', consecutive_declines: 0 });
});
