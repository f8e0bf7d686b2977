import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { FakePayment } from '../../../dev/provider-fakes/razorpay/books.ts';
import { decideToken, newToken, payRegistration } from '../../../dev/provider-fakes/razorpay/mandate.ts';
import { capture } from '../../../dev/provider-fakes/razorpay/payment.ts';
import { startRazorpayFake } from '../../../dev/provider-fakes/razorpay/server.ts';
import { type ChargeRequest, GatewayOutcomeUnknown } from '../../../integrations/payment-gateway.ts';
import type { LinkRequest } from '../../../integrations/payment-link.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { chargeRequest, decided, linkRequest, opened, sent } from '../../support/gateways/gateway-under-test.ts';
import { razorpayUnderTest } from '../../support/gateways/razorpay-under-test.ts';

const fake = await startRazorpayFake();
afterAll(() => fake.close());
/** A charge that was sent is never sent again, as outside of tests. */
let under = razorpayUnderTest(fake, Number.POSITIVE_INFINITY);
beforeEach(() => {
  under = razorpayUnderTest(fake, Number.POSITIVE_INFINITY);
});

/** A charge that is prepared, by its order at Razorpay. */
async function prepared(changes: Partial<ChargeRequest> = {}): Promise<ChargeRequest & { providerId: string }> {
  const { token, customerToken } = await under.savedMethod!('succeeds');
  const request = { ...chargeRequest(token, customerToken), currency: 'inr', ...changes };
  return { ...request, ...(await under.gateway.charges.prepare(request)) };
}

const captures = ({ intentToken }: ChargeRequest) => under.capturesOf(intentToken);

describe('a charge of a mandate', () => {
  test('is an order under our token, which is made once, also when its answer is lost', async () => {
    const { token, customerToken } = await under.savedMethod!('succeeds');
    const request = chargeRequest(token, customerToken);
    fake.failNext('prepare', 'loses_answer');
    await expect(under.gateway.charges.prepare(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const { providerId } = await under.gateway.charges.prepare(request);
    expect([...under.books.orders.values()]).toMatchObject([{ id: providerId, amount: 1250, receipt: request.token }]);
  });

  test('carries our marks, and goes to the payer whom Razorpay knows', async () => {
    const request = await prepared();
    expect(await decided(under, request)).toMatchObject({ status: 'succeeded', amount: '12.5', currency: 'inr' });
    const [payment] = [...under.books.payments.values()];
    expect(payment).toMatchObject({ order_id: request.providerId, notes: { payment_id: 'pay_1' } });
  });

  test('that waits for its bank is expected a day and a half after it was made', async () => {
    const { token, customerToken } = await under.savedMethod!('never_answers');
    const request = chargeRequest(token, customerToken);
    const answer = await sent(under.gateway, request);
    const [payment] = [...under.books.payments.values()] as [FakePayment];
    const expectedBy = new Date((payment.created_at + 36 * 3600) * 1000).toISOString();
    expect(answer).toMatchObject({ status: 'processing', expectedBy });
    capture(under.books, payment);
    expect(await under.gateway.charges.lookUp(request)).toMatchObject({ status: 'succeeded' });
    expect(await under.gateway.charges.cancel(request)).toMatchObject({ status: 'succeeded' });
  });

  test('whose request was lost on its way is asked about and not sent again', async () => {
    const request = await prepared();
    fake.failNext('charge', 'unreachable');
    const before = fake.calls('charge');
    for (const _ of [1, 2]) await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(under.gateway.charges.lookUp(request)).rejects.toThrow('may still arrive there');
    expect(fake.calls('charge')).toBe(before + 1);
    expect(await captures(request)).toEqual([]);
  });

  test('whose answer was lost is found by its order, and taken once however often it is sent', async () => {
    const request = await prepared();
    fake.failNext('charge', 'loses_answer');
    await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await sent(under.gateway, request)).toMatchObject({ status: 'succeeded' });
    expect(await captures(request)).toEqual(['12.5 inr']);
  });

  test.each(['401', '403', '429'] as const)('that was turned away (%s) did nothing, and is sent again', async (how) => {
    const request = await prepared();
    fake.failNext('charge', how);
    await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await under.gateway.charges.lookUp(request)).toEqual({ status: 'not_found' });
    expect(await decided(under, request)).toMatchObject({ status: 'succeeded' });
    expect(await captures(request)).toEqual(['12.5 inr']);
  });

  test('that is not written down first is not sent', async () => {
    const request = await prepared();
    const before = fake.calls('charge');
    for (const how of ['unreachable', '500'] as const) {
      fake.failNext('note', how);
      await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    }
    expect(fake.calls('charge')).toBe(before);
    expect(await decided(under, request)).toMatchObject({ status: 'succeeded' });
  });

  test('sent three times in the same moment is taken once at most', async () => {
    const request = await prepared();
    await Promise.allSettled([1, 2, 3].map(() => sent(under.gateway, request)));
    expect((await captures(request)).length).toBeLessThanOrEqual(1);
  });

  test('of a mandate that was taken back is declined for good, and stays so', async () => {
    const request = await prepared();
    decideToken(under.books, request.paymentMethodToken, 'cancelled');
    const declined = { status: 'declined', declineCode: 'not_there', declineClass: 'never' };
    expect(await sent(under.gateway, request)).toMatchObject(declined);
    expect(await under.gateway.charges.lookUp(request)).toMatchObject(declined);
    expect(await sent(under.gateway, request)).toMatchObject(declined);
  });

  test('of a payer who is gone at Razorpay is declined for good', async () => {
    const request = await prepared();
    under.books.customers.delete(request.customerToken!);
    expect(await sent(under.gateway, request)).toMatchObject({ declineCode: 'customer_gone', declineClass: 'never' });
  });

  test('is one a cycle by UPI: a second one is declined, and may be tried in the next', async () => {
    const customerToken = (await under.savedMethod!('succeeds')).customerToken!;
    const mandate = { customer_id: customerToken, behaviour: 'succeeds', remaining: 0, method: 'upi' } as const;
    const { id } = newToken(under.books, mandate);
    const first = { ...chargeRequest(id, customerToken), currency: 'inr' };
    expect(await decided(under, first)).toMatchObject({ status: 'succeeded' });
    const second = { ...chargeRequest(id, customerToken), currency: 'inr' };
    expect(await decided(under, second)).toMatchObject({ status: 'declined', declineClass: 'retry' });
    expect(await captures(second)).toEqual([]);
  });

  test('of another account is no answer', async () => {
    const request = await prepared();
    const other = razorpayUnderTest(fake).gateway;
    await expect(other.charges.lookUp(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });
});

describe('a page on which a mandate is made', () => {
  const setup = { mode: 'setup', amount: '0', currency: 'xxx', saveMethod: true } as const;
  const byUpi = { saveMethod: true, payBy: 'UPI', currency: 'inr', mandateLimit: '500' } as const;
  const pay = ({ providerId }: { providerId: string | null }, card: SandboxBehaviour = 'succeeds') =>
    payRegistration(under.books, providerId ?? '', sandboxCardNumber(card));

  test('takes a rupee for a card and gives it back, once', async () => {
    const { reference } = await opened(under, setup);
    expect(pay(reference)).toBe('captured');
    const [payment] = [...under.books.payments.values()];
    for (const how of ['unreachable', 'loses_answer'] as const) {
      fake.failNext('refund', how);
      await expect(under.gateway.links.read(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
      expect(payment).toMatchObject({ amount: 100, amount_refunded: how === 'loses_answer' ? 100 : 0 });
    }
    for (const _ of [1, 2]) {
      expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid', captures: [] });
    }
    expect(under.books.refundsOf(payment!.id)).toMatchObject([{ amount: 100, status: 'processed' }]);
  });

  test('tells the limit of its mandate', async () => {
    const { reference } = await opened(under, setup);
    pay(reference);
    const { savedMethod } = await under.gateway.links.read(reference);
    expect(savedMethod).toMatchObject({ brand: 'Visa', lastFour: '0002', maxAmount: '15000' });
  });

  test('by UPI takes the payment itself, within the limit that was asked for', async () => {
    const { reference } = await opened(under, { ...byUpi, amount: '250' });
    expect(pay(reference)).toBe('captured');
    expect(await under.gateway.links.read(reference)).toMatchObject({
      status: 'paid',
      captures: [{ amount: '250', currency: 'inr' }],
      savedMethod: { brand: 'UPI', maxAmount: '500' },
    });
    expect(await under.capturesOf(reference.intentToken)).toEqual(['250 inr']);
  });

  test('waits for a bank that confirms the mandate later, and saves none that it refuses', async () => {
    for (const [decision, expected] of [
      ['confirmed', { status: 'paid', savedMethod: { brand: 'Visa' } }],
      ['rejected', { status: 'dead', savedMethod: null, declines: [{ code: 'mandate_refused', class: 'never' }] }],
    ] as const) {
      const { reference } = await opened(under, setup);
      pay(reference, 'answers_late');
      expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'processing', savedMethod: null });
      const [token] = [...under.books.tokens.values()].slice(-1);
      decideToken(under.books, token!.id, decision);
      expect(await under.gateway.links.read(reference)).toMatchObject(expected);
    }
  });

  test('is found by our token when its answer was lost, also to be closed', async () => {
    const request = linkRequest(setup);
    fake.failNext('open', 'loses_answer');
    await expect(under.gateway.links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await under.gateway.links.read(request)).toMatchObject({ status: 'open' });
    const { providerId } = await under.gateway.links.open(request);
    expect([...under.books.registrations.keys()]).toEqual([providerId]);
    expect(await under.gateway.links.close(request)).toMatchObject({ status: 'dead', providerId });
    expect(pay({ providerId })).toBe('closed');
    await expect(under.gateway.links.open(request)).rejects.toThrow('has ended already');
  });

  test('that ended by itself is dead', async () => {
    const { reference } = await opened(under, setup);
    under.books.registrations.get(reference.providerId)!.expire_by = 1;
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'dead', captures: [] });
  });

  const payer = linkRequest().customer;
  test.each<[what: string, changes: Partial<LinkRequest>, problem: string]>([
    ['a card of a payment', { saveMethod: true }, 'keeps no card of a payment'],
    ['a payer without an e-mail address', { ...setup, customer: { ...payer, email: null } }, 'has no email'],
    ['a payer without a telephone number', { ...setup, customer: { ...payer, contact: 'none' } }, 'has no contact'],
    ['UPI in another currency', { ...byUpi, currency: 'usd' }, 'UPI in inr alone'],
    ['less than a rupee', { ...byUpi, amount: '0.5' }, '1 inr or more'],
  ])('is not opened for %s', async (_, changes, problem) => {
    await expect(under.gateway.links.open(linkRequest(changes))).rejects.toThrow(problem);
    expect(under.books.registrations.size).toBe(0);
  });

  test('a payer saves a card on the page of the fake', async () => {
    const { url, reference } = await opened(under, setup);
    const save = (card_number: string) => fetch(url, { method: 'POST', body: new URLSearchParams({ card_number }) });
    expect(await (await fetch(url)).text()).toContain('No money moves here.');
    expect(await (await save(sandboxCardNumber('declines'))).text()).toContain('The last attempt: failed.');
    expect(await (await save(sandboxCardNumber('succeeds'))).text()).toContain('This payment link is paid.');
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid', declines: [{ class: 'retry' }] });
  });
});
