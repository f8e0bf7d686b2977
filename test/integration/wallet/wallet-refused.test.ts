import { beforeAll, describe, expect, test } from 'vitest';
import { testApi } from '../../support/api.ts';
import { wallets } from './wallet.fixture.ts';
import { alert, walletRefusals } from './wallet-refused.fixture.ts';

const platform = await testApi();
const { call } = platform;
const { customer, opened, topUp, free, ledger, read } = wallets(platform);
const world = { customer: '', other: '', wallet: '', closed: '', frozen: '', postpaid: '', indebted: '' };

beforeAll(async () => {
  Object.assign(world, { customer: await customer(), other: await customer() });
  const customer_id = world.customer;
  world.wallet = (await opened({ customer_id })).id;
  expect((await topUp(world.wallet, free('10', { idempotency_key: 'taken' }))).status).toBe(200);
  world.closed = (await opened()).id;
  expect((await call('POST', `/v1/wallets/${world.closed}/terminate`)).status).toBe(200);
  world.frozen = (await opened()).id;
  expect((await call('PUT', `/v1/wallets/${world.frozen}`, { body: { wallet_status: 'frozen' } })).status).toBe(200);
  world.postpaid = (await opened({ customer_id, wallet_type: 'POST_PAID' })).id;
  world.indebted = (await opened()).id;
  const debt = { credits: '5', transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: 'debt' };
  expect((await call('POST', `/v1/wallets/${world.indebted}/debit`, { body: debt })).status).toBe(200);
});

const named = (text: string) =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => world[name as keyof typeof world] ?? whole);

describe('what is refused of wallets and alerts changes nothing (wallets-and-payments §3)', () => {
  test.each(walletRefusals)('row %i: %s', async (_row, _what, method, path, body, status, says) => {
    const before = [await read(world.wallet), await ledger(world.wallet)];
    const sent = body === null ? {} : { body: JSON.parse(named(JSON.stringify(body))) };
    const answer = await call(method as 'GET', `/v1${named(path)}`, sent);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(`${answer.body.code}: ${answer.body.message}`).toMatch(
      says instanceof RegExp ? says : new RegExp(`^${says}: .`),
    );
    expect([await read(world.wallet), await ledger(world.wallet)]).toEqual(before);
  });

  test('row 23: an age of a cached balance that is none', async () => {
    for (const age of ['-1', 'soon']) {
      const headers = { 'x-max-live': age };
      const answer = await call('GET', `/v1/wallets/${world.wallet}/balance/real-time-cached`, { headers });
      expect(answer, age).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    }
  });

  test('row 30: a second setting of one wallet', async () => {
    const body = JSON.parse(named(JSON.stringify(alert({}))));
    expect((await call('POST', '/v1/alerts/setting', { body })).status).toBeLessThan(300);
    expect(await call('POST', '/v1/alerts/setting', { body })).toMatchObject({
      status: 409,
      body: { code: 'already_exists' },
    });
  });
});
