import { describe, expect, test } from 'vitest';
import { type GatewayCharge, GatewayOutcomeUnknown } from '../../../integrations/payment-gateway.ts';
import { refundContract } from './gateway-refund-contract.ts';
import {
  chargeRequest,
  decided,
  type GatewayUnderTest,
  linkRequest,
  opened,
  type PayerCard,
  sent,
} from './gateway-under-test.ts';

/**
 * The promises every adapter keeps, whatever its provider is like: run against the sandbox and against every fake. One that saves no
 * methods says so by name before anything is sent. design: money-in-checkout §D
 */
export function gatewayContract(
  name: string,
  under: () => GatewayUnderTest,
  { savesMethods = true }: { savesMethods?: boolean } = {},
): void {
  describe(`links of ${name}`, () => linkContract(under));
  if (savesMethods) {
    describe(`saved methods of ${name}`, () => setupContract(under));
    describe(`charges of ${name}`, () => chargeContract(under));
  } else describe(`methods that ${name} does not save`, () => refusalContract(under));
  describe(`refunds of ${name}`, () => refundContract(under));
}

function linkContract(under: () => GatewayUnderTest): void {
  /** A request as it is sent again: with the id of the link where its provider knows it by that alone. */
  const known = <T extends object>(request: T, { providerId }: { providerId: string | null }): T =>
    under().knowsIdsAlone ? { ...request, providerId } : request;

  test('open: a link has an id, an address and an end, and the same token is the same link', async () => {
    const { gateway } = under();
    const { request, reference, url, expiresAt } = await opened(under());
    expect(url).toMatch(/^https?:\/\//);
    const least = Date.now() + gateway.links!.minimumLifeMs;
    expect(expiresAt === null || Date.parse(expiresAt) >= least).toBe(true);
    expect((await gateway.links!.open(known(request, reference))).providerId).toBe(reference.providerId);
    expect(await gateway.links!.read(reference)).toMatchObject({ status: 'open', captures: [], declines: [] });
  });

  test('pay: one capture of what was asked, under an id of its own, after which nothing can be paid', async () => {
    const { gateway, pay, capturesOf } = under();
    const { reference } = await opened(under());
    await pay(reference, 'succeeds');
    await pay(reference, 'succeeds');
    const state = await gateway.links!.read(reference);
    expect(state).toMatchObject({ status: 'paid', captures: [{ amount: '12.5', currency: 'usd' }], declines: [] });
    expect(state.captures[0]!.chargeProviderId).toBeTruthy();
    expect(await capturesOf(reference.intentToken)).toEqual(['12.5 usd']);
    expect(await gateway.links!.close(reference)).toMatchObject({ status: 'paid' });
  });

  test('decline: the attempt is told with its code, and the link can still be paid', async () => {
    const { gateway, pay, hidesReasons } = under();
    const { reference } = await opened(under());
    await pay(reference, 'declines');
    const declined = await gateway.links!.read(reference);
    expect(declined).toMatchObject({ status: 'open', captures: [], declines: [{ class: 'retry' }] });
    await pay(reference, 'declines_for_good');
    const again = (await gateway.links!.read(reference)).declines;
    expect(again).toHaveLength(2);
    expect(again.at(-1)).toMatchObject({ class: hidesReasons ? 'retry' : 'never' });
    await pay(reference, 'succeeds');
    expect(await gateway.links!.read(reference)).toMatchObject({ status: 'paid', captures: [{ amount: '12.5' }] });
  });

  test('cancel: a closed link is dead however often it is closed, and takes no money', async () => {
    const { gateway, pay, capturesOf } = under();
    const { reference } = await opened(under());
    if (!gateway.links!.closable) return;
    expect(await gateway.links!.close(reference)).toMatchObject({ status: 'dead', captures: [] });
    await pay(reference, 'succeeds');
    expect(await gateway.links!.close(reference)).toMatchObject({ status: 'dead', captures: [] });
    expect(await capturesOf(reference.intentToken)).toEqual([]);
  });

  test('expire: a link that ended by itself is dead', async () => {
    const { gateway, expire } = under();
    if (!expire) return;
    const { reference } = await opened(under());
    await expire(reference);
    expect(await gateway.links!.read(reference)).toMatchObject({ status: 'dead', captures: [] });
    expect(await gateway.links!.close(reference)).toMatchObject({ status: 'dead' });
  });

  test('processing: an attempt that is not decided is neither paid nor open, also when the link is closed', async () => {
    const { gateway, pay, confirm } = under();
    const { reference } = await opened(under());
    await pay(reference, 'never_answers');
    expect(await gateway.links!.read(reference)).toMatchObject({ status: 'processing', captures: [] });
    expect(await gateway.links!.close(reference)).toMatchObject({ status: 'processing' });
    await confirm(reference);
    expect(await gateway.links!.read(reference)).toMatchObject({ status: 'paid', captures: [{ amount: '12.5' }] });
  });

  test('lost before the effect and behind it: the same token again opens one link', async () => {
    const { gateway, failNext, pay, capturesOf } = under();
    for (const how of ['unreachable', 'loses_answer'] as const) {
      const request = linkRequest();
      await failNext('open', how);
      await expect(gateway.links!.open(request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
      const { providerId } = await gateway.links!.open(request);
      expect((await gateway.links!.open(known(request, { providerId }))).providerId).toBe(providerId);
      await pay({ ...request, providerId }, 'succeeds');
      expect(await capturesOf(request.intentToken)).toEqual(['12.5 usd']);
    }
  });

  test('lost while closing: closing again tells what is true', async () => {
    const { gateway, failNext } = under();
    if (!gateway.links!.closable) return;
    for (const how of ['unreachable', 'loses_answer'] as const) {
      const { reference } = await opened(under());
      await failNext('close', how);
      await expect(gateway.links!.close(reference)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
      expect(await gateway.links!.close(reference)).toMatchObject({ status: 'dead' });
    }
  });

  test('one link, two captures: both are told, each by an id of its own', async () => {
    const { gateway, pay, captureBeside, paysOnce, capturesOf } = under();
    const { reference } = await opened(under());
    await pay(reference, 'succeeds');
    if (paysOnce) await pay(reference, 'succeeds');
    else await captureBeside(reference);
    const { status, captures } = await gateway.links!.read(reference);
    expect(status).toBe('paid');
    const ids = new Set(captures.map(({ chargeProviderId }) => chargeProviderId));
    expect(ids.size).toBe(paysOnce ? 1 : 2);
    expect(ids.size).toBe((await capturesOf(reference.intentToken)).length);
  });

  test('money after the end of a link is told', async () => {
    const { gateway, captureBeside } = under();
    const { reference } = await opened(under());
    await gateway.links!.close(reference);
    await captureBeside(reference);
    expect(await gateway.links!.read(reference)).toMatchObject({ status: 'paid', captures: [{ amount: '12.5' }] });
  });

  test('wrong amount: what was taken is told, not what was asked', async () => {
    const { gateway, pay, capturesOf } = under();
    for (const card of ['captures_less', 'captures_more', 'captures_otherwise'] as const) {
      const { reference } = await opened(under());
      await pay(reference, card);
      const { captures } = await gateway.links!.read(reference);
      expect(captures.map(({ amount, currency }) => `${amount} ${currency}`)).toEqual(
        await capturesOf(reference.intentToken),
      );
      expect(captures).not.toMatchObject([{ amount: '12.5', currency: 'usd' }]);
    }
  });
}

function refusalContract(under: () => GatewayUnderTest): void {
  test.each([
    ['to save a method alone', { mode: 'setup', amount: '0', saveMethod: true }],
    ['to save the method of a payment', { saveMethod: true }],
  ] as const)('a link %s is refused by name, and none is opened', async (_, changes) => {
    const { gateway } = under();
    const request = linkRequest(changes);
    await expect(gateway.links!.open(request)).rejects.toMatchObject({
      type: 'invalid_operation',
      message: expect.stringContaining(gateway.name),
    });
    expect(await gateway.links!.read(request)).toMatchObject({ status: 'dead', providerId: null });
  });

  test('nothing can be charged without its payer', () => {
    const { gateway } = under();
    expect([gateway.charges, gateway.methods]).toEqual([undefined, undefined]);
  });
}

function setupContract(under: () => GatewayUnderTest): void {
  test('setup: a method is kept and nothing is taken', async () => {
    const { gateway, pay, capturesOf } = under();
    const { reference } = await opened(under(), { mode: 'setup', amount: '0', saveMethod: true });
    expect(await gateway.links!.read(reference)).toMatchObject({ status: 'open', savedMethod: null });
    await pay(reference, 'succeeds');
    const state = await gateway.links!.read(reference);
    expect(state).toMatchObject({ status: 'paid', captures: [], savedMethod: { lastFour: expect.any(String) } });
    expect(await capturesOf(reference.intentToken)).toEqual([]);
    const request = { ...chargeRequest(state.savedMethod!.token), customerToken: state.savedMethod!.customerToken };
    expect(await decided(under(), request)).toMatchObject({ status: 'succeeded' });
  });
}

function chargeContract(under: () => GatewayUnderTest): void {
  const requestFor = async (card: PayerCard) => {
    const { token, customerToken } = await under().savedMethod!(card);
    return chargeRequest(token, customerToken);
  };

  test('a charge is captured once, however often it is sent', async () => {
    const { gateway, capturesOf } = under();
    const request = await requestFor('succeeds');
    const first = (await decided(under(), request)) as GatewayCharge;
    expect(first).toMatchObject({ status: 'succeeded', amount: '12.5', currency: 'usd' });
    expect(await sent(gateway, request)).toMatchObject({ gatewayPaymentId: first.gatewayPaymentId });
    expect(await gateway.charges!.lookUp(request)).toMatchObject({ gatewayPaymentId: first.gatewayPaymentId });
    expect(await capturesOf(request.intentToken)).toEqual(['12.5 usd']);
  });

  test('a decline has a code and says whether another try makes sense', async () => {
    const { gateway } = under();
    for (const [card, declineClass] of [
      ['declines', 'retry'],
      ['declines_for_good', 'never'],
      ['needs_authentication', 'authenticate'],
    ] as const) {
      const request = await requestFor(card);
      const declined = { status: 'declined', declineCode: expect.any(String), declineClass };
      expect(await decided(under(), request)).toMatchObject(declined);
      expect(await gateway.charges!.lookUp(request)).toMatchObject({ status: 'declined' });
    }
  });

  test('lost before the effect: it is unknown there, and sending it again captures once', async () => {
    const { gateway, failNext, capturesOf } = under();
    const request = await requestFor('succeeds');
    await failNext('charge', 'unreachable');
    await expect(sent(gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await gateway.charges!.lookUp(request)).toEqual({ status: 'not_found' });
    expect(await decided(under(), request)).toMatchObject({ status: 'succeeded' });
    expect(await capturesOf(request.intentToken)).toEqual(['12.5 usd']);
  });

  test('lost behind the effect: a look-up finds it, and sending it again captures nothing more', async () => {
    const { gateway, failNext, capturesOf } = under();
    const request = await requestFor('succeeds');
    await failNext('charge', 'loses_answer');
    await expect(sent(gateway, request)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    expect(await gateway.charges!.lookUp(request)).toMatchObject({ status: 'succeeded', amount: '12.5' });
    expect(await decided(under(), request)).toMatchObject({ status: 'succeeded' });
    expect(await capturesOf(request.intentToken)).toEqual(['12.5 usd']);
  });

  test('what is not decided is processing', async () => {
    const { gateway } = under();
    const request = await requestFor('never_answers');
    expect(await sent(gateway, request)).toMatchObject({ status: 'processing' });
    expect(await gateway.charges!.lookUp(request)).toMatchObject({ status: 'processing' });
  });
}
