import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { decide, payPage, payPlan } from '../../../dev/provider-fakes/whop/payment.ts';
import { startWhopFake } from '../../../dev/provider-fakes/whop/server.ts';
import { GatewayOutcomeUnknown } from '../../../integrations/payment-gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { whopAdapter } from '../../../integrations/whop/adapter.ts';
import { amountOfWhop, whopAmount } from '../../../integrations/whop/amount.ts';
import { openWhopGateway } from '../../../integrations/whop/gateway.ts';
import { gatewayContract } from '../../support/gateways/gateway-contract.ts';
import { linkRequest, opened, referenceOf } from '../../support/gateways/gateway-under-test.ts';
import { whopUnderTest } from '../../support/gateways/whop-under-test.ts';

const [fake, elsewhere] = await Promise.all([startWhopFake(), startWhopFake()]);
afterAll(async () => {
  await Promise.all([fake.close(), elsewhere.close()]);
});
let under = whopUnderTest(fake);
beforeEach(() => {
  under = whopUnderTest(fake);
});

gatewayContract('the Whop adapter', () => under);

describe('amounts of Whop', () => {
  test.each([
    ['12.5', 'usd', 12.5],
    ['12.50', 'USD', 12.5],
    ['0.07', 'eur', 0.07],
    ['1.234', 'kwd', 1.234],
    ['100', 'jpy', 100],
    ['9007199254740.99', 'usd', 9007199254740.99],
  ])('%s %s is %s', (amount, currency, units) => {
    expect(whopAmount(amount, currency)).toBe(units);
    expect(whopAmount(amountOfWhop(units), currency)).toBe(units);
  });

  test('a sum that no double holds exactly is told as the shortest decimal that names it', () => {
    expect(amountOfWhop(0.1 + 0.2)).toBe('0.30000000000000004');
    expect(amountOfWhop(1e21)).toBe('1000000000000000000000');
  });

  test.each([
    ['1.005', 'usd', 'in steps of 0.01'],
    ['1.2345', 'kwd', 'in steps of 0.001'],
    ['1.5', 'jpy', 'in steps of 1'],
    ['900719925474099.01', 'usd', 'no number so large'],
    ['1', 'btc', 'takes no payments in btc'],
    ['1', 'isk', 'takes no payments in isk'],
  ])('%s %s cannot be expressed, and nothing is opened', async (amount, currency, problem) => {
    expect(() => whopAmount(amount, currency)).toThrow(problem);
    await expect(under.gateway.links.open(linkRequest({ amount, currency }))).rejects.toThrow(problem);
    expect(under.books.plans.size).toBe(0);
  });
});

describe('answers that are none', () => {
  const answers = ['401', '429', '500', 'html', 'half', 'unreachable', 'loses_answer'] as const;
  test.each(answers.flatMap((how) => [['plan', how] as const, ['open', how] as const]))('%s: %s', async (kind, how) => {
    const request = linkRequest();
    fake.failNext(kind, how);
    await expect(under.gateway.links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const { providerId } = await under.gateway.links.open(request);
    expect([...under.books.configurations.keys()]).toEqual([providerId]);
    expect(under.books.plans.size).toBe(1);
  });

  test('hang: the deadline ends it, and the error names no key', async () => {
    const { apiKey, companyId } = under;
    const gateway = openWhopGateway({ apiKey, companyId, hosts: [fake.url], deadlineMs: 50 });
    fake.failNext('plan', 'hang');
    const failure = await gateway.links.open(linkRequest()).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(GatewayOutcomeUnknown);
    expect((failure as Error).message).toBe('whop did not answer within 0.05 s');
  });

  test('a key that is refused is no answer about money', async () => {
    const gateway = openWhopGateway({ apiKey: 'no_key', companyId: under.companyId, hosts: [fake.url] });
    const reference = { ...referenceOf('pay_1:1'), providerId: 'ch_1' };
    await expect(gateway.links.read(reference)).rejects.toThrow('refuses the key of the connection (401)');
    const other = openWhopGateway({ apiKey: under.apiKey, companyId: 'biz_other', hosts: [fake.url] });
    await expect(other.links.open(linkRequest())).rejects.toThrow('may not do this at whop (403)');
  });

  test('another account never answers for a payment of the first', async () => {
    const { reference } = await opened(under);
    const other = whopUnderTest(fake).gateway;
    await expect(other.links.read(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(other.links.close(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await under.pay(reference, 'succeeds');
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid' });
  });
});

describe('the account of a key', () => {
  const secretsOf = (api_key: string, company_id: string) => ({ api_key, company_id });
  const { account } = whopAdapter({ live: elsewhere.url, test: fake.url });

  test('is the one that is named beside it, and each of Whop’s addresses has its own keys', async () => {
    const { apiKey, companyId } = under;
    const known = (told: string) => ({ status: 'known', id: companyId, mode: { member: 'api_key', told } });
    expect(await account(secretsOf(apiKey, companyId))).toEqual(known('live'));
    elsewhere.failNext('list', '401');
    expect(await account(secretsOf(apiKey, companyId))).toEqual(known('test'));
    expect(await account(secretsOf('no_key', companyId))).toEqual({ status: 'refused', member: 'api_key' });
    expect(await account(secretsOf(apiKey, 'biz_other'))).toEqual({ status: 'refused', member: 'company_id' });
    elsewhere.failNext('list', '500');
    expect(await account(secretsOf(apiKey, companyId))).toEqual({ status: 'unknown' });
  });

  test('is asked at the address that knows its key, and no other once that is found', async () => {
    const { apiKey, companyId } = under;
    const gateway = openWhopGateway({ apiKey, companyId, hosts: [elsewhere.url, fake.url] });
    elsewhere.failNext('plan', '401');
    const { providerId } = await gateway.links.open(linkRequest());
    expect([...under.books.configurations.keys()]).toEqual([providerId]);
    expect(elsewhere.booksOf(companyId).configurations.size).toBe(0);
  });
});

describe('pages of Whop', () => {
  test('a page sells one unit by card alone, without adaptive pricing, and carries our marks', async () => {
    const { request, reference } = await opened(under);
    const marks = { environment: 'env_1', kind: 'checkout_session', id: 'checkout_1', perennial_token: request.token };
    expect([...under.books.plans.values()]).toMatchObject([
      { initial_price: 12.5, currency: 'usd', stock: 1, unlimited_stock: false, adaptive_pricing_enabled: false },
    ]);
    expect(under.books.configurations.get(reference.providerId)).toMatchObject({ metadata: marks });
  });

  test('one whose answer was lost is found by our token, also to be closed', async () => {
    const request = linkRequest();
    fake.failNext('open', 'loses_answer');
    await expect(under.gateway.links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const [configuration] = [...under.books.configurations.values()];
    expect(await under.gateway.links.read(request)).toMatchObject({ status: 'open', providerId: configuration!.id });
    expect(await under.gateway.links.close(request)).toMatchObject({ status: 'dead', providerId: configuration!.id });
    await expect(under.gateway.links.open(request)).rejects.toThrow('has ended already');
  });

  test('a token that was used for other parameters is the page of its first use', async () => {
    const { request, reference } = await opened(under);
    const again = await under.gateway.links.open({ ...request, returnUrl: 'http://127.0.0.1/elsewhere' });
    expect(again.providerId).toBe(reference.providerId);
  });

  test('a link that never arrived is dead', async () => {
    expect(await under.gateway.links.close(linkRequest())).toMatchObject({ status: 'dead', providerId: null });
  });

  test('a closed page cannot be paid, neither by its own address nor by that of its plan', async () => {
    const { reference, url } = await opened(under);
    const plan = under.books.configurations.get(reference.providerId)!.plan!;
    await under.gateway.links.close(reference);
    expect((await fetch(url)).status).toBe(404);
    expect(payPage(under.books, reference.providerId, sandboxCardNumber('succeeds'))).toBe('closed');
    expect(payPlan(under.books, plan.id, sandboxCardNumber('succeeds'))).toBe('closed');
  });

  test('money by the address of the plan alone is told too', async () => {
    const { reference } = await opened(under);
    const plan = under.books.configurations.get(reference.providerId)!.plan!;
    payPlan(under.books, plan.id, sandboxCardNumber('succeeds'));
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid', captures: [{ amount: '12.5' }] });
  });

  test('one under way is closed to every other attempt; refused by its bank it is dead', async () => {
    const { reference } = await opened(under);
    await under.pay(reference, 'never_answers');
    expect(await under.gateway.links.close(reference)).toMatchObject({ status: 'processing' });
    expect(payPage(under.books, reference.providerId, sandboxCardNumber('succeeds'))).toBe('closed');
    decide(under.books, reference.providerId, 'fail');
    const declines = [{ code: 'authentication_required', class: 'authenticate' }];
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'dead', declines });
  });

  test('an attempt that its payer gave up half an hour ago holds nothing up, one that Whop tries again does', async () => {
    const { reference } = await opened(under);
    await under.pay(reference, 'never_answers');
    const [payment] = under.books.paymentsOf(reference.providerId);
    Object.assign(payment!, { status: 'draft', substatus: 'incomplete' });
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'processing' });
    payment!.created_at = new Date(Date.now() - 31 * 60_000).toISOString();
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'open' });
    Object.assign(payment!, { status: 'open', substatus: 'failed', next_payment_attempt: new Date().toISOString() });
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'processing', declines: [] });
  });

  test('what was collected stays collected when it goes back or is disputed', async () => {
    const { reference } = await opened(under);
    await under.pay(reference, 'succeeds');
    const [payment] = under.books.paymentsOf(reference.providerId);
    Object.assign(payment!, { status: 'open', substatus: 'open_dispute' });
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid', captures: [{ amount: '12.5' }] });
  });

  test('a payer pays on the page of the fake and comes back', async () => {
    const { url, reference } = await opened(under);
    expect(await (await fetch(url)).text()).toContain('No money moves here.');
    const pay = (number: string) =>
      fetch(url, { method: 'POST', body: new URLSearchParams({ card_number: number }), redirect: 'manual' });
    expect(await (await pay('4242')).text()).toContain('The last attempt: no test card.');
    expect(await (await pay(sandboxCardNumber('declines'))).text()).toContain('The last attempt: failed.');
    const paid = await pay(sandboxCardNumber('succeeds'));
    expect(paid.headers.get('location')).toBe('http://127.0.0.1/checkout/page/return');
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid' });
  });

  test('a list of many is read to its end', async () => {
    const first = linkRequest();
    await under.gateway.links.open(first);
    const [plan, configuration] = [[...under.books.plans.values()][0]!, [...under.books.configurations.values()][0]!];
    for (let count = 0; count < 230; count += 1) {
      const id = `ch_${randomUUID()}`;
      under.books.configurations.set(id, { ...configuration, id, plan: { id: plan.id }, metadata: {} });
    }
    expect(await under.gateway.links.read(first)).toMatchObject({ status: 'open', providerId: configuration.id });
  });
});
