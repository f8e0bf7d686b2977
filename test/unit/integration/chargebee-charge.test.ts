import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { decideCharge } from '../../../dev/provider-fakes/chargebee/charge.ts';
import { startChargebeeFake } from '../../../dev/provider-fakes/chargebee/server.ts';
import { type ChargeRequest, GatewayOutcomeUnknown } from '../../../integrations/payment-gateway.ts';
import { chargebeeUnderTest } from '../../support/gateways/chargebee-under-test.ts';
import { chargeRequest, opened, sent } from '../../support/gateways/gateway-under-test.ts';

const fake = await startChargebeeFake();
afterAll(() => fake.close());
let under = chargebeeUnderTest(fake);
beforeEach(() => {
  under = chargebeeUnderTest(fake);
});

async function prepared(): Promise<ChargeRequest & { providerId: string }> {
  const { token, customerToken } = await under.savedMethod!('succeeds');
  const request = chargeRequest(token, customerToken);
  return { ...request, ...(await under.gateway.charges.prepare(request)) };
}

const captures = ({ intentToken }: ChargeRequest) => under.capturesOf(intentToken);
const invoiceOf = ({ providerId }: { providerId: string | null }) => under.books.invoices.get(providerId ?? '')!;

describe('a charge of a card that Chargebee keeps', () => {
  test('is an invoice that nobody collects by itself, and names our payment in its note', async () => {
    const request = await prepared();
    expect(invoiceOf(request)).toMatchObject({ status: 'payment_due', total: 1250, linked_payments: [] });
    expect(JSON.parse(invoiceOf(request).notes![0]!.note)).toMatchObject({
      payment_id: 'pay_1',
      perennial_token: request.token,
    });
    expect(await sent(under.gateway, request)).toMatchObject({ status: 'succeeded', amount: '12.5', currency: 'usd' });
    expect(invoiceOf(request)).toMatchObject({ status: 'paid' });
    expect(under.books.mailed).toEqual([]);
  });

  test('is prepared once, also when the answer of that is lost', async () => {
    const { token, customerToken } = await under.savedMethod!('succeeds');
    const request = chargeRequest(token, customerToken);
    fake.failNext('prepare', 'loses_answer');
    await expect(under.gateway.charges.prepare(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const { providerId } = await under.gateway.charges.prepare(request);
    expect([...under.books.invoices.keys()]).toEqual([providerId]);
  });

  test('that is declined has an invoice that nobody collects any more', async () => {
    const { token, customerToken } = await under.savedMethod!('declines');
    const request = chargeRequest(token, customerToken);
    expect(await sent(under.gateway, request)).toMatchObject({ status: 'declined', declineCode: 'card_declined' });
    expect(invoiceOf(request)).toMatchObject({ status: 'voided' });
  });

  test('of a card that is gone at Chargebee is declined for good, and stays declined', async () => {
    const request = await prepared();
    under.books.sources.get(request.paymentMethodToken)!.deleted = true;
    const declined = { status: 'declined', declineCode: 'resource_not_found', declineClass: 'never' };
    expect(await sent(under.gateway, request)).toMatchObject(declined);
    expect(await under.gateway.charges.lookUp(request)).toMatchObject({ status: 'declined' });
    expect(await captures(request)).toEqual([]);
  });

  test('that was given up before it was sent takes nothing any more', async () => {
    const request = await prepared();
    expect(await under.gateway.charges.cancel(request)).toMatchObject({ status: 'declined' });
    expect(await sent(under.gateway, request)).toMatchObject({ status: 'declined' });
    expect(await captures(request)).toEqual([]);
  });

  test('that its bank decides later is processing, and cannot be given up', async () => {
    const { token, customerToken } = await under.savedMethod!('never_answers');
    const request = chargeRequest(token, customerToken);
    expect(await sent(under.gateway, request)).toMatchObject({ status: 'processing' });
    expect(await under.gateway.charges.cancel(request)).toMatchObject({ status: 'processing' });
    expect(decideCharge(under.books, request.providerId!)).toBe(true);
    expect(await under.gateway.charges.lookUp(request)).toMatchObject({ status: 'succeeded' });
  });

  test.each(['429', '500', 'html', 'half', 'operation_failed'] as const)(
    'answered by %s is taken once',
    async (how) => {
      const request = await prepared();
      fake.failNext('charge', how);
      await sent(under.gateway, request).catch((error) => expect(error).toBeInstanceOf(GatewayOutcomeUnknown));
      expect(await sent(under.gateway, request)).toMatchObject({ status: 'succeeded' });
      expect(await captures(request)).toEqual(['12.5 usd']);
    },
  );

  test('finding A2: whose key Chargebee has forgotten is paid by its invoice and not taken twice', async () => {
    const request = await prepared();
    fake.failNext('charge', 'loses_answer');
    await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    under.books.forgetKeys();
    expect(await sent(under.gateway, request)).toMatchObject({ status: 'succeeded' });
    expect(await captures(request)).toEqual(['12.5 usd']);
  });

  test('that was taken and is not listed yet is not known, and is taken once', async () => {
    const request = await prepared();
    under.books.lagging.add(request.providerId);
    await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(invoiceOf(request)).toMatchObject({ status: 'paid' });
    under.books.lagging.clear();
    expect(await sent(under.gateway, request)).toMatchObject({ status: 'succeeded' });
    expect(await captures(request)).toEqual(['12.5 usd']);
  });

  test('of another site is no answer', async () => {
    const request = await prepared();
    const other = chargebeeUnderTest(fake).gateway;
    await expect(other.charges.lookUp(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });
});

describe('a page that keeps a card', () => {
  const setup = { mode: 'setup', amount: '0', currency: 'xxx', saveMethod: true } as const;

  test('takes no money, says nothing of a refused card, and takes another', async () => {
    const { reference } = await opened(under, setup);
    await under.pay(reference, 'declines');
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'open', savedMethod: null });
    await under.pay(reference, 'succeeds');
    expect(await under.gateway.links.close(reference)).toMatchObject({
      status: 'paid',
      captures: [],
      savedMethod: { customerToken: reference.token, brand: 'visa', lastFour: '0002' },
    });
  });

  test('is over after its time', async () => {
    const { reference } = await opened(under, setup);
    await under.expire!(reference);
    expect(await under.gateway.links.read(reference)).toMatchObject({ status: 'dead', savedMethod: null });
  });

  test('of a payment keeps it where that was asked for', async () => {
    const kept = await opened(under, { saveMethod: true });
    const plain = await opened(under);
    for (const { reference } of [kept, plain]) await under.pay(reference, 'succeeds');
    expect(await under.gateway.links.read(kept.reference)).toMatchObject({
      status: 'paid',
      savedMethod: { customerToken: kept.reference.token },
    });
    expect(await under.gateway.links.read(plain.reference)).toMatchObject({ status: 'paid', savedMethod: null });
  });

  test('is not paid a second time by a later charge of the card', async () => {
    const { reference } = await opened(under, { saveMethod: true });
    await under.pay(reference, 'succeeds');
    const { savedMethod } = await under.gateway.links.read(reference);
    const request = chargeRequest(savedMethod!.token, savedMethod!.customerToken);
    expect(await sent(under.gateway, request)).toMatchObject({ status: 'succeeded' });
    expect((await under.gateway.links.read(reference)).captures).toHaveLength(1);
    expect(await captures(request)).toEqual(['12.5 usd']);
    expect(await under.capturesOf(reference.intentToken)).toEqual(['12.5 usd']);
  });
});
