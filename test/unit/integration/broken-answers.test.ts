import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startChargebeeFake } from '../../../dev/provider-fakes/chargebee/server.ts';
import { startMoyasarFake } from '../../../dev/provider-fakes/moyasar/server.ts';
import { startNomodFake } from '../../../dev/provider-fakes/nomod/server.ts';
import { startPaddleFake } from '../../../dev/provider-fakes/paddle/server.ts';
import { startRazorpayFake } from '../../../dev/provider-fakes/razorpay/server.ts';
import { startStripeFake } from '../../../dev/provider-fakes/stripe/server.ts';
import { startWhopFake } from '../../../dev/provider-fakes/whop/server.ts';
import { GatewayOutcomeUnknown } from '../../../integrations/payment-gateway.ts';
import { wireToken } from '../../../services/collection/wire-token.ts';
import { chargebeeUnderTest } from '../../support/gateways/chargebee-under-test.ts';
import {
  type ContractCall,
  chargeRequest,
  decided,
  type GatewayUnderTest,
  linkRequest,
  opened,
  referenceOf,
  sent,
} from '../../support/gateways/gateway-under-test.ts';
import { moyasarUnderTest } from '../../support/gateways/moyasar-under-test.ts';
import { nomodUnderTest } from '../../support/gateways/nomod-under-test.ts';
import { paddleUnderTest } from '../../support/gateways/paddle-under-test.ts';
import { razorpayUnderTest } from '../../support/gateways/razorpay-under-test.ts';
import { stripeUnderTest } from '../../support/gateways/stripe-under-test.ts';
import { whopUnderTest } from '../../support/gateways/whop-under-test.ts';

const broken = ['429', '500', 'html', 'half'] as const;

type Fake = { failNext(call: ContractCall, how: (typeof broken)[number]): void; close(): Promise<void> };
type Side = { fake: Fake; under: GatewayUnderTest };

/** A fake and the adapter over it. */
const sideOf =
  <Started extends { close(): Promise<void> }>(
    start: () => Promise<Started>,
    over: (fake: Started) => GatewayUnderTest,
  ) =>
  async (): Promise<Side> => {
    const fake = await start();
    return { fake: fake as unknown as Fake, under: over(fake) };
  };

const providers: [name: string, begin: () => Promise<Side>, calls: readonly ContractCall[]][] = [
  ['Stripe', sideOf(startStripeFake, stripeUnderTest), ['open', 'close', 'charge', 'refund']],
  ['Razorpay', sideOf(startRazorpayFake, (fake) => razorpayUnderTest(fake)), ['open', 'close', 'charge', 'refund']],
  ['Moyasar', sideOf(startMoyasarFake, (fake) => moyasarUnderTest(fake)), ['open', 'close', 'charge', 'refund']],
  ['Whop', sideOf(startWhopFake, (fake) => whopUnderTest(fake)), ['open', 'close', 'charge', 'refund']],
  // Pages of these three cannot be closed.
  ['Chargebee', sideOf(startChargebeeFake, chargebeeUnderTest), ['open', 'charge', 'refund']],
  ['Nomod', sideOf(startNomodFake, nomodUnderTest), ['open', 'refund']],
  ['Paddle', sideOf(startPaddleFake, paddleUnderTest), ['open', 'refund']],
];

/** A call whose answer is broken leaves nothing known; made again it has one effect. */
const conversations: Record<ContractCall, (side: Side, breakIt: () => void) => Promise<void>> = {
  async open({ under }, breakIt) {
    const links = under.gateway.links!;
    const request = linkRequest();
    breakIt();
    await expect(links.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const { providerId } = await links.open(request);
    await under.pay({ ...request, providerId }, 'succeeds');
    expect(await links.read({ ...request, providerId })).toMatchObject({ status: 'paid' });
    expect(await under.capturesOf(request.intentToken)).toEqual(['12.5 usd']);
  },
  async close({ under }, breakIt) {
    const { reference } = await opened(under);
    breakIt();
    await expect(under.gateway.links!.close(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await under.gateway.links!.close(reference)).toMatchObject({ status: 'dead', captures: [] });
  },
  async charge({ under }, breakIt) {
    const { token, customerToken } = await under.savedMethod!('succeeds');
    const request = chargeRequest(token, customerToken);
    breakIt();
    await expect(sent(under.gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await decided(under, request)).toMatchObject({ status: 'succeeded', amount: '12.5' });
    expect(await under.capturesOf(request.intentToken)).toEqual(['12.5 usd']);
  },
  async refund({ under }, breakIt) {
    const { reference } = await opened(under);
    await under.pay(reference, 'succeeds');
    const [capture] = (await under.gateway.links!.read(reference)).captures;
    const refundToken = `re_${randomUUID()}`;
    const request = {
      ...{ ...referenceOf(reference.intentToken), token: wireToken(refundToken), refundToken },
      ...{ chargeProviderId: capture!.chargeProviderId, amount: '12.5', currency: 'usd', metadata: {} },
    };
    breakIt();
    await expect(under.gateway.refunds!.refund(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await under.gateway.refunds!.refund(request)).toMatchObject({ status: 'succeeded' });
    expect(await under.refundsOf(refundToken)).toEqual(['12.5 usd']);
  },
};

describe.each(providers)('answers of %s that are none', (_, begin, calls) => {
  test.each(calls.flatMap((call) => broken.map((how) => [call, how] as const)))('%s: %s', async (call, how) => {
    const side = await begin();
    onTestFinished(() => side.fake.close());
    await conversations[call](side, () => side.fake.failNext(call, how));
  });
});
