import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { captureBeside, decide, decideRefund, payCheckout } from '../../../dev/provider-fakes/nomod/payment.ts';
import { startNomodFake } from '../../../dev/provider-fakes/nomod/server.ts';
import { nomodAdapter } from '../../../integrations/nomod/adapter.ts';
import { amountOfNomod, nomodAmount } from '../../../integrations/nomod/amount.ts';
import { openNomodGateway } from '../../../integrations/nomod/gateway.ts';
import { GatewayOutcomeUnknown, type RefundRequest } from '../../../integrations/payment-gateway.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { wireToken } from '../../../services/collection/wire-token.ts';
import { gatewayContract } from '../../support/gateways/gateway-contract.ts';
import { linkRequest, opened, referenceOf } from '../../support/gateways/gateway-under-test.ts';
import { nomodUnderTest } from '../../support/gateways/nomod-under-test.ts';

const fake = await startNomodFake();
afterAll(() => fake.close());
let under = nomodUnderTest(fake);
beforeEach(() => {
  under = nomodUnderTest(fake);
});

gatewayContract('the Nomod adapter', () => under, { savesMethods: false });

describe('amounts of Nomod', () => {
  test.each([
    ['12.5', 'aed', '12.50'],
    ['12.50', 'AED', '12.50'],
    ['0.07', 'usd', '0.07'],
    ['1000', 'aed', '1000.00'],
    ['1', 'kwd', '1.000'],
    ['1.234', 'kwd', '1.234'],
    ['1', 'jpy', '1'],
    ['9007199254740.99', 'aed', '9007199254740.99'],
  ])('%s %s is asked as %s, and read back from a number exactly', (amount, currency, asked) => {
    expect(nomodAmount(amount, currency)).toBe(asked);
    expect(nomodAmount(amountOfNomod(JSON.parse(asked)), currency)).toBe(asked);
  });

  test.each([
    ['1.005', 'aed', 'in steps of 0.01'],
    ['1.2345', 'kwd', 'in steps of 0.001'],
    ['1.5', 'jpy', 'in steps of 1'],
    ['90071992547409.91', 'aed', 'more than 15 digits'],
  ])('%s %s is refused before anything is sent: %s', async (amount, currency, rule) => {
    await expect(under.gateway.links.open(linkRequest({ amount, currency }))).rejects.toMatchObject({
      type: 'validation_error',
      message: expect.stringContaining(rule),
    });
    expect(under.books.checkouts.size).toBe(0);
  });
});

describe('answers that are none', () => {
  test.each(['401', '409', '429', '500', 'html', 'half', 'unreachable', 'loses_answer'] as const)('%s', async (how) => {
    const request = linkRequest();
    fake.failNext('open', how);
    const failure = await under.gateway.links.open(request).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(GatewayOutcomeUnknown);
    expect((failure as Error).message).not.toContain(under.apiKey);
    const { providerId } = await under.gateway.links.open(request);
    expect(await under.gateway.links.read({ ...request, providerId })).toMatchObject({ status: 'open' });
  });

  test('hang: the deadline ends it', async () => {
    const gateway = openNomodGateway({ apiKey: under.apiKey, baseUrl: fake.url, deadlineMs: 50 });
    fake.failNext('open', 'hang');
    await expect(gateway.links.open(linkRequest())).rejects.toThrow('nomod did not answer within 0.05 s');
  });

  test('a key that is refused is no answer about money, and is told when an account is asked for', async () => {
    const gateway = openNomodGateway({ apiKey: 'sk_live_1', baseUrl: fake.url });
    const reference = { ...referenceOf('pay_1:1'), providerId: randomUUID() };
    await expect(gateway.links.read(reference)).rejects.toThrow('refuses the key of the connection (401)');
    const { account } = nomodAdapter(fake.url);
    expect(await account({ api_key: 'sk_live_1' })).toEqual({ status: 'refused', member: 'api_key' });
    expect(await account({ api_key: under.apiKey })).toEqual({ status: 'known', id: null });
    fake.failNext('read', '500');
    expect(await account({ api_key: under.apiKey })).toEqual({ status: 'unknown' });
  });

  test.each([
    { currency: undefined },
    { status: '' },
    { created_at: 'yesterday' },
    { charges: [{ id: 'ch_1', status: 'paid', payment_time: null }] },
    { charges: [{ id: 'ch_1', status: 'paid', payment_time: null, amount: 'all' }] },
  ])('a checkout with %o is not whole', async (changes) => {
    const { reference } = await opened(under);
    Object.assign(under.books.checkoutOf(reference.providerId), changes);
    await expect(under.gateway.links.read(reference)).rejects.toThrow('a checkout that is not whole');
  });

  test('another account never answers for a payment of the first', async () => {
    const { reference } = await opened(under);
    const other = nomodUnderTest(fake).gateway;
    await expect(other.links.read(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(other.links.close(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });
});

describe('pages of Nomod', () => {
  const pay = (id: string, card: SandboxBehaviour, count = 0) =>
    payCheckout(under.books, id, sandboxCardNumber(card, count));

  test('a checkout asks for the whole amount as one item, and carries our marks and nothing of its payer', async () => {
    const { request, reference, expiresAt } = await opened(under);
    const checkout = under.books.checkoutOf(reference.providerId);
    expect(checkout).toMatchObject({
      amount: 12.5,
      currency: 'USD',
      items: [{ name: 'Invoice 1', quantity: 1, unit_amount: '12.50', total_amount: '12.50', net_amount: '12.50' }],
      metadata: { environment: 'env_1', kind: 'checkout_session', id: 'checkout_1', token: request.token },
    });
    expect(JSON.stringify(checkout)).not.toMatch(/payer@example\.com|Payer/);
    expect(expiresAt).toBeNull();
  });

  test('one whose answer was lost is opened again, each by a reference of its own, and is dead as far as anybody knows it', async () => {
    const request = linkRequest();
    fake.failNext('open', 'loses_answer');
    await expect(under.gateway.links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await under.gateway.links.close(request)).toMatchObject({ status: 'dead', providerId: null });
    await under.gateway.links.open(request);
    const references = [...under.books.checkouts.values()].map(({ reference_id }) => reference_id);
    expect(new Set(references).size).toBe(2);
    for (const reference of references) expect(reference.startsWith(request.token)).toBe(true);
  });

  test('nothing ends a page: what is closed stays open, and what has ended is not opened again', async () => {
    const { request, reference } = await opened(under);
    expect(await under.gateway.links.close(reference)).toMatchObject({ status: 'open' });
    under.books.checkoutOf(reference.providerId).status = 'cancelled';
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'dead' });
    const again = { ...request, providerId: reference.providerId };
    await expect(under.gateway.links.open(again)).rejects.toThrow('has ended already');
  });

  test('a word for its state that Nomod does not list leaves a page open', async () => {
    const { reference } = await opened(under);
    Object.assign(under.books.checkoutOf(reference.providerId), { status: 'enabled' });
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'open' });
  });

  test('paid without a charge that says how much is not decided', async () => {
    const { reference } = await opened(under);
    under.books.checkoutOf(reference.providerId).status = 'paid';
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'processing', captures: [] });
  });

  test('an attempt that its payer gave up half an hour ago holds nothing up; money that is reserved does', async () => {
    const { reference } = await opened(under);
    await under.pay(reference, 'never_answers');
    const [charge] = under.books.checkoutOf(reference.providerId).charges;
    charge!.payment_time = new Date(Date.now() - 31 * 60_000).toISOString();
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'open' });
    Object.assign(charge!, { status: 'authorised' });
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'processing' });
  });

  test('a bank that refuses in the end leaves the page open', async () => {
    const { reference } = await opened(under);
    await under.pay(reference, 'never_answers');
    decide(under.books, reference.providerId, 'fail');
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'open', declines: [{ code: 'failed' }] });
  });

  test('UPI is refused by name before anything is sent', async () => {
    await expect(under.gateway.links.open(linkRequest({ payBy: 'UPI' }))).rejects.toThrow('nomod takes no UPI');
    expect(under.books.checkouts.size).toBe(0);
  });

  test('what Nomod refuses is told with its code', async () => {
    await expect(under.gateway.links.open(linkRequest({ returnUrl: 'no address' }))).rejects.toMatchObject({
      type: 'validation_error',
      message: 'nomod does not open a payment page for this: invalid_url',
    });
  });

  test('a payer pays on the page of the fake and comes back', async () => {
    const { url, reference } = await opened(under);
    expect(await (await fetch(url)).text()).toContain('No money moves here.');
    const submit = (number: string) =>
      fetch(url, { method: 'POST', body: new URLSearchParams({ card_number: number }), redirect: 'manual' });
    expect(await (await submit(sandboxCardNumber('declines'))).text()).toContain('The last attempt: failed.');
    const paid = await submit(sandboxCardNumber('succeeds'));
    expect(paid.headers.get('location')).toBe('http://127.0.0.1/checkout/page/return');
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid' });
    expect(pay(reference.providerId, 'succeeds')).toBe('closed');
  });
});

describe('refunds of a provider that shows no single one', () => {
  /** A payment of 12.5, and a refund of a part of it. */
  async function paid(card: SandboxBehaviour = 'succeeds', count = 0) {
    const { reference } = await opened(under);
    payCheckout(under.books, reference.providerId, sandboxCardNumber(card, count));
    const [capture] = (await under.gateway.links.read(reference)).captures;
    const refundOf = (amount: string): RefundRequest => {
      const refundToken = `re_${randomUUID()}`;
      const names = { refundToken, token: wireToken(refundToken), chargeProviderId: capture!.chargeProviderId };
      return { ...reference, ...names, providerId: null, amount, currency: 'usd', metadata: {} };
    };
    const checkout = under.books.checkoutOf(reference.providerId);
    const back = () => under.books.givenBack(checkout.charges[0]!.id).toString();
    return { refundOf, checkout, back, refunds: under.gateway.refunds };
  }

  test('a part whose answer was lost is sent again by the same key, and goes back once', async () => {
    const { refundOf, refunds, back } = await paid();
    const request = refundOf('5');
    fake.failNext('refund', 'loses_answer');
    await expect(refunds.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await refunds.lookUp(request)).toEqual({ status: 'not_found' });
    expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded', amount: '5' });
    expect(back()).toBe('5');
  });

  test('one that takes time is asked about by its own key until it is done', async () => {
    const { refundOf, refunds, back } = await paid('refund_answers_late', 2);
    const request = refundOf('5');
    const first = await refunds.refund(request);
    expect(first).toMatchObject({ status: 'processing', gatewayRefundId: expect.any(String) });
    const asked = { ...request, providerId: first.gatewayRefundId };
    expect(await refunds.refund(asked)).toMatchObject({ status: 'processing' });
    expect(await refunds.refund(asked)).toMatchObject({ status: 'succeeded', gatewayRefundId: first.gatewayRefundId });
    expect(back()).toBe('5');
  });

  test('a word that Nomod does not list decides nothing', async () => {
    const { refundOf, refunds } = await paid('refund_never_answers');
    const request = refundOf('5');
    await refunds.refund(request);
    Object.assign(under.books.refunds.get(request.token)!, { status: 'queued' });
    expect(await refunds.refund(request)).toMatchObject({ status: 'processing' });
  });

  test('one that its bank does not take has failed', async () => {
    const { refundOf, refunds } = await paid('refund_never_answers');
    const request = refundOf('5');
    const { gatewayRefundId } = await refunds.refund(request);
    decideRefund(under.books, under.books.refunds.get(request.token)!, 'failed');
    expect(await refunds.refund({ ...request, providerId: gatewayRefundId })).toMatchObject({
      status: 'failed',
      failureReason: 'refund_failed',
    });
  });

  test('where all of a charge went back, whoever sent it, nothing more goes back', async () => {
    const { refundOf, refunds, back } = await paid();
    const [all, more] = [refundOf('12.5'), refundOf('12.5')];
    expect(await refunds.refund(all)).toMatchObject({ status: 'succeeded' });
    expect(await refunds.refund(more)).toMatchObject({ status: 'succeeded', gatewayRefundId: more.token });
    expect([back(), under.books.refunds.size]).toEqual(['12.5', 1]);
  });

  test('a key that Nomod forgot is noticed, and no second success is told', async () => {
    const { refundOf, refunds } = await paid();
    const request = refundOf('5');
    const { gatewayRefundId } = await refunds.refund(request);
    under.books.refunds.delete(request.token);
    await expect(refunds.refund({ ...request, providerId: gatewayRefundId })).rejects.toThrow('not what was asked');
  });

  test('another charge of the page than was asked about is noticed', async () => {
    const { refundOf, refunds, checkout } = await paid();
    captureBeside(under.books, checkout.id);
    await expect(refunds.refund(refundOf('5'))).rejects.toThrow('not what was asked');
  });

  test('a refusal is a failure with its code', async () => {
    const { refundOf, refunds } = await paid();
    expect(await refunds.refund(refundOf('20'))).toMatchObject({
      status: 'failed',
      failureReason: 'refund_amount_exceeds',
    });
  });

  test('another currency than that of the page is never sent', async () => {
    const { refundOf, refunds, back } = await paid();
    expect(await refunds.refund({ ...refundOf('5'), currency: 'aed' })).toMatchObject({ status: 'failed' });
    expect(back()).toBe('0');
  });

  test('a payment without ids of Nomod is not refunded', async () => {
    const { refundOf, refunds } = await paid();
    for (const chargeProviderId of [null, 'charge', 'a/b/c']) {
      const request = { ...refundOf('5'), chargeProviderId };
      await expect(refunds.refund(request)).rejects.toThrow('has no ids of nomod yet');
    }
  });
});
