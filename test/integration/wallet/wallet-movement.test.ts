import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { wallets } from './wallet.fixture.ts';

const api = await testApi();
const { call } = api;
const { customer, opened, topUp, free, debit, read, ledger } = wallets(api);

describe('a top-up', () => {
  it('adds a lot and answers with entry and wallet', async () => {
    const { id } = await opened({ conversion_rate: '0.5' });
    const { status, body } = await topUp(id, {
      transaction_reason: 'PURCHASED_CREDIT_DIRECT',
      amount: 10,
      priority: 0,
      expiry_date_utc: '2099-01-01T00:00:00Z',
      idempotency_key: 'purchase-1',
      metadata: { order: '7' },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      wallet_transaction: {
        type: 'credit',
        credit_amount: '20',
        amount: '10',
        priority: 0,
        reference_type: 'EXTERNAL',
        reference_id: 'purchase-1',
        idempotency_key: 'purchase-1',
        metadata: { order: '7' },
      },
      wallet: { id, balance: '10', credit_balance: '20' },
      invoice_id: null,
      checkout_session: null,
    });
  });

  it('of a key that was used is 409 and adds nothing, and without a key is always another', async () => {
    const { id } = await opened();
    expect((await topUp(id, free('10', { idempotency_key: 'k1' }))).status).toBe(200);
    for (const credits of ['10', '11']) {
      expect(await topUp(id, free(credits, { idempotency_key: 'k1' }))).toMatchObject({
        status: 409,
        body: { code: 'already_exists' },
      });
    }
    await topUp(id, free('1'));
    await topUp(id, free('1'));
    expect(await read(id)).toMatchObject({ credit_balance: '12' });
  });

  it('that was bought earns the bonus of its slab, as a lot of its own', async () => {
    const slab = (threshold: string, value: string) => ({
      threshold,
      operator: 'gte',
      bonus: { type: 'percentage', value },
      expiration_duration: 1,
      expiration_duration_unit: 'YEAR',
    });
    const value = { enabled: true, slabs: [slab('1000', '20'), slab('500', '10')] };
    expect((await call('PUT', '/v1/settings/bonus_credits_topup_config', { body: { value } })).status).toBe(200);
    const { id } = await opened();
    await topUp(id, { transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_to_add: '999.99' });
    await topUp(id, free('999'));
    const entries = await ledger(id);
    expect(entries).toMatchObject([
      { transaction_reason: 'PURCHASED_CREDIT_DIRECT', credit_balance_after: '999.99' },
      {
        transaction_reason: 'PURCHASED_CREDIT_BONUS',
        credit_amount: '99.999',
        parent_transaction_id: entries[0].id,
        credit_balance_before: '999.99',
        expiry_date: expect.any(String),
        priority: null,
      },
      { transaction_reason: 'FREE_CREDIT_GRANT' },
    ]);
    const own = { transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_to_add: '1000', bonus_credits_to_add: '7.5' };
    await topUp(id, own);
    expect((await ledger(id)).at(-1)).toMatchObject({ credit_amount: '7.5', expiry_date: null });
    await call('DELETE', '/v1/settings/bonus_credits_topup_config');
  });

  it('keeps to the minimum of its currency and the limit of free credits', async () => {
    const { id } = await opened({ topup_conversion_rate: '0.5' });
    const little = { transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_to_add: '1.9' };
    const answer = await topUp(id, little);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toMatch(/1 USD/);
    expect((await topUp(id, { ...little, transaction_reason: 'FREE_CREDIT_GRANT' })).status).toBe(200);
    const value = { free_credit_limit_per_transaction: '50' };
    await call('PUT', '/v1/settings/wallet_topup_config', { body: { value } });
    expect((await topUp(id, free('100.01'))).status).toBe(400);
    expect((await topUp(id, free('100'))).status).toBe(200);
    const loaded = { customer_id: await customer(), currency: 'usd', initial_credits_to_load: '51' };
    expect((await call('POST', '/v1/wallets', { body: loaded })).status).toBe(400);
    await call('DELETE', '/v1/settings/wallet_topup_config');
  });

  it.each([
    ['transaction_reason', { credits_to_add: '1' }, 400],
    ['transaction_reason', { transaction_reason: 'INVOICE_PAYMENT', credits_to_add: '1' }, 400],
    ['credits_to_add', { transaction_reason: 'FREE_CREDIT_GRANT' }, 400],
    ['credits_to_add', free('0'), 400],
    ['credits_to_add', free('0.0000000001'), 400],
    ['amount', { transaction_reason: 'FREE_CREDIT_GRANT', amount: '-1' }, 400],
    ['priority', free('1', { priority: -1 }), 400],
    ['expiry_date_utc', free('1', { expiry_date_utc: '2020-01-01T00:00:00Z' }), 400],
    ['bonus_credits_to_add', free('1', { bonus_credits_to_add: '1' }), 400],
    ['metadata', free('1', { metadata: { auto_topup: 'true' } }), 400],
    ['checkout', free('1', { checkout: {} }), 400],
    ['checkout', { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '5', checkout: {} }, 400],
  ])('is refused for its %s: %j', async (field, body, status) => {
    const { id } = await opened();
    const answer = await topUp(id, body);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(field);
    expect(await ledger(id)).toEqual([]);
  });

  it('whose credits round to nothing is refused', async () => {
    const { id } = await opened({ topup_conversion_rate: '99999' });
    const dust = { transaction_reason: 'FREE_CREDIT_GRANT', amount: '0.00001' };
    expect(await topUp(id, dust)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });
});

describe('a debit by hand', () => {
  it('takes lots in order and may overdraw, and the next top-up pays the debt first', async () => {
    const { id } = await opened();
    await topUp(id, free('10', { priority: 2 }));
    await topUp(id, free('5', { priority: 1 }));
    const [second, first] = await ledger(id);
    expect((await debit(id, '12')).body).toMatchObject({ credit_balance: '3' });
    expect((await ledger(id)).at(-1)).toMatchObject({
      type: 'debit',
      conversion_rate: '1',
      metadata: { consumed_credit_tx_ids: `${first.id},${second.id}` },
    });
    expect((await debit(id, '18')).body).toMatchObject({ credit_balance: '-15', balance: '-15' });
    await topUp(id, free('20'));
    expect((await ledger(id)).at(-1)).toMatchObject({ credits_available: '5', credit_balance_after: '5' });
  });

  it('of a key that was used is 409', async () => {
    const { id } = await opened({ initial_credits_to_load: '10' });
    expect((await debit(id, 3, { idempotency_key: 'once' })).status).toBe(200);
    expect((await debit(id, 3, { idempotency_key: 'once' })).status).toBe(409);
    expect(await read(id)).toMatchObject({ credit_balance: '7' });
  });

  it.each([
    { credits: '0' },
    { credits: undefined },
    { credits: '1', transaction_reason: 'INVOICE_PAYMENT' },
    { credits: '1', idempotency_key: undefined },
  ])('is refused for %j', async (fields) => {
    const { id } = await opened();
    expect((await debit(id, '1', fields)).status).toBe(400);
  });
});
