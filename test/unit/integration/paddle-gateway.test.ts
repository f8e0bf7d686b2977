import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { FakeTransaction } from '../../../dev/provider-fakes/paddle/books.ts';
import { begin, capture, decide, payTransaction } from '../../../dev/provider-fakes/paddle/payment.ts';
import { startPaddleFake } from '../../../dev/provider-fakes/paddle/server.ts';
import { paddleAdapter } from '../../../integrations/paddle/adapter.ts';
import { amountOfPaddle, paddleAmount } from '../../../integrations/paddle/amount.ts';
import { openPaddleGateway } from '../../../integrations/paddle/gateway.ts';
import { GatewayOutcomeUnknown } from '../../../integrations/payment-gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { gatewayContract } from '../../support/gateways/gateway-contract.ts';
import { linkRequest, opened, referenceOf } from '../../support/gateways/gateway-under-test.ts';
import { paddleUnderTest } from '../../support/gateways/paddle-under-test.ts';

const fake = await startPaddleFake();
afterAll(() => fake.close());
let under = paddleUnderTest(fake);
beforeEach(() => {
  under = paddleUnderTest(fake);
});
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const transactionOf = (id: string): FakeTransaction => under.books.transactions.get(id)!;

gatewayContract('paddle', () => under, { savesMethods: false });

describe('amounts of Paddle', () => {
  test.each([
    ['12.5', 'usd', '1250'],
    ['0.7', 'EUR', '70'],
    ['100', 'jpy', '100'],
    ['12500', 'krw', '12500'],
    ['90071992547409.91', 'usd', '9007199254740991'],
  ])('%s %s is %s, and back', (amount, currency, minor) => {
    expect(paddleAmount(amount, currency)).toBe(minor);
    expect(amountOfPaddle(minor, currency)).toBe(amount);
  });

  test.each([
    ['0.001', 'usd', 'in steps of 0.01'],
    ['1.5', 'jpy', 'in steps of 1'],
    ['5', 'aed', 'paddle takes no payments in aed'],
    ['5', 'kwd', 'paddle takes no payments in kwd'],
    ['50000', 'vnd', 'paddle takes no payments in vnd'],
    ['5000', 'clp', 'paddle takes no payments in clp'],
  ])('%s %s is refused, and nothing is sent', async (amount, currency, message) => {
    expect(() => paddleAmount(amount, currency)).toThrow(message);
    await expect(under.gateway.links.open(linkRequest({ amount, currency }))).rejects.toThrow(message);
    expect(under.books.transactions.size).toBe(0);
  });
});

describe('answers that are none', () => {
  test.each(['403', '429', '500', 'html', 'half', 'unreachable', 'loses_answer'] as const)('%s', async (how) => {
    const request = linkRequest();
    fake.failNext('open', how);
    await expect(under.gateway.links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const { providerId } = await under.gateway.links.open(request);
    expect([...under.books.transactions.keys()]).toEqual([providerId]);
  });

  test('hang: the deadline ends it, and the error names no key', async () => {
    // One of its own: a request that is given up before it arrives leaves its fault behind.
    const hanging = await startPaddleFake();
    const options = { apiKey: under.apiKey, clientToken: 'test_1', baseUrl: hanging.url, deadlineMs: 50 };
    hanging.failNext('list', 'hang');
    const failure = await openPaddleGateway(options)
      .links.open(linkRequest())
      .catch((error: Error) => error);
    await hanging.close();
    expect(failure).toBeInstanceOf(GatewayOutcomeUnknown);
    expect((failure as Error).message).toBe('paddle did not answer within 0.05 s');
  });

  test('a key that is refused is no answer about money, and is told when an account is asked for', async () => {
    const gateway = openPaddleGateway({ apiKey: 'pdl_live_1', clientToken: 'live_1', baseUrl: fake.url });
    const reference = { ...referenceOf('pay_1:1'), providerId: 'txn_1' };
    await expect(gateway.links.read(reference)).rejects.toThrow('refuses the key of the connection (403)');
    const { account } = paddleAdapter(fake.url);
    expect(await account({ api_key: 'pdl_live_1' })).toEqual({ status: 'refused', member: 'api_key' });
    expect(await account({ api_key: under.apiKey })).toEqual({ status: 'known', id: null });
    fake.failNext('list', '500');
    expect(await account({ api_key: under.apiKey })).toEqual({ status: 'unknown' });
  });

  test('another account never answers for a payment of the first', async () => {
    const { reference } = await opened(under);
    const other = paddleUnderTest(fake).gateway;
    await expect(other.links.read(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(other.links.close(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });
});

describe('transactions of Paddle', () => {
  test('one asks for the whole amount on our page, and carries our marks, by which it is found', async () => {
    const request = linkRequest();
    fake.failNext('open', 'loses_answer');
    await expect(under.gateway.links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const [transaction] = [...under.books.transactions.values()];
    const marks = { environment: 'env_1', kind: 'checkout_session', id: 'checkout_1', perennial_token: request.token };
    const { id } = transaction!;
    const checkout = { url: `http://127.0.0.1/checkout/page?_ptxn=${id}` };
    expect(transaction).toMatchObject({ currency_code: 'USD', custom_data: marks, checkout });
    expect(transaction!.details.totals.grand_total).toBe('1250');
    expect(await under.gateway.links.open(request)).toEqual({
      providerId: id,
      url: request.pageUrl,
      expiresAt: request.expiresAt,
    });
    expect(await under.gateway.links.read(request)).toMatchObject({ status: 'open', providerId: id });
  });

  test('among hundreds of others the right one is found, also hours later', async () => {
    const first = linkRequest();
    await under.gateway.links.open(first);
    for (let n = 0; n < 70; n += 1) await under.gateway.links.open(linkRequest());
    const request = { ...linkRequest(), createdAt: minutesAgo(600) };
    const { providerId } = await under.gateway.links.open(request);
    expect((await under.gateway.links.open(request)).providerId).toBe(providerId);
    expect(under.books.transactions.size).toBe(72);
  });

  test('a link that never arrived is dead', async () => {
    expect(await under.gateway.links.close(linkRequest())).toMatchObject({ status: 'dead', providerId: null });
  });

  test('one that its payer has begun is closed to every attempt; one that nobody began stays, and takes late money', async () => {
    const { reference } = await opened(under);
    expect(await under.gateway.links.close(reference)).toMatchObject({ status: 'open', captures: [] });
    begin(under.books, transactionOf(reference.providerId));
    expect(await under.gateway.links.close(reference)).toMatchObject({ status: 'dead', captures: [] });
    await expect(under.gateway.links.open(reference)).rejects.toThrow('has ended already');
    expect(payTransaction(under.books, reference.providerId, sandboxCardNumber('succeeds'))).toBe('closed');
    expect(await under.gateway.links.close(reference)).toMatchObject({ status: 'dead' });
  });

  test('money counts when it is paid, before Paddle has booked it', async () => {
    const { reference } = await opened(under);
    await under.pay(reference, 'never_answers');
    const transaction = transactionOf(reference.providerId);
    capture(under.books, transaction, transaction.payments[0]!, { isBooked: false });
    const captures = [{ chargeProviderId: transaction.id, amount: '12.5', currency: 'usd' }];
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid', captures });
    transaction.status = 'ready';
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid', captures });
  });

  test('an attempt that its payer gave up half an hour ago holds nothing up; a bank’s answer is waited for', async () => {
    const { reference } = await opened(under);
    payTransaction(under.books, reference.providerId, sandboxCardNumber('requires_action'));
    const [attempt] = transactionOf(reference.providerId).payments;
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'processing' });
    attempt!.created_at = minutesAgo(31);
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'open' });
    attempt!.status = 'pending_no_action_required';
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'processing' });
    decide(under.books, reference.providerId, 'fail');
    const declines = [{ code: 'authentication_failed', class: 'authenticate' }];
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'open', declines });
  });

  test.each([
    ['without a client-side token', 'pdl_sdbx_1', null, 'has no client_side_token'],
    ['with a live one beside a key of the sandbox', 'pdl_sdbx_1', 'live_1', 'of the other mode'],
    ['with one of the sandbox beside a live key', 'pdl_live_1', 'test_1', 'of the other mode'],
  ])('%s nothing is opened that nobody could pay', async (_, apiKey, clientToken, message) => {
    const gateway = openPaddleGateway({ apiKey, clientToken, baseUrl: fake.url });
    const refusal = { type: 'invalid_operation', message: expect.stringContaining(message) };
    await expect(gateway.links.open(linkRequest())).rejects.toMatchObject(refusal);
  });

  test('UPI is refused by name', async () => {
    await expect(under.gateway.links.open(linkRequest({ payBy: 'UPI', currency: 'inr' }))).rejects.toMatchObject({
      type: 'invalid_operation',
      message: expect.stringContaining('offers no UPI'),
    });
    expect(under.books.transactions.size).toBe(0);
  });

  test('a page on a host that Paddle has not approved is refused with Paddle’s own word', async () => {
    under.books.approvedHosts = ['pay.example'];
    await expect(under.gateway.links.open(linkRequest())).rejects.toMatchObject({
      type: 'validation_error',
      message: expect.stringContaining('transaction_checkout_url_domain_is_not_approved'),
    });
  });
});
