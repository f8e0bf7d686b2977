import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { authorize, fail, newPayment, refundInDashboard } from '../../../dev/provider-fakes/razorpay/payment.ts';
import { startRazorpayFake } from '../../../dev/provider-fakes/razorpay/server.ts';
import { GatewayOutcomeUnknown, type RefundRequest } from '../../../integrations/payment-gateway.ts';
import { razorpayAccount } from '../../../integrations/razorpay/account.ts';
import { razorpayAdapter } from '../../../integrations/razorpay/adapter.ts';
import { openRazorpayGateway } from '../../../integrations/razorpay/gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { gatewayContract } from '../../support/gateways/gateway-contract.ts';
import { linkRequest, opened, referenceOf } from '../../support/gateways/gateway-under-test.ts';
import { razorpayUnderTest } from '../../support/gateways/razorpay-under-test.ts';

const fake = await startRazorpayFake();
afterAll(() => fake.close());
let under = razorpayUnderTest(fake);
beforeEach(() => {
  under = razorpayUnderTest(fake);
});

gatewayContract('the Razorpay adapter', () => under);

/** A paid link, and a refund of its payment. */
async function paid(amount = '12.5') {
  const { reference } = await opened(under);
  await under.pay(reference, 'succeeds');
  const { captures } = await under.gateway.links!.read(reference);
  const chargeProviderId = captures[0]!.chargeProviderId;
  const refundToken = `re_${randomUUID()}`;
  const metadata = { environment: 'env_1', kind: 'refund', id: 're_1' };
  const request: RefundRequest = {
    ...referenceOf(refundToken),
    refundToken,
    chargeProviderId,
    amount,
    currency: 'usd',
    metadata,
  };
  return { reference, chargeProviderId, request };
}

test('less than Razorpay takes is refused before a page is opened', async () => {
  const request = linkRequest({ amount: '0.99', currency: 'inr' });
  await expect(under.gateway.links!.open(request)).rejects.toThrow('1 inr or more');
  expect(under.books.links.size).toBe(0);
});

describe('answers that are none', () => {
  test.each(['409', '429', '500', 'html', 'half', 'unreachable', 'loses_answer'] as const)('%s', async (how) => {
    const { request } = await paid();
    fake.failNext('refund', how);
    await expect(under.gateway.refunds!.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await under.gateway.refunds!.refund(request)).toMatchObject({ status: 'succeeded' });
    expect(await under.refundsOf(request.refundToken)).toEqual(['12.5 usd']);
  });

  test('hang: the deadline ends it, and the error names no key', async () => {
    const gateway = openRazorpayGateway({
      keyId: 'rzp_test_a',
      secretKey: 'secret_a',
      baseUrl: fake.url,
      deadlineMs: 50,
    });
    fake.failNext('open', 'hang');
    const failure = await gateway.links.open(linkRequest()).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(GatewayOutcomeUnknown);
    expect((failure as Error).message).toBe('razorpay did not answer within 0.05 s');
  });

  test('a key that is refused is no answer about money', async () => {
    const gateway = openRazorpayGateway({ keyId: 'rzp_test_a', secretKey: 'wrong', baseUrl: fake.url });
    await expect(gateway.links.read({ ...linkRequest(), providerId: 'plink_1' })).rejects.toThrow(
      'refuses the key of the connection (401)',
    );
  });
});

describe('whose key it is', () => {
  test.each([
    ['right', { key_id: 'rzp_test_a', secret_key: 'secret_a' }, { status: 'known', id: null }],
    ['unknown', { key_id: 'rzp_live_a', secret_key: 'secret_a' }, { status: 'refused', member: 'key_id' }],
    ['without its secret', { key_id: 'rzp_test_a', secret_key: 'no' }, { status: 'refused', member: 'secret_key' }],
  ])('one that is %s', async (_, secrets, account) => {
    expect(await razorpayAccount(secrets, fake.url)).toEqual(account);
  });

  test.each(['500', '429', 'html', 'unreachable'] as const)('%s says nothing of it', async (how) => {
    fake.failNext('other', how);
    expect(await razorpayAccount({ key_id: 'rzp_test_a', secret_key: 'secret_a' }, fake.url)).toEqual({
      status: 'unknown',
    });
  });
});

describe('another account never answers for a payment of the first', () => {
  test('a link and a refund that the account does not have are unknown, not missing', async () => {
    const { reference, request } = await paid();
    const other = razorpayUnderTest(fake).gateway;
    await expect(other.links!.read(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(other.links!.close(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(other.refunds!.lookUp(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(other.refunds!.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });
});

describe('the first real call', () => {
  test('a link lives longer than Razorpay asks for, although ours ends sooner', async () => {
    const { expiresAt } = await opened(under, { expiresAt: new Date(Date.now() + 60_000).toISOString() });
    expect(Date.parse(expiresAt!) - Date.now()).toBeGreaterThan(16 * 60_000);
  });

  test('one that ends after more than six months is opened for six', async () => {
    const { expiresAt } = await opened(under, { expiresAt: new Date(Date.now() + 400 * 86_400_000).toISOString() });
    expect(Date.parse(expiresAt!) - Date.now()).toBeLessThan(183 * 86_400_000);
  });

  test('finding A2: an answer lost long ago: the link of the token is found, and no second one is opened', async () => {
    const request = linkRequest();
    fake.failNext('open', 'loses_answer');
    await expect(under.gateway.links!.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const later = {
      ...request,
      createdAt: new Date(Date.now() - 3_600_000).toISOString(),
      expiresAt: request.createdAt,
    };
    const { providerId } = await under.gateway.links!.open(later);
    expect([...under.books.links.keys()]).toEqual([providerId]);
    expect(await under.gateway.links!.read(later)).toMatchObject({ status: 'open', providerId });
    expect(await under.gateway.links!.close(later)).toMatchObject({ status: 'dead', providerId });
    await expect(under.gateway.links!.open(later)).rejects.toThrow('has ended already');
  });

  test('a link that never arrived is dead', async () => {
    expect(await under.gateway.links!.close(linkRequest())).toMatchObject({ status: 'dead', providerId: null });
  });

  test('a definite refusal is told by its reason', async () => {
    const failure = under.gateway.links!.open(linkRequest({ description: '' }));
    await expect(failure).rejects.toMatchObject({
      type: 'validation_error',
      message: 'razorpay does not open a payment page for this: input_validation_failed (description)',
    });
  });

  test('a link has our marks, which its payments have too, and a telephone number only where it is one', async () => {
    const customer = { token: null, name: 'P'.repeat(80), email: null, contact: 'ask at the desk' };
    const { request, reference } = await opened(under, { customer });
    const marks = { environment: 'env_1', kind: 'checkout_session', id: 'checkout_1', perennial_token: request.token };
    expect(under.books.links.get(reference.providerId)).toMatchObject({ reference_id: request.token, notes: marks });
    await under.pay(reference, 'succeeds');
    expect([...under.books.payments.values()]).toMatchObject([{ notes: marks }]);
  });

  test('a link offers cards, or UPI where that is asked for, which is for rupees alone', async () => {
    const cards = await opened(under);
    const upi = await opened(under, { payBy: 'UPI', currency: 'inr' });
    const offered = [cards, upi].map(({ reference }) => under.books.links.get(reference.providerId)!.method);
    expect(offered).toEqual(['card', 'upi']);
    expect(await (await fetch(upi.url)).text()).toContain('Test UPI account');
    const dollars = under.gateway.links!.open(linkRequest({ payBy: 'UPI' }));
    await expect(dollars).rejects.toThrow('usd cannot be paid by UPI: razorpay takes UPI in inr alone');
    expect(under.books.links.size).toBe(2);
  });

  test('a payer pays on the page of the fake and comes back', async () => {
    const { url, reference } = await opened(under);
    expect(await (await fetch(url)).text()).toContain('No money moves here.');
    const pay = (number: string) =>
      fetch(url, { method: 'POST', body: new URLSearchParams({ card_number: number }), redirect: 'manual' });
    expect(await (await pay(sandboxCardNumber('declines'))).text()).toContain('The last attempt: failed.');
    const back = new URL((await pay(sandboxCardNumber('succeeds'))).headers.get('location') ?? '');
    expect(back.href).toContain('http://127.0.0.1/checkout/page/return?');
    expect(back.searchParams.get('razorpay_payment_link_status')).toBe('paid');
    expect(await under.gateway.links!.read(reference)).toMatchObject({ status: 'paid' });
    expect(await (await fetch(url)).text()).toContain('This payment link is paid.');
  });
});

describe('money of a link', () => {
  test('that is only reserved is captured at once', async () => {
    const { reference } = await opened(under);
    authorize(under.books, newPayment(under.books, under.books.links.get(reference.providerId)!));
    expect(await under.gateway.links!.read(reference)).toMatchObject({
      status: 'paid',
      captures: [{ amount: '12.5' }],
    });
    expect(await under.capturesOf(reference.intentToken)).toEqual(['12.5 usd']);
  });

  test('that a bank confirms after the attempt was given up is told', async () => {
    const { reference } = await opened(under);
    const payment = newPayment(under.books, under.books.links.get(reference.providerId)!);
    fail(under.books, payment, 'payment_timed_out');
    expect(await under.gateway.links!.close(reference)).toMatchObject({
      status: 'dead',
      declines: [{ class: 'retry' }],
    });
    authorize(under.books, payment);
    expect(await under.gateway.links!.read(reference)).toMatchObject({ status: 'paid', declines: [] });
  });

  test('that went back whole was captured all the same; what was never captured was not', async () => {
    const { reference, request, chargeProviderId } = await paid();
    await under.gateway.refunds!.refund(request);
    expect(under.books.payments.get(chargeProviderId)!.status).toBe('refunded');
    expect(await under.gateway.links!.read(reference)).toMatchObject({
      status: 'paid',
      captures: [{ amount: '12.5' }],
    });
    const other = await opened(under);
    const payment = newPayment(under.books, under.books.links.get(other.reference.providerId)!);
    payment.status = 'refunded';
    expect(await under.gateway.links!.read(other.reference)).toMatchObject({ status: 'open', captures: [] });
  });

  test('that Razorpay shows at the link alone is read from there', async () => {
    const { reference } = await opened(under);
    // More attempts than Razorpay lists at once, of which the last is captured.
    for (let tries = 0; tries < 10; tries += 1) await under.pay(reference, 'declines');
    await under.pay(reference, 'succeeds');
    expect(under.books.payments.size).toBe(11);
    expect(await under.gateway.links!.read(reference)).toMatchObject({
      status: 'paid',
      captures: [{ amount: '12.5' }],
    });
  });
});

describe('refunds', () => {
  test('made in the dashboard are told apart from ours', async () => {
    const { chargeProviderId, request } = await paid('5');
    await under.gateway.refunds!.refund(request);
    const made = refundInDashboard(under.books, chargeProviderId, 300);
    const elsewhere = { gatewayRefundId: made, amount: '3', currency: 'usd', status: 'succeeded' };
    expect(await under.gateway.refunds!.madeElsewhere!(request)).toEqual([elsewhere]);
    const known = { ...request, token: 'pn_other', providerId: made };
    expect(await under.gateway.refunds!.lookUp(known)).toMatchObject({ gatewayRefundId: made });
  });

  test('a refusal of a repeat finds the refund that arrived, whose key Razorpay has forgotten', async () => {
    const { request } = await paid();
    fake.failNext('refund', 'loses_answer');
    await expect(under.gateway.refunds!.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    under.books.answers.clear();
    expect(await under.gateway.refunds!.refund(request)).toMatchObject({ status: 'succeeded', amount: '12.5' });
    expect(await under.refundsOf(request.refundToken)).toEqual(['12.5 usd']);
  });

  test('of more than is left, and of what the account cannot express, are refused with the reason', async () => {
    const { request } = await paid();
    const more = { ...request, amount: '12.51' };
    expect(await under.gateway.refunds!.refund(more)).toMatchObject({
      status: 'failed',
      gatewayRefundId: null,
      failureReason: 'amount_over_captured (amount)',
    });
    await expect(under.gateway.refunds!.refund({ ...request, amount: '1.005' })).rejects.toThrow('in steps of 0.01');
    expect(under.books.refunds.size).toBe(0);
  });

  test('that take days say by when', async () => {
    const { reference } = await opened(under);
    await under.pay(reference, 'refund_never_answers');
    const [capture] = (await under.gateway.links!.read(reference)).captures;
    const { request } = await paid();
    const pending = await under.gateway.refunds!.refund({ ...request, chargeProviderId: capture!.chargeProviderId });
    expect(pending.status).toBe('processing');
    expect(Date.parse(pending.expectedBy ?? '')).toBeGreaterThan(Date.now() + 10 * 86_400_000);
  });

  test('of an account are listed as events, those before that may have been processed since too', async () => {
    const { request, chargeProviderId } = await paid('5');
    await under.gateway.refunds!.refund(request);
    const made = [100, 200].map((amount) => refundInDashboard(under.books, chargeProviderId, amount));
    const days = (ago: number) => Math.floor(Date.now() / 1000) - ago * 86_400;
    Object.assign(under.books.refunds.get(made[0]!)!, { created_at: days(10), status: 'pending' });
    under.books.refunds.get(made[1]!)!.created_at = days(12);
    const secrets = { key_id: under.keyId, secret_key: under.keyId.replace('rzp_test', 'secret') };
    const events = await razorpayAdapter(fake.url).events!(secrets, new Date().toISOString());
    const [ours] = [...under.books.refunds.keys()];
    expect(events).toMatchObject([
      { eventId: `${made[0]}/pending`, eventType: 'refund.created', marker: null, isDerived: true },
      { eventId: `${ours}/processed`, marker: { kind: 'refund', id: 're_1' }, objectIds: [ours, chargeProviderId] },
    ]);
    fake.failNext('read', '500');
    await expect(razorpayAdapter(fake.url).events!(secrets, new Date().toISOString())).rejects.toThrow('answered 500');
  });

  test('are found among more than a page of them', async () => {
    const { request, chargeProviderId } = await paid('0.01');
    await under.gateway.refunds!.refund(request);
    for (let made = 0; made < 105; made += 1) refundInDashboard(under.books, chargeProviderId, 1);
    expect(await under.gateway.refunds!.lookUp(request)).toMatchObject({ status: 'succeeded', amount: '0.01' });
    expect(await under.gateway.refunds!.madeElsewhere!(request)).toHaveLength(105);
  });
});
