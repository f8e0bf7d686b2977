import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { removeMethod, saveOnPage } from '../../../dev/provider-fakes/whop/charge.ts';
import { payPage } from '../../../dev/provider-fakes/whop/payment.ts';
import { startWhopFake } from '../../../dev/provider-fakes/whop/server.ts';
import { type ChargeRequest, GatewayOutcomeUnknown } from '../../../integrations/payment-gateway.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { chargeRequest, decided, opened, sent } from '../../support/gateways/gateway-under-test.ts';
import { whopUnderTest } from '../../support/gateways/whop-under-test.ts';

const fake = await startWhopFake();
afterAll(() => fake.close());
/** A charge that was sent is never sent again, as outside of tests. */
let under = whopUnderTest(fake, Number.POSITIVE_INFINITY);
beforeEach(() => {
  under = whopUnderTest(fake, Number.POSITIVE_INFINITY);
});

/** A charge that is prepared, by its plan at Whop. */
async function prepared(): Promise<ChargeRequest & { providerId: string }> {
  const { token, customerToken } = await under.savedMethod!('succeeds');
  const request = chargeRequest(token, customerToken);
  return { ...request, ...(await under.gateway.charges.prepare(request)) };
}

const captures = ({ intentToken }: ChargeRequest) => under.capturesOf(intentToken);

describe('a charge of a card that Whop keeps', () => {
  test('is a plan with one unit to sell, and carries our marks to its payment', async () => {
    const request = await prepared();
    expect(under.books.plans.get(request.providerId)).toMatchObject({ initial_price: 12.5, currency: 'usd', stock: 1 });
    expect(await decided(under, request)).toMatchObject({ status: 'succeeded' });
    const [payment] = [...under.books.payments.values()];
    expect(payment!.metadata).toMatchObject({ payment_id: 'pay_1', perennial_token: request.token });
  });

  test('is prepared once, also when the answer of that is lost', async () => {
    const { token, customerToken } = await under.savedMethod!('succeeds');
    const request = chargeRequest(token, customerToken);
    fake.failNext('plan', 'loses_answer');
    await expect(under.gateway.charges.prepare(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const { providerId } = await under.gateway.charges.prepare(request);
    expect([...under.books.plans.keys()]).toEqual([providerId]);
  });

  test('is answered at once and decided later', async () => {
    const request = await prepared();
    expect(await sent(under.gateway, request)).toMatchObject({ status: 'processing', amount: '12.5', currency: 'usd' });
    expect(await under.gateway.charges.lookUp(request)).toMatchObject({ status: 'succeeded' });
    expect(await under.gateway.charges.cancel(request)).toMatchObject({ status: 'succeeded' });
  });

  test('whose request was lost on its way is asked about and not sent again', async () => {
    const request = await prepared();
    fake.failNext('charge', 'unreachable');
    for (const _ of [1, 2]) await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    await expect(under.gateway.charges.lookUp(request)).rejects.toThrow('may still arrive there');
    expect(fake.calls('charge')).toBeGreaterThan(0);
    expect(await captures(request)).toEqual([]);
  });

  test('whose answer was lost is found by its plan, and taken once however often it is sent', async () => {
    const request = await prepared();
    fake.failNext('charge', 'loses_answer');
    await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await sent(under.gateway, request)).toMatchObject({ status: 'succeeded' });
    expect(await captures(request)).toEqual(['12.5 usd']);
  });

  test.each(['401', '403', '429'] as const)(
    'that Whop turned away (%s) did nothing, and is sent again',
    async (how) => {
      const request = await prepared();
      fake.failNext('charge', how);
      await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
      expect(await under.gateway.charges.lookUp(request)).toEqual({ status: 'not_found' });
      expect(await decided(under, request)).toMatchObject({ status: 'succeeded' });
      expect(await captures(request)).toEqual(['12.5 usd']);
    },
  );

  test('that is not written down first is not sent', async () => {
    const request = await prepared();
    const before = fake.calls('charge');
    for (const how of ['unreachable', '500'] as const) {
      fake.failNext('change', how);
      await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    }
    expect(fake.calls('charge')).toBe(before);
    expect(await decided(under, request)).toMatchObject({ status: 'succeeded' });
  });

  test('sent twice in the same moment is taken once at most, and known in the end', async () => {
    const request = await prepared();
    await Promise.allSettled([1, 2, 3].map(() => sent(under.gateway, request)));
    expect((await captures(request)).length).toBeLessThanOrEqual(1);
  });

  test('is declined for good when the card was taken away, and stays so', async () => {
    const request = await prepared();
    removeMethod(under.books, request.paymentMethodToken);
    const declined = { status: 'declined', declineCode: 'not_found', declineClass: 'never' };
    expect(await sent(under.gateway, request)).toMatchObject(declined);
    expect(await under.gateway.charges.lookUp(request)).toMatchObject(declined);
    expect(await sent(under.gateway, request)).toMatchObject(declined);
  });

  test('of a card that is another member’s is refused', async () => {
    const request = await prepared();
    const { customerToken } = await under.savedMethod!('succeeds');
    expect(await sent(under.gateway, { ...request, customerToken })).toMatchObject({ status: 'declined' });
    expect(await captures(request)).toEqual([]);
  });

  test('of another account is no answer', async () => {
    const request = await prepared();
    const other = whopUnderTest(fake).gateway;
    await expect(other.charges.lookUp(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });
});

describe('a page that saves a card', () => {
  const setup = { mode: 'setup', amount: '0', saveMethod: true } as const;
  const save = (id: string, card: Parameters<typeof sandboxCardNumber>[0]) =>
    saveOnPage(under.books, id, sandboxCardNumber(card));

  test('has no plan, tells a refusal, and takes another card', async () => {
    const { reference } = await opened(under, setup);
    expect(under.books.plans.size).toBe(0);
    expect(save(reference.providerId, 'declines_for_good')).toBe('canceled');
    const declines = [{ code: 'stolen_card', class: 'never' }];
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'open', declines });
    expect(save(reference.providerId, 'succeeds')).toBe('succeeded');
    expect(await under.gateway.links.read(reference)).toMatchObject({
      status: 'paid',
      captures: [],
      savedMethod: {
        token: expect.stringMatching(/^payt_/),
        customerToken: expect.stringMatching(/^mber_/),
        brand: 'visa',
      },
    });
  });

  test('is closed, and one whose answer was lost is one page', async () => {
    fake.failNext('open', 'loses_answer');
    await expect(opened(under, setup)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const { reference } = await opened(under, setup);
    expect(await under.gateway.links.close(reference)).toMatchObject({ status: 'dead' });
    expect(save(reference.providerId, 'succeeds')).toBe('closed');
  });

  test('that was used before it was closed has saved its card all the same', async () => {
    const { reference } = await opened(under, setup);
    save(reference.providerId, 'succeeds');
    under.books.deleted.add(reference.providerId);
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid', savedMethod: { brand: 'visa' } });
  });
});

describe('the card of a payment on a page', () => {
  test('is kept where that was asked for, and Whop lists it as its payer’s', async () => {
    const { reference } = await opened(under, { saveMethod: true });
    await under.pay(reference, 'succeeds');
    const { savedMethod } = await under.gateway.links.read(reference);
    const request = chargeRequest(savedMethod!.token, savedMethod!.customerToken);
    expect(await decided(under, request)).toMatchObject({ status: 'succeeded' });
  });

  test('is not kept where nobody asked, nor where Whop kept none', async () => {
    const plain = await opened(under);
    await under.pay(plain.reference, 'succeeds');
    expect(await under.gateway.links.read(plain.reference)).toMatchObject({ status: 'paid', savedMethod: null });
    const { reference } = await opened(under, { saveMethod: true });
    under.books.keepsCards = false;
    payPage(under.books, reference.providerId, sandboxCardNumber('succeeds'));
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'paid', savedMethod: null });
  });
});
