import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { decide, payInvoice, refundPayment } from '../../../dev/provider-fakes/moyasar/payment.ts';
import { startMoyasarFake } from '../../../dev/provider-fakes/moyasar/server.ts';
import { moyasarAdapter } from '../../../integrations/moyasar/adapter.ts';
import { amountOfMoyasar, moyasarAmount, refuseTooLittle } from '../../../integrations/moyasar/amount.ts';
import { openMoyasarGateway } from '../../../integrations/moyasar/gateway.ts';
import { GatewayOutcomeUnknown, type RefundRequest } from '../../../integrations/payment-gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { wireToken } from '../../../services/collection/wire-token.ts';
import { gatewayContract } from '../../support/gateways/gateway-contract.ts';
import { linkRequest, opened, referenceOf } from '../../support/gateways/gateway-under-test.ts';
import { moyasarUnderTest } from '../../support/gateways/moyasar-under-test.ts';

const fake = await startMoyasarFake();
afterAll(() => fake.close());
let under = moyasarUnderTest(fake);
beforeEach(() => {
  under = moyasarUnderTest(fake);
});

gatewayContract('the Moyasar adapter', () => under);

describe('amounts of Moyasar', () => {
  test.each([
    ['12.5', 'sar', 1250],
    ['12.50', 'SAR', 1250],
    ['0.07', 'usd', 7],
    ['1', 'kwd', 1000],
    ['1.234', 'kwd', 1234],
    ['1', 'jpy', 1],
    ['90071992547409.91', 'sar', 9007199254740991],
  ])('%s %s is %s', (amount, currency, minor) => {
    expect(moyasarAmount(amount, currency)).toBe(minor);
    expect(moyasarAmount(amountOfMoyasar(minor, currency), currency)).toBe(minor);
  });

  test.each([
    ['1.005', 'sar', '0.01'],
    ['1.2345', 'kwd', '0.001'],
    ['1.5', 'jpy', '1'],
  ])('%s %s cannot be expressed and is refused', (amount, currency, step) => {
    expect(() => moyasarAmount(amount, currency)).toThrow(`in steps of ${step}`);
  });

  test('under a hundred of the smallest unit nothing is opened', async () => {
    expect(() => refuseTooLittle('0.99', 'sar')).toThrow('1 sar or more');
    expect(() => refuseTooLittle('0.1', 'kwd')).not.toThrow();
    await expect(under.gateway.links.open(linkRequest({ amount: '0.99' }))).rejects.toThrow('1 usd or more');
    expect(under.books.invoices.size).toBe(0);
  });
});

describe('answers that are none', () => {
  test.each(['401', '429', '500', 'html', 'half', 'unreachable', 'loses_answer'] as const)('%s', async (how) => {
    const request = linkRequest();
    fake.failNext('open', how);
    await expect(under.gateway.links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const { providerId } = await under.gateway.links.open(request);
    expect([...under.books.invoices.keys()]).toEqual([providerId]);
  });

  test('hang: the deadline ends it, and the error names no key', async () => {
    const gateway = openMoyasarGateway({ secretKey: under.secretKey, baseUrl: fake.url, deadlineMs: 50 });
    fake.failNext('list', 'hang');
    const failure = await gateway.links.open(linkRequest()).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(GatewayOutcomeUnknown);
    expect((failure as Error).message).toBe('moyasar did not answer within 0.05 s');
  });

  test('a key that is refused is no answer about money, and is told when an account is asked for', async () => {
    const gateway = openMoyasarGateway({ secretKey: 'sk_live_1', baseUrl: fake.url });
    const reference = { ...referenceOf('pay_1:1'), providerId: randomUUID() };
    await expect(gateway.links.read(reference)).rejects.toThrow('refuses the key of the connection (401)');
    const { account } = moyasarAdapter(fake.url);
    expect(await account({ secret_key: 'sk_live_1' })).toEqual({ status: 'refused', member: 'secret_key' });
    expect(await account({ secret_key: under.secretKey })).toEqual({ status: 'known', id: null });
    fake.failNext('list', '500');
    expect(await account({ secret_key: under.secretKey })).toEqual({ status: 'unknown' });
  });

  test('another account never answers for a payment of the first', async () => {
    const { reference } = await opened(under);
    const other = moyasarUnderTest(fake).gateway;
    await expect(other.links.read(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(other.links.close(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });
});

describe('pages of Moyasar', () => {
  test('an invoice carries our marks, and one whose answer was lost is found by them', async () => {
    const request = linkRequest();
    fake.failNext('open', 'loses_answer');
    await expect(under.gateway.links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const [invoice] = [...under.books.invoices.values()];
    const marks = { environment: 'env_1', kind: 'checkout_session', id: 'checkout_1', perennial_token: request.token };
    expect(invoice).toMatchObject({ amount: 1250, currency: 'USD', metadata: marks });
    expect(await under.gateway.links.read(request)).toMatchObject({ status: 'open', providerId: invoice!.id });
    expect(await under.gateway.links.close(request)).toMatchObject({ status: 'dead', providerId: invoice!.id });
    await expect(under.gateway.links.open(request)).rejects.toThrow('has ended already');
  });

  test('a link that never arrived is dead', async () => {
    expect(await under.gateway.links.close(linkRequest())).toMatchObject({ status: 'dead', providerId: null });
  });

  test('one under way is closed to every other attempt; refused by its bank it is dead', async () => {
    const { reference } = await opened(under);
    await under.pay(reference, 'never_answers');
    expect(await under.gateway.links.close(reference)).toMatchObject({ status: 'processing' });
    expect(payInvoice(under.books, reference.providerId, sandboxCardNumber('succeeds'))).toBe('closed');
    decide(under.books, reference.providerId, 'fail');
    const declines = [{ code: '1A', class: 'authenticate' }];
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'dead', declines });
  });

  test('an attempt that its payer gave up half an hour ago holds nothing up', async () => {
    const { reference } = await opened(under);
    await under.pay(reference, 'never_answers');
    const [payment] = under.books.paymentsOf(reference.providerId);
    payment!.created_at = new Date(Date.now() - 31 * 60_000).toISOString();
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'open' });
    expect(await under.gateway.links.close(reference)).toMatchObject({ status: 'dead' });
  });

  test('a payer pays on the page of the fake and comes back', async () => {
    const { url, reference } = await opened(under);
    expect(await (await fetch(url)).text()).toContain('No money moves here.');
    const pay = (number: string) =>
      fetch(url, { method: 'POST', body: new URLSearchParams({ card_number: number }), redirect: 'manual' });
    expect(await (await pay(sandboxCardNumber('declines'))).text()).toContain('The last attempt: failed.');
    const paid = await pay(sandboxCardNumber('succeeds'));
    expect(paid.headers.get('location')).toBe('http://127.0.0.1/checkout/page/return');
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid' });
  });
});

describe('refunds of a provider that has no refunds to look at', () => {
  /** A payment of 12.5, and a refund of a part of it. */
  async function paid(settledMs = 0) {
    under = moyasarUnderTest(fake, settledMs);
    const { reference } = await opened(under);
    await under.pay(reference, 'succeeds');
    const [payment] = under.books.paymentsOf(reference.providerId);
    const refundOf = (amount: string): RefundRequest => {
      const refundToken = `re_${randomUUID()}`;
      const names = { refundToken, token: wireToken(refundToken), chargeProviderId: payment!.id };
      return { ...reference, ...names, amount, currency: 'usd', metadata: {} };
    };
    return { payment: payment!, refundOf, refunds: under.gateway.refunds };
  }

  test('a try that is lost is not sent again while it may still arrive, and counts when it did', async () => {
    const { payment, refundOf, refunds } = await paid(600_000);
    const request = refundOf('5');
    fake.failNext('refund', 'unreachable');
    await expect(refunds.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(refunds.refund(request)).rejects.toThrow('may still arrive');
    expect(payment.refunded).toBe(0);
    refundPayment(under.books, payment, 500, null);
    expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded', amount: '5' });
    expect(payment.refunded).toBe(500);
  });

  test('one at a time: a second waits until the first is decided', async () => {
    const { payment, refundOf, refunds } = await paid();
    const [first, second] = [refundOf('5'), refundOf('3')];
    fake.failNext('refund', 'unreachable');
    await expect(refunds.refund(first)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(refunds.refund(second)).rejects.toThrow('one at a time');
    expect(payment.refunded).toBe(0);
    expect(await refunds.refund(first)).toMatchObject({ status: 'succeeded' });
    expect(await refunds.refund(second)).toMatchObject({ status: 'succeeded' });
    expect(payment.refunded).toBe(800);
  });

  test('sent at the same moment, the same refund or two, each gives back once at most and all of it in the end', async () => {
    const { payment, refundOf, refunds } = await paid();
    const [first, second] = [refundOf('5'), refundOf('3')];
    const succeeded = async () => {
      const answers = await Promise.allSettled([first, first, second].map((request) => refunds.refund(request)));
      const definite = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []));
      expect(definite.every((status) => status === 'succeeded')).toBe(true);
      return payment.refunded;
    };
    expect([0, 300, 500, 800]).toContain(await succeeded());
    for (const request of [first, second]) await refunds.refund(request);
    expect(payment.refunded).toBe(800);
    expect(await succeeded()).toBe(800);
  });

  test('one that is refused because an earlier sending of it arrived has succeeded', async () => {
    const { payment, refundOf, refunds } = await paid();
    const request = refundOf('12.5');
    fake.failNext('refund', 'unreachable');
    await expect(refunds.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    fake.beforeNext('refund', () => refundPayment(under.books, payment, 1250, null));
    expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded' });
    expect(payment.refunded).toBe(1250);
  });

  test('what was given back in the dashboard before is not taken for ours', async () => {
    const { payment, refundOf, refunds } = await paid();
    refundPayment(under.books, payment, 500, null);
    const request = refundOf('5');
    expect(await refunds.lookUp(request)).toEqual({ status: 'not_found' });
    expect(await refunds.refund(request)).toMatchObject({ status: 'succeeded' });
    expect(payment.refunded).toBe(1000);
  });

  test('a refused one leaves nothing behind that the next would wait for', async () => {
    const { payment, refundOf, refunds } = await paid();
    expect(await refunds.refund(refundOf('20'))).toMatchObject({
      status: 'failed',
      failureReason: 'invalid_request_error (amount)',
    });
    expect(payment.metadata).toEqual({});
    expect(await refunds.refund(refundOf('12.5'))).toMatchObject({ status: 'succeeded' });
  });

  test('another currency than that of the payment is never sent', async () => {
    const { payment, refundOf, refunds } = await paid();
    expect(await refunds.refund({ ...refundOf('5'), currency: 'sar' })).toMatchObject({ status: 'failed' });
    expect(payment.refunded).toBe(0);
  });

  test('where the try cannot be written down, no money goes back', async () => {
    const { payment, refundOf, refunds } = await paid();
    for (const how of ['unreachable', 'loses_answer'] as const) {
      fake.failNext('mark', how);
      await expect(refunds.refund(refundOf('5'))).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    }
    expect(payment.refunded).toBe(0);
  });
});
