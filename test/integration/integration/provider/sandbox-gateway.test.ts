import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { GatewayOutcomeUnknown } from '../../../../integrations/payment-gateway.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { openSandboxGateway } from '../../../../integrations/sandbox-gateway/gateway.ts';
import { testDatabase } from '../../../support/database.ts';

const { applicationUrl } = await testDatabase({ breaks: ['I9'] });
const gateway = openSandboxGateway({ url: applicationUrl });
afterAll(() => gateway.close());

async function cardOf(behaviour: SandboxBehaviour, count?: number) {
  const { token } = await gateway.savePaymentMethod({ cardNumber: sandboxCardNumber(behaviour, count) });
  const request = (intentToken: string = randomUUID()) => ({
    intentToken,
    amount: '12.5',
    currency: 'usd',
    paymentMethodToken: token,
    description: 'test',
    metadata: {},
  });
  return { token, request };
}

test('a card is saved without its number, and a number that is no test card is refused', async () => {
  const saved = await gateway.savePaymentMethod({ cardNumber: '4000 0000 0000 0002' });
  expect(saved).toEqual({ token: expect.stringMatching(/^sandbox_card_/), brand: 'visa', lastFour: '0002' });
  for (const cardNumber of ['4000000000000003', '4111111111111111', '4000000000000101', '']) {
    await expect(gateway.savePaymentMethod({ cardNumber })).rejects.toMatchObject({ type: 'validation_error' });
  }
});

test('an intent is captured once, however often and however concurrently it is asked for', async () => {
  const { request } = await cardOf('succeeds');
  const charge = request();
  const answers = await Promise.all(Array.from({ length: 8 }, () => gateway.charge(charge)));
  expect(new Set(answers.map((answer) => answer.gatewayPaymentId)).size).toBe(1);
  expect(answers.every((answer) => answer.status === 'succeeded')).toBe(true);
  const captures = (await gateway.operator.captures()).filter((capture) => capture.intentToken === charge.intentToken);
  expect(captures).toEqual([{ intentToken: charge.intentToken, amount: '12.5', currency: 'usd' }]);
  expect((await gateway.operator.callsOf(charge.intentToken)).map((call) => call.answer).sort()).toEqual([
    'captured',
    ...Array(7).fill('repeated'),
  ]);
});

test('an intent is refused for another amount', async () => {
  const { request } = await cardOf('succeeds');
  const charge = request();
  await gateway.charge(charge);
  await expect(gateway.charge({ ...charge, amount: '13' })).rejects.toThrow('another amount');
});

test('plain cards are charged at once in any number, each intent once', async () => {
  const [good, bad] = [await cardOf('succeeds'), await cardOf('declines')];
  const requests = [good.request(), good.request(), bad.request()];
  const [first, second, declined] = requests.map(({ intentToken }) => intentToken) as [string, string, string];
  const answers = await gateway.chargeAtOnce!(requests);
  expect([...answers].map(([token, { status }]) => [token, status]).sort()).toEqual(
    [
      [first, 'succeeded'],
      [second, 'succeeded'],
      [declined, 'declined'],
    ].sort(),
  );
  expect(answers.get(declined)).toMatchObject({ declineReason: 'card_declined', amount: '12.5', currency: 'usd' });
  expect(await gateway.chargeAtOnce!(requests)).toEqual(answers);
  expect(await gateway.charge(requests[0]!)).toEqual(answers.get(first));
  expect((await gateway.operator.callsOf(first)).map(({ kind, answer }) => `${kind} ${answer}`)).toEqual([
    'charge captured',
    'charge repeated',
    'charge repeated',
  ]);
  const captured = (await gateway.operator.captures()).map(({ intentToken }) => intentToken);
  expect(captured.filter((token) => [first, second, declined].includes(token)).sort()).toEqual([first, second].sort());
});

test('what is not decided at once is not charged at once', async () => {
  const behaviours: [SandboxBehaviour, number?][] = [
    ['declines_times', 1],
    ['requires_action'],
    ['loses_answer'],
    ['answers_twice'],
    ['answers_late', 1],
    ['unreachable_times', 1],
    ['never_answers'],
    ['answers_wrongly'],
  ];
  const requests = await Promise.all(
    behaviours.map(async ([behaviour, count]) => (await cardOf(behaviour, count)).request()),
  );
  expect(await gateway.chargeAtOnce!(requests)).toEqual(new Map());
  for (const { intentToken } of requests) expect(await gateway.operator.callsOf(intentToken)).toEqual([]);
  const { request } = await cardOf('succeeds');
  const charged = request();
  await gateway.charge(charged);
  expect(await gateway.chargeAtOnce!([{ ...charged, amount: '13' }])).toEqual(new Map());
});

test('a card declines as often as its number says, counted by intents', async () => {
  const { request } = await cardOf('declines_times', 2);
  const first = request();
  expect(await gateway.charge(first)).toMatchObject({ status: 'declined', declineReason: 'card_declined' });
  expect(await gateway.charge(first)).toMatchObject({ status: 'declined' });
  expect(await gateway.charge(request())).toMatchObject({ status: 'declined' });
  expect(await gateway.charge(request())).toMatchObject({ status: 'succeeded' });
});

test('a lost answer is found by its token', async () => {
  const { request } = await cardOf('loses_answer');
  const charge = request();
  await expect(gateway.charge(charge)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  expect(await gateway.lookUp(charge.intentToken)).toMatchObject({ status: 'succeeded', amount: '12.5' });
});

test('a lost request was never received', async () => {
  const { request } = await cardOf('unreachable_times', 1);
  const charge = request();
  await expect(gateway.charge(charge)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  expect(await gateway.lookUp(charge.intentToken)).toEqual({ status: 'not_found' });
  expect(await gateway.charge(charge)).toMatchObject({ status: 'succeeded' });
});

test('a late charge is captured after as many look-ups as its number says', async () => {
  const { request } = await cardOf('answers_late', 2);
  const charge = request();
  expect(await gateway.charge(charge)).toMatchObject({ status: 'processing' });
  expect(await gateway.lookUp(charge.intentToken)).toMatchObject({ status: 'processing' });
  expect(await gateway.lookUp(charge.intentToken)).toMatchObject({ status: 'succeeded' });
});

test('a charge that needs its payer is confirmed, failed or given up, and only once', async () => {
  const { request } = await cardOf('requires_action');
  const [confirmed, failed, canceled] = [request(), request(), request()];
  expect(await gateway.charge(confirmed)).toMatchObject({ status: 'requires_action', actionUrl: expect.any(String) });
  await gateway.charge(failed);
  await gateway.charge(canceled);
  expect(await gateway.operator.confirm(confirmed.intentToken)).toBe(true);
  expect(await gateway.operator.fail(confirmed.intentToken)).toBe(false);
  expect(await gateway.operator.fail(failed.intentToken)).toBe(true);
  expect(await gateway.cancel(confirmed.intentToken)).toMatchObject({ status: 'succeeded' });
  expect(await gateway.cancel(canceled.intentToken)).toMatchObject({ status: 'declined', declineReason: 'canceled' });
  expect(await gateway.lookUp(failed.intentToken)).toMatchObject({
    status: 'declined',
    declineReason: 'authentication_failed',
  });
});

test('a card that answers twice sends its notification twice', async () => {
  const { request } = await cardOf('answers_twice');
  const charge = request();
  await gateway.charge(charge);
  const sent = (await gateway.operator.takeNotifications()).filter((one) => one.intentToken === charge.intentToken);
  expect(sent).toEqual(Array(2).fill({ intentToken: charge.intentToken, state: 'captured' }));
});

test('what was captured adds up, and every capture has its charge', async () => {
  const captures = await gateway.operator.captures();
  const cents = captures.reduce((total, capture) => total + Number(capture.amount) * 100, 0);
  expect(Number(await gateway.operator.capturedTotal('usd')) * 100).toBe(cents);
  expect(await gateway.operator.inconsistentIntents()).toEqual([]);
});
