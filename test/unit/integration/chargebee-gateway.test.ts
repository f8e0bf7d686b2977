import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { decide, pageOf, payPage } from '../../../dev/provider-fakes/chargebee/payment.ts';
import { startChargebeeFake } from '../../../dev/provider-fakes/chargebee/server.ts';
import { chargebeeAdapter } from '../../../integrations/chargebee/adapter.ts';
import { amountOfChargebee, chargebeeAmount } from '../../../integrations/chargebee/amount.ts';
import { openChargebeeGateway } from '../../../integrations/chargebee/gateway.ts';
import { GatewayOutcomeUnknown } from '../../../integrations/payment-gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { chargebeeUnderTest } from '../../support/gateways/chargebee-under-test.ts';
import { gatewayContract } from '../../support/gateways/gateway-contract.ts';
import { linkRequest, opened, referenceOf } from '../../support/gateways/gateway-under-test.ts';

const fake = await startChargebeeFake();
afterAll(() => fake.close());
let under = chargebeeUnderTest(fake);
beforeEach(() => {
  under = chargebeeUnderTest(fake);
});

const minuteMs = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * minuteMs).toISOString();

gatewayContract('the Chargebee adapter', () => under);

describe('finding A7: amounts of Chargebee', () => {
  test.each([
    ['12.5', 'usd', 1250],
    ['12.50', 'USD', 1250],
    ['0.07', 'eur', 7],
    ['15', 'jpy', 15],
    ['90071992547409.91', 'usd', 9007199254740991],
  ])('%s %s is %s', (amount, currency, minor) => {
    expect(chargebeeAmount(amount, currency)).toBe(minor);
    expect(chargebeeAmount(amountOfChargebee(minor, currency), currency)).toBe(minor);
  });

  test.each([
    ['1.005', 'usd', 'in steps of 0.01'],
    ['1.5', 'jpy', 'in steps of 1'],
    ['90071992547409.92', 'usd', 'no more than 90071992547409.91 usd'],
    ['9007199254740992', 'jpy', 'no more than 9007199254740991 jpy'],
    ['1', 'kwd', 'takes no payments in kwd'],
    ['100', 'vnd', 'takes no payments in vnd'],
  ])('%s %s cannot be expressed and is refused before a page is opened', async (amount, currency, why) => {
    expect(() => chargebeeAmount(amount, currency)).toThrow(why);
    await expect(under.gateway.links.open(linkRequest({ amount, currency }))).rejects.toThrow(why);
    expect([under.books.pages.size, under.books.customers.size]).toEqual([0, 0]);
  });
});

describe('answers that are none', () => {
  test.each(['401', '429', '500', 'site_not_found', 'operation_failed', 'html', 'half', 'unreachable'] as const)(
    '%s',
    async (how) => {
      const request = linkRequest();
      fake.failNext('open', how);
      await expect(under.gateway.links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
      const { providerId } = await under.gateway.links.open(request);
      expect([...under.books.pages.keys()]).toEqual([providerId]);
    },
  );

  test('hang: the deadline ends it, and the error names no key', async () => {
    const gateway = openChargebeeGateway({ site: 'acme', apiKey: under.apiKey, baseUrl: fake.url, deadlineMs: 50 });
    fake.failNext('payer', 'hang');
    const failure = await gateway.links.open(linkRequest()).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(GatewayOutcomeUnknown);
    expect((failure as Error).message).toBe('chargebee did not answer within 0.05 s');
  });

  test('a key or site that is refused is no answer about money, and is told when an account is asked for', async () => {
    const gateway = openChargebeeGateway({ site: 'acme', apiKey: 'live_1', baseUrl: fake.url });
    const reference = { ...referenceOf('pay_1:1'), providerId: 'hp_1' };
    await expect(gateway.links.read(reference)).rejects.toThrow('refuses the site or key of the connection (401)');
    const { account } = chargebeeAdapter(fake.url);
    const secrets = { site: 'Acme-Test', api_key: under.apiKey };
    expect(await account({ ...secrets, api_key: 'live_1' })).toEqual({ status: 'refused', member: 'api_key' });
    expect(await account(secrets)).toEqual({ status: 'known', id: 'acme-test' });
    fake.failNext('find', 'site_not_found');
    expect(await account(secrets)).toEqual({ status: 'refused', member: 'site' });
    fake.failNext('find', '500');
    expect(await account(secrets)).toEqual({ status: 'unknown' });
  });

  test('finding A1: another site never answers for a payment of the first', async () => {
    const { reference } = await opened(under);
    const other = chargebeeUnderTest(fake).gateway;
    await expect(other.links.read(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(other.links.close(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });
});

describe('pages of Chargebee', () => {
  test('a page is of a customer of its own that carries our marks, is not charged by itself, and no e-mail is sent', async () => {
    const { request, reference } = await opened(under);
    const marks = { environment: 'env_1', kind: 'checkout_session', id: 'checkout_1' };
    expect(under.books.customers.get(request.token)).toMatchObject({
      first_name: 'Payer',
      email: 'payer@example.com',
      auto_collection: 'off',
      meta_data: marks,
    });
    expect(under.books.orders.get(reference.providerId)).toMatchObject({
      customerId: request.token,
      amount: 1250,
      currency: 'USD',
    });
    expect(JSON.parse(pageOf(under.books, reference.providerId).pass_thru_content ?? '')).toEqual({
      ...marks,
      perennial_token: request.token,
    });
    expect(under.books.mailed).toEqual([]);
  });

  test('nothing closes a page: it stays open for its three hours, also when its payer has gone back', async () => {
    const { gateway, books } = under;
    const { reference, expiresAt } = await opened(under);
    expect(Date.parse(expiresAt!) - Date.now()).toBeGreaterThan(179 * minuteMs);
    expect(await gateway.links.close(reference)).toMatchObject({ status: 'open', expiresAt });
    const page = pageOf(books, reference.providerId);
    page.state = 'cancelled';
    expect(await gateway.links.close(reference)).toMatchObject({ status: 'open' });
    // A payer who paid in its last second.
    page.expires_at = Math.floor(Date.now() / 1000) - 60;
    expect(await gateway.links.close(reference)).toMatchObject({ status: 'open' });
    page.expires_at -= 120;
    expect(await gateway.links.close(reference)).toMatchObject({ status: 'dead' });
  });

  test('finding A2: a page whose answer was lost is found by its token, and opened once also when the key is forgotten', async () => {
    const { gateway, books } = under;
    for (let i = 0; i < 120; i += 1) await opened(under);
    const request = linkRequest();
    fake.failNext('open', 'loses_answer');
    await expect(gateway.links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const found = await gateway.links.read(request);
    expect(found).toMatchObject({ status: 'open', providerId: expect.any(String) });
    books.forgetKeys();
    const later = { ...request, createdAt: ago(26) };
    expect(await gateway.links.open(later)).toMatchObject({ providerId: found.providerId, url: found.url });
    expect(books.pages.size).toBe(121);
  });

  test('a page that never arrived is dead, also when its customer did', async () => {
    expect(await under.gateway.links.close(linkRequest())).toMatchObject({ status: 'dead', providerId: null });
    const request = linkRequest();
    fake.failNext('open', 'unreachable');
    await expect(under.gateway.links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await under.gateway.links.close(request)).toMatchObject({ status: 'dead', providerId: null });
  });

  test('money is found without the id of the page', async () => {
    const { reference } = await opened(under);
    await under.pay(reference, 'succeeds');
    const paid = await under.gateway.links.read({ ...reference, providerId: null });
    expect(paid).toMatchObject({ status: 'paid', captures: [{ amount: '12.5', currency: 'usd' }] });
  });

  test('a page that succeeded is undecided until its payment is listed, and dead when that has failed', async () => {
    const { gateway, books } = under;
    const { reference } = await opened(under);
    await under.pay(reference, 'never_answers');
    const [payment] = books.paymentsOf(reference.token);
    decide(books, reference.providerId, 'capture');
    books.transactions.delete(payment!.id);
    expect(await gateway.links.read(reference)).toMatchObject({ status: 'processing', captures: [] });
    books.transactions.set(payment!.id, { ...payment!, status: 'late_failure', error_code: 'account_closed' });
    const declines = [{ chargeProviderId: payment!.id, code: 'account_closed', class: 'never' }];
    expect(await gateway.links.read(reference)).toMatchObject({ status: 'dead', captures: [], declines });
  });

  test('one attempt under way keeps the page busy; refused by its bank it can be paid again', async () => {
    const { reference } = await opened(under);
    await under.pay(reference, 'never_answers');
    expect(payPage(under.books, reference.providerId, sandboxCardNumber('succeeds'))).toBe('in_progress');
    decide(under.books, reference.providerId, 'fail');
    const declines = [{ code: 'authentication_failed', class: 'authenticate' }];
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'open', declines });
  });

  test('what Chargebee refuses is told with its own code', async () => {
    const customer = { token: null, name: 'Payer', email: 'nobody', contact: null };
    await expect(under.gateway.links.open(linkRequest({ customer }))).rejects.toMatchObject({
      type: 'validation_error',
      message: expect.stringContaining('param_wrong_value (email)'),
    });
    expect(under.books.pages.size).toBe(0);
  });

  test('a payer pays on the page of the fake and comes back', async () => {
    const { url, reference } = await opened(under);
    expect(await (await fetch(url)).text()).toContain('No money moves here.');
    const pay = (number: string) =>
      fetch(url, { method: 'POST', body: new URLSearchParams({ card_number: number }), redirect: 'manual' });
    expect(await (await pay(sandboxCardNumber('declines'))).text()).toContain('The last attempt: failure.');
    const paid = await pay(sandboxCardNumber('succeeds'));
    expect(paid.headers.get('location')).toBe(
      `http://127.0.0.1/checkout/page/return?id=${reference.providerId}&state=succeeded`,
    );
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid' });
  });
});
