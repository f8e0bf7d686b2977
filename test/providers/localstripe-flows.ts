import assert from 'node:assert/strict';
import { type ChargeRequest, GatewayOutcomeUnknown } from '../../integrations/payment-gateway.ts';
import { stripeAdapter } from '../../integrations/stripe/adapter.ts';
import { openStripeGateway } from '../../integrations/stripe/gateway.ts';
import { referenceOf } from '../support/gateways/gateway-under-test.ts';
import { receiveNotifications } from './localstripe-notifications.ts';
import { type LocalstripeUnderTest, marker, refundRequest } from './localstripe-under-test.ts';

export interface Flow {
  name: string;
  run(under: LocalstripeUnderTest): Promise<void>;
}

/** Prepares and confirms a charge as the product does. */
async function sent({ gateway }: LocalstripeUnderTest, request: ChargeRequest) {
  const { providerId } = await gateway.charges.prepare(request);
  const reference = { ...request, providerId };
  return { reference, providerId, charge: await gateway.charges.confirm(reference, providerId) };
}

/** `actual` has at least the members of `expected`. */
function has(actual: object, expected: Record<string, unknown>): void {
  const chosen = Object.keys(expected).map((name) => [name, (actual as Record<string, unknown>)[name]]);
  assert.deepEqual(Object.fromEntries(chosen), expected);
}

const charges: Flow[] = [
  {
    name: 'a saved card is charged: nothing moves before it is confirmed, then what was asked',
    run: async (under) => {
      const request = await under.chargeOf('succeeds');
      const { providerId } = await under.gateway.charges.prepare(request);
      const reference = { ...request, providerId };
      assert.deepEqual(await under.gateway.charges.lookUp(reference), { status: 'not_found' });
      assert.deepEqual(await under.chargesOf(reference), []);
      const succeeded = { status: 'succeeded', gatewayPaymentId: providerId, amount: '12.5', currency: 'usd' };
      has(await under.gateway.charges.confirm(request, providerId), succeeded);
      has(await under.gateway.charges.lookUp(reference), succeeded);
      const [taken, ...more] = await under.chargesOf(reference);
      has(taken!, { amount: 1250, currency: 'usd', status: 'succeeded', captured: true });
      assert.equal(more.length, 0);
      const { metadata } = await under.get(`/payment_intents/${providerId}`);
      has(metadata as object, { ...marker, perennial_token: request.token, perennial_intent: request.intentToken });
    },
  },
  {
    name: 'a confirmation that is sent again, as after a lost answer, takes the money once',
    run: async (under) => {
      const { reference, providerId, charge } = await sent(under, await under.chargeOf('succeeds'));
      assert.deepEqual(await under.gateway.charges.confirm(reference, providerId), charge);
      assert.equal((await under.chargesOf(reference)).length, 1);
    },
  },
  {
    name: 'a declined card: the code is told, again when asked again, and nothing is taken',
    run: async (under) => {
      const { reference, providerId, charge } = await sent(under, await under.chargeOf('declines'));
      const declined = { status: 'declined', declineCode: 'card_declined', declineClass: 'retry', amount: '12.5' };
      has(charge, { ...declined, gatewayPaymentId: providerId });
      has(await under.gateway.charges.lookUp(reference), declined);
      has(await under.gateway.charges.confirm(reference, providerId), declined);
      assert.deepEqual(
        (await under.chargesOf(reference)).map(({ status }) => status),
        ['failed'],
      );
    },
  },
  {
    name: 'a card that is gone is a decline, and nothing is taken',
    run: async (under) => {
      const request = await under.chargeOf('succeeds', { paymentMethodToken: 'pm_gone' });
      const { reference, charge } = await sent(under, request);
      has(charge, { status: 'declined', gatewayPaymentId: reference.providerId });
      assert.deepEqual(await under.chargesOf(reference), []);
    },
  },
  {
    name: 'a charge that waits for its payer: it is taken when the payer confirms',
    run: async (under) => {
      const { reference, charge } = await sent(under, await under.chargeOf('asksPayer'));
      has(charge, { status: 'requires_action' });
      has(await under.gateway.charges.lookUp(reference), { status: 'requires_action' });
      await authenticate(under, reference.providerId, true);
      has(await under.gateway.charges.lookUp(reference), { status: 'succeeded', amount: '12.5' });
    },
  },
  {
    name: 'a charge that waits for its payer: it is declined when the payer does not confirm',
    run: async (under) => {
      const { reference } = await sent(under, await under.chargeOf('asksPayer'));
      await authenticate(under, reference.providerId, false);
      has(await under.gateway.charges.lookUp(reference), { status: 'declined', declineClass: 'authenticate' });
      assert.deepEqual(await under.chargesOf(reference), []);
    },
  },
  {
    name: 'a charge that waits for its payer: it is declined when the bank declines after the payer confirmed',
    run: async (under) => {
      const { reference } = await sent(under, await under.chargeOf('asksPayerAndDeclines'));
      await assert.rejects(authenticate(under, reference.providerId, true), /answered 402/);
      has(await under.gateway.charges.lookUp(reference), { status: 'declined', declineCode: 'card_declined' });
    },
  },
  {
    name: 'a charge that waits for its payer is given up, and takes no money afterwards',
    run: async (under) => {
      const { reference, providerId } = await sent(under, await under.chargeOf('asksPayer'));
      const canceled = { status: 'declined', declineCode: 'canceled' };
      has(await under.gateway.charges.cancel(reference), canceled);
      has(await under.gateway.charges.cancel(reference), canceled);
      has(await under.gateway.charges.confirm(reference, providerId), canceled);
      await assert.rejects(authenticate(under, providerId, true), /answered 400/);
      assert.deepEqual(await under.chargesOf(reference), []);
    },
  },
  {
    name: 'a charge that was not confirmed is given up; one that was captured stays captured',
    run: async (under) => {
      const request = await under.chargeOf('succeeds');
      const prepared = { ...request, ...(await under.gateway.charges.prepare(request)) };
      has(await under.gateway.charges.cancel(prepared), { status: 'declined', declineCode: 'canceled' });
      assert.deepEqual(await under.chargesOf(prepared), []);
      has(await under.gateway.charges.cancel(await under.captured()), { status: 'succeeded', amount: '12.5' });
    },
  },
  {
    name: 'money that was only reserved is captured when it is looked up',
    run: async (under) => {
      const { customerToken, paymentMethodToken, ...request } = await under.chargeOf('succeeds');
      const { id: providerId } = await under.post('/payment_intents', {
        ...{ amount: '1250', currency: 'usd', capture_method: 'manual', confirm: 'true' },
        ...{ customer: customerToken!, payment_method: paymentMethodToken },
      });
      const reference = { ...request, customerToken, providerId };
      has((await under.chargesOf(reference))[0]!, { captured: false });
      has(await under.gateway.charges.lookUp(reference), { status: 'succeeded', amount: '12.5' });
      has((await under.chargesOf(reference))[0]!, { captured: true, amount_refunded: 0 });
    },
  },
  {
    name: 'amounts of currencies without decimals and with three are taken as asked',
    run: async (under) => {
      for (const [amount, currency, whole] of [
        ['1250', 'jpy', 1250],
        ['1.25', 'kwd', 1250],
      ] as const) {
        const { reference, charge } = await sent(under, await under.chargeOf('succeeds', { amount, currency }));
        has(charge, { status: 'succeeded', amount, currency });
        has((await under.chargesOf(reference))[0]!, { amount: whole, currency });
      }
    },
  },
  {
    name: 'an intent that the account does not have, and a key that is refused, say nothing about money',
    run: async (under) => {
      const unknown = { ...referenceOf('pay_elsewhere:1'), providerId: 'pi_elsewhere' };
      await assert.rejects(under.gateway.charges.lookUp(unknown), GatewayOutcomeUnknown);
      const request = await under.chargeOf('succeeds');
      const other = openStripeGateway({ secretKey: 'revoked', baseUrl: under.url });
      await assert.rejects(other.charges.prepare(request), /refuses the key of the connection/);
    },
  },
];

const refunds: Flow[] = [
  {
    name: 'a refund of a part and of the rest: each is found by its token, and the charge is given back whole',
    run: async (under) => {
      const charge = await under.captured();
      const [part, rest] = [refundRequest(charge, '2.5'), refundRequest(charge, '10')];
      assert.deepEqual(await under.gateway.refunds.lookUp(part), { status: 'not_found' });
      const refunded = await under.gateway.refunds.refund(part);
      has(refunded, { status: 'succeeded', amount: '2.5', currency: 'usd', failureReason: null });
      has((await under.chargesOf(charge))[0]!, { amount_refunded: 250, refunded: false });
      assert.deepEqual(await under.gateway.refunds.lookUp(rest), { status: 'not_found' });
      has(await under.gateway.refunds.refund(rest), { status: 'succeeded', amount: '10' });
      assert.deepEqual(await under.gateway.refunds.lookUp(part), refunded);
      has(await under.gateway.refunds.lookUp(rest), { status: 'succeeded', amount: '10' });
      has((await under.chargesOf(charge))[0]!, { amount_refunded: 1250, refunded: true });
      has(await under.gateway.charges.lookUp(charge), { status: 'succeeded', amount: '12.5' });
    },
  },
  {
    name: 'a refund of the whole amount at once',
    run: async (under) => {
      const charge = await under.captured();
      const refund = refundRequest(charge, '12.5');
      has(await under.gateway.refunds.refund(refund), { status: 'succeeded', amount: '12.5' });
      has(await under.gateway.refunds.lookUp(refund), { status: 'succeeded', amount: '12.5' });
      has((await under.chargesOf(charge))[0]!, { amount_refunded: 1250, refunded: true });
    },
  },
  {
    name: 'a refund of a declined charge is refused, and none is there',
    run: async (under) => {
      const { reference, providerId } = await sent(under, await under.chargeOf('declines'));
      const refund = refundRequest({ ...reference, chargeProviderId: providerId }, '12.5');
      has(await under.gateway.refunds.refund(refund), { status: 'failed', gatewayRefundId: null });
      assert.deepEqual(await under.gateway.refunds.lookUp(refund), { status: 'not_found' });
    },
  },
  {
    name: 'refunds made at Stripe, more than a page of a list has, are told apart from ours',
    run: async (under) => {
      const charge = await under.captured();
      const ours = refundRequest(charge, '2.5');
      await under.gateway.refunds.refund(ours);
      const made: string[] = [];
      for (let count = 0; count < 101; count += 1) {
        made.push((await under.post('/refunds', { payment_intent: charge.providerId!, amount: '1' })).id);
      }
      const found = await under.gateway.refunds.madeElsewhere!(charge);
      assert.deepEqual(found.map(({ gatewayRefundId }) => gatewayRefundId).toSorted(), made.toSorted());
      has(found[0]!, { status: 'succeeded', amount: '0.01', currency: 'usd' });
      has(await under.gateway.refunds.lookUp(ours), { status: 'succeeded', amount: '2.5' });
    },
  },
];

const notifications: Flow[] = [
  {
    name: 'events are read from the list, with the ids and our name of what they are about',
    run: async (under) => {
      const since = new Date(Date.now() - 60_000).toISOString();
      const { providerId } = await under.captured();
      const { providerId: declined } = await sent(under, await under.chargeOf('declines'));
      const events = await under.adapter.events!({ secret_key: under.secretKey }, since);
      const of = (id: string | null) => events.filter(({ objectIds }) => objectIds[0] === id);
      assert.deepEqual(
        [providerId, declined].flatMap((id) => of(id).map(({ eventType, marker: name }) => ({ eventType, name }))),
        [
          { eventType: 'payment_intent.succeeded', name: marker },
          { eventType: 'payment_intent.payment_failed', name: marker },
        ],
      );
    },
  },
  {
    name: 'a notification that localstripe signs is taken, and not under another secret or with another byte',
    run: async (under) => {
      const verify = stripeAdapter().notifications!.verify;
      const secret = 'whsec_of_this_connection';
      const received = await receiveNotifications(under, secret);
      try {
        const { providerId } = await under.captured();
        const raw = await received.about(providerId!);
        assert.equal(verify(raw, [secret], Date.now()), 'valid');
        assert.equal(verify(raw, ['whsec_of_another', secret], Date.now()), 'valid');
        assert.equal(verify(raw, ['whsec_of_another'], Date.now()), 'bad');
        assert.equal(
          verify({ ...raw, body: Buffer.concat([raw.body, Buffer.from(' ')]) }, [secret], Date.now()),
          'bad',
        );
        assert.equal(verify(raw, [secret], Date.now() + 600_000), 'clock');
        const read = stripeAdapter().notifications!.read(raw);
        has(read!, { eventType: 'payment_intent.succeeded', objectIds: [providerId], marker });
      } finally {
        received.close();
      }
    },
  },
];

/** Flows of the adapter at localstripe, from the first request to the books afterwards. */
export const localstripeFlows: readonly Flow[] = [...charges, ...refunds, ...notifications];

/** The payer of a charge confirms it at the bank, or fails to. */
async function authenticate(under: LocalstripeUnderTest, id: string, success: boolean): Promise<void> {
  const { client_secret } = await under.get(`/payment_intents/${id}`);
  await under.post(`/payment_intents/${id}/_authenticate`, {
    client_secret: String(client_secret),
    success: String(success),
  });
}
