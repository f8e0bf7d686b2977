import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startStripeFake } from '../../../dev/provider-fakes/stripe/server.ts';
import { GatewayOutcomeUnknown } from '../../../integrations/payment-gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { amountOfStripe, refuseTooLittle, stripeAmount } from '../../../integrations/stripe/amount.ts';
import { openStripeGateway } from '../../../integrations/stripe/gateway.ts';
import { gatewayContract } from '../../support/gateways/gateway-contract.ts';
import { chargeRequest, linkRequest, opened, referenceOf, sent } from '../../support/gateways/gateway-under-test.ts';
import { stripeUnderTest } from '../../support/gateways/stripe-under-test.ts';

const fake = await startStripeFake();
afterAll(() => fake.close());
let under = stripeUnderTest(fake);
beforeEach(() => {
  under = stripeUnderTest(fake);
});

gatewayContract('the Stripe adapter', () => under);

describe('finding A7: amounts of Stripe', () => {
  test.each([
    ['12.5', 'usd', '1250'],
    ['12.50', 'USD', '1250'],
    ['0.07', 'eur', '7'],
    ['10000', 'xaf', '10000'],
    ['500', 'jpy', '500'],
    ['500', 'pyg', '500'],
    ['7', 'rwf', '7'],
    ['300', 'mga', '300'],
    ['5', 'ugx', '500'],
    ['1000', 'isk', '100000'],
    ['1.23', 'kwd', '1230'],
    ['0.5', 'bhd', '500'],
    ['90071992547409.91', 'usd', '9007199254740991'],
  ])('%s %s is %s', (amount, currency, minor) => {
    expect(stripeAmount(amount, currency)).toBe(minor);
    expect(Number(amountOfStripe(Number(minor), currency))).toBe(Number(amount));
  });

  test.each([
    ['1.234', 'kwd'],
    ['0.005', 'usd'],
    ['1.5', 'jpy'],
    ['1.5', 'isk'],
    ['5.5', 'ugx'],
    ['10.5', 'mga'],
    ['1', 'iqd'],
    ['1', 'clf'],
  ])('%s %s is refused by name', (amount, currency) => {
    expect(() => stripeAmount(amount, currency)).toThrow(/stripe/);
  });

  test('less than Stripe takes is refused before a page is opened', async () => {
    expect(() => refuseTooLittle('0.49', 'usd')).toThrow('0.5 usd or more');
    await expect(under.gateway.links!.open(linkRequest({ amount: '0.49' }))).rejects.toThrow('0.5 usd or more');
    expect(under.books.sessions.size).toBe(0);
  });
});

describe('answers that are none', () => {
  test.each(['429', '500', 'html', 'half', 'unreachable', 'loses_answer'] as const)('%s', async (how) => {
    const method = await under.savedMethod('succeeds');
    const request = chargeRequest(method.token, method.customerToken);
    fake.failNext('charge', how);
    await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await sent(under.gateway, request)).toMatchObject({ status: 'succeeded' });
    expect(await under.capturesOf(request.intentToken)).toEqual(['12.5 usd']);
  });

  test('hang: the deadline ends it, and the error names no key', async () => {
    const secretKey = `sk_test_${randomUUID().replaceAll('-', '')}`;
    const gateway = openStripeGateway({ secretKey, baseUrl: fake.url, deadlineMs: 50 });
    fake.failNext('open', 'hang');
    const failure = await gateway.links.open(linkRequest()).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(GatewayOutcomeUnknown);
    expect((failure as Error).message).toBe('stripe did not answer within 0.05 s');
  });

  test('a key that is refused is no answer about money', async () => {
    const gateway = openStripeGateway({ secretKey: 'sk_live_1', baseUrl: fake.url });
    const reference = { ...referenceOf('pay_1:1'), providerId: 'pi_1' };
    await expect(gateway.charges.lookUp(reference)).rejects.toThrow('refuses the key of the connection (401)');
  });
});

describe('finding A1: another account never answers for a payment of the first', () => {
  test('a charge, a link and a refund that the account does not have are unknown, not missing', async () => {
    const { token, customerToken } = await under.savedMethod('succeeds');
    const request = chargeRequest(token, customerToken);
    const { gatewayPaymentId } = await sent(under.gateway, request);
    const { reference } = await opened(under);
    const other = stripeUnderTest(fake).gateway;
    await expect(other.charges!.lookUp(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(other.links!.read(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(other.links!.close(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const refund = { ...request, refundToken: 're_1', token: 'pn_1', chargeProviderId: gatewayPaymentId };
    expect(await other.refunds!.refund(refund)).toMatchObject({ status: 'failed', gatewayRefundId: null });
  });
});

describe('finding A15: the first real call fails', () => {
  test('a session lives longer than Stripe asks for, although ours ends sooner', async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const { expiresAt } = await opened(under, { expiresAt: soon });
    expect(Date.parse(expiresAt!) - Date.now()).toBeGreaterThan(31 * 60_000);
  });

  test('one that ends after more than a day is opened for a day', async () => {
    const late = new Date(Date.now() + 3 * 86_400_000).toISOString();
    const { expiresAt } = await opened(under, { expiresAt: late });
    expect(Date.parse(expiresAt!) - Date.now()).toBeLessThan(86_400_000);
  });

  test('finding A2: an answer lost long ago: the link of the token is found, and no second one is opened', async () => {
    const request = linkRequest();
    fake.failNext('open', 'loses_answer');
    await expect(under.gateway.links!.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    // So late that Stripe would refuse the first expiry.
    const later = { ...request, createdAt: new Date(Date.now() - 300_000).toISOString(), expiresAt: request.createdAt };
    const { providerId } = await under.gateway.links!.open(later);
    expect([...under.books.sessions.keys()]).toEqual([providerId]);
    expect(await under.gateway.links!.read(later)).toMatchObject({ status: 'open', providerId });
    expect(await under.gateway.links!.close(later)).toMatchObject({ status: 'dead', providerId });
  });

  test('a link that never arrived is dead', async () => {
    expect(await under.gateway.links!.close(linkRequest())).toMatchObject({ status: 'dead', providerId: null });
  });

  test('a link is asked for by card alone, without what would change its amount, and with our marks', async () => {
    const { request, reference } = await opened(under, { saveMethod: true });
    const session = under.books.sessions.get(reference.providerId!);
    expect(session).toMatchObject({
      client_reference_id: request.token,
      metadata: { environment: 'env_1', kind: 'checkout_session', id: 'checkout_1', perennial_token: request.token },
    });
    await under.pay(reference, 'succeeds');
    const state = await under.gateway.links!.read(reference);
    expect(state.savedMethod).toMatchObject({ lastFour: sandboxCardNumber('succeeds').slice(-4) });
    const request2 = chargeRequest(state.savedMethod!.token, state.savedMethod!.customerToken);
    expect(await sent(under.gateway, request2)).toMatchObject({ status: 'succeeded' });
  });

  test('a payer pays on the page of the fake and comes back', async () => {
    const { url, reference } = await opened(under);
    expect(await (await fetch(url)).text()).toContain('No money moves here.');
    const pay = (number: string) =>
      fetch(url, { method: 'POST', body: new URLSearchParams({ card_number: number }), redirect: 'manual' });
    expect(await (await pay(sandboxCardNumber('declines'))).text()).toContain('requires_payment_method');
    const paid = await pay(sandboxCardNumber('succeeds'));
    expect(paid.headers.get('location')).toBe('http://127.0.0.1/checkout/page/return');
    expect(await under.gateway.links!.read(reference)).toMatchObject({ status: 'paid' });
  });
});

describe('charges that wait', () => {
  test('a prepared charge that was never confirmed is not found, and can be given up', async () => {
    const { token, customerToken } = await under.savedMethod('succeeds');
    const request = chargeRequest(token, customerToken);
    const charges = under.gateway.charges!;
    if (!('prepare' in charges)) throw new Error('the charges of Stripe are prepared');
    request.providerId = (await charges.prepare(request)).providerId;
    expect((await charges.prepare(request)).providerId).toBe(request.providerId);
    expect(await charges.lookUp(request)).toEqual({ status: 'not_found' });
    expect(await charges.cancel(request)).toMatchObject({ status: 'declined', declineCode: 'canceled' });
    await expect(charges.confirm(request, request.providerId)).resolves.toMatchObject({ status: 'declined' });
    expect(await under.capturesOf(request.intentToken)).toEqual([]);
  });

  test('a card that is gone at Stripe is a decline for good', async () => {
    const { token } = await under.savedMethod('succeeds');
    const foreign = chargeRequest(token, (await under.savedMethod('succeeds')).customerToken);
    expect(await sent(under.gateway, foreign)).toMatchObject({ status: 'declined', declineClass: 'never' });
    const unknown = chargeRequest('pm_unknown', null);
    expect(await sent(under.gateway, unknown)).toMatchObject({ status: 'declined', declineCode: 'resource_missing' });
  });

  test('giving up a captured charge tells that it is captured', async () => {
    const { token, customerToken } = await under.savedMethod('succeeds');
    const request = chargeRequest(token, customerToken);
    await sent(under.gateway, request);
    expect(await under.gateway.charges!.cancel(request)).toMatchObject({ status: 'succeeded', amount: '12.5' });
  });
});
