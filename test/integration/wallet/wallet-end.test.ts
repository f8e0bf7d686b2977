import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { wallets } from './wallet.fixture.ts';

const api = await testApi();
const { call } = api;
const { opened, topUp, free, debit, ledger, eventsOf } = wallets(api);

describe('the end of a wallet', () => {
  it('forfeits what is left by one debit, and happens once', async () => {
    const { id } = await opened({ initial_credits_to_load: '42.5', conversion_rate: '2' });
    const { body } = await call('POST', `/v1/wallets/${id}/terminate`);
    expect(body).toMatchObject({ id, wallet_status: 'closed', credit_balance: '0', balance: '0' });
    expect(body.message).toContain(id);
    expect((await ledger(id)).at(-1)).toMatchObject({
      type: 'debit',
      transaction_reason: 'WALLET_TERMINATION',
      credit_amount: '42.5',
      amount: '85',
      idempotency_key: id,
    });
    const events = ['wallet.created', 'wallet.transaction.created', 'wallet.transaction.created', 'wallet.terminated'];
    expect(await eventsOf(id)).toEqual(events);
    const again = await call('POST', `/v1/wallets/${id}/terminate`);
    expect(again).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    for (const answer of [await topUp(id, free('1')), await debit(id, '1')]) {
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    }
  });

  it('keeps a debt and writes nothing for it', async () => {
    const { id } = await opened();
    await debit(id, '5');
    expect((await call('POST', `/v1/wallets/${id}/terminate`)).body).toMatchObject({ credit_balance: '-5' });
    expect(await ledger(id)).toHaveLength(1);
  });

  it('as a prepaid one gives its credits to a postpaid one', async () => {
    const { id, customer_id } = await opened({
      initial_credits_to_load: '37.5',
      conversion_rate: '2',
      topup_conversion_rate: '1.5',
      metadata: { team: 'a' },
    });
    const modify = (of: string) =>
      call('POST', `/v1/wallets/${of}/modify`, { body: { modification_type: 'prepaid_to_postpaid' } });
    const { status, body } = await modify(id);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      original_wallet: { id, wallet_status: 'closed', credit_balance: '0' },
      new_wallet: {
        customer_id,
        wallet_type: 'POST_PAID',
        credit_balance: '37.5',
        balance: '75',
        topup_conversion_rate: '1.5',
        metadata: { team: 'a', converted_from: id },
        config: { allowed_price_types: ['ALL'] },
      },
    });
    expect((await ledger(body.new_wallet.id))[0]).toMatchObject({
      transaction_reason: 'FREE_CREDIT_GRANT',
      expiry_date: null,
    });
    expect((await modify(body.new_wallet.id)).status).toBe(400);
    const other = await call('POST', '/v1/wallets', { body: { customer_id, currency: 'usd' } });
    expect(await modify(other.body.id)).toMatchObject({ status: 409, body: { code: 'already_exists' } });
    expect((await call('POST', `/v1/wallets/${id}/modify`, { body: { modification_type: 'x' } })).status).toBe(400);
  });
});

describe('a frozen wallet', () => {
  it('takes and gives nothing until it is active again', async () => {
    const { id } = await opened({ initial_credits_to_load: '5' });
    const set = (wallet_status: string) => call('PUT', `/v1/wallets/${id}`, { body: { wallet_status } });
    expect((await set('frozen')).body).toMatchObject({ wallet_status: 'frozen' });
    for (const answer of [await topUp(id, free('1')), await debit(id, '1')]) {
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    }
    expect((await call('GET', `/v1/wallets/${id}/balance/real-time`)).body).toMatchObject({
      balance: '5',
      real_time_balance: '0',
    });
    expect((await set('active')).status).toBe(200);
    expect((await debit(id, '1')).status).toBe(200);
  });
});
