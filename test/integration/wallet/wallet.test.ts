import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { wallets } from './wallet.fixture.ts';

const api = await testApi();
const { call, scope, otherTenant } = api;
const { customer, opened, topUp, free, debit, read, ledger, eventsOf } = wallets(api);

describe('a wallet', () => {
  it('is opened with every documented key and its defaults', async () => {
    const body = await opened();
    expect(body).toMatchObject({
      id: expect.stringMatching(/^wallet_/),
      status: 'published',
      name: 'Prepaid Wallet - USD',
      description: null,
      currency: 'usd',
      wallet_status: 'active',
      wallet_type: 'PRE_PAID',
      balance: '0',
      credit_balance: '0',
      real_time_balance: null,
      real_time_credit_balance: null,
      credits_available_breakdown: null,
      conversion_rate: '1',
      topup_conversion_rate: '1',
      config: { allowed_price_types: ['USAGE'] },
      auto_topup: null,
      alert_settings: null,
      alert_state: 'ok',
      metadata: {},
    });
    expect(await read(body.id)).toEqual(body);
    expect(await eventsOf(body.id)).toEqual(['wallet.created']);
  });

  it('starts with free credits that expire at the start of a day', async () => {
    const body = await opened({
      initial_credits_to_load: '25',
      initial_credits_to_load_expiry_date: 20991231,
      conversion_rate: 2,
      topup_conversion_rate: '0.5',
      wallet_type: 'POST_PAID',
    });
    expect(body).toMatchObject({ balance: '50', credit_balance: '25', config: { allowed_price_types: ['ALL'] } });
    expect(await ledger(body.id)).toMatchObject([
      {
        id: expect.stringMatching(/^wtxn_/),
        type: 'credit',
        transaction_reason: 'FREE_CREDIT_GRANT',
        transaction_status: 'completed',
        credit_amount: '25',
        amount: '12.5',
        credits_available: '25',
        credit_balance_before: '0',
        credit_balance_after: '25',
        expiry_date: '2099-12-31T00:00:00.000Z',
        topup_conversion_rate: '0.5',
        conversion_rate: null,
        customer: null,
        wallet: null,
        created_by_user: null,
      },
    ]);
    expect(await eventsOf(body.id)).toEqual(['wallet.created', 'wallet.transaction.created']);
  });

  it('takes currency and rate of a custom currency', async () => {
    const unit = { name: 'Points', code: 'pts', symbol: 'P', base_currency: 'eur', conversion_rate: '0.25' };
    expect((await call('POST', '/v1/prices/units', { body: unit })).status).toBe(201);
    expect(await opened({ currency: undefined, price_unit: 'pts' })).toMatchObject({
      currency: 'eur',
      conversion_rate: '0.25',
      topup_conversion_rate: '0.25',
    });
  });

  it('is one of its customer, currency and type, until it is closed', async () => {
    const wallet = await opened();
    const same = { customer_id: wallet.customer_id, currency: 'usd' };
    const again = () => call('POST', '/v1/wallets', { body: same });
    expect(await again()).toMatchObject({ status: 409, body: { code: 'already_exists' } });
    expect((await call('POST', '/v1/wallets', { body: { ...same, wallet_type: 'POST_PAID' } })).status).toBe(200);
    await call('PUT', `/v1/wallets/${wallet.id}`, { body: { wallet_status: 'frozen' } });
    expect((await again()).status).toBe(409);
    await call('POST', `/v1/wallets/${wallet.id}/terminate`);
    expect((await again()).status).toBe(200);
  });

  it.each([
    ['customer_id', { customer_id: undefined }, 400],
    ['customer_id', { customer_id: 'cust_unknown' }, 404],
    ['currency', { currency: undefined }, 400],
    ['currency', { currency: 'dollars' }, 400],
    ['price_unit', { currency: undefined, price_unit: 'zzz' }, 404],
    ['conversion_rate', { conversion_rate: '-1' }, 400],
    ['conversion_rate', { conversion_rate: '0.000001' }, 400],
    ['topup_conversion_rate', { topup_conversion_rate: '0' }, 400],
    ['initial_credits_to_load', { initial_credits_to_load: '-1' }, 400],
    ['initial_credits_to_load_expiry_date', { initial_credits_to_load_expiry_date: 20260231 }, 400],
    ['initial_credits_expiry_date_utc', { initial_credits_expiry_date_utc: '2020-01-01T00:00:00Z' }, 400],
    ['auto_topup.invoicing', { auto_topup: { enabled: true, amount: '10', threshold: '1' } }, 400],
    ['auto_topup.amount', { auto_topup: { enabled: true, amount: 0, threshold: 0, invoicing: true } }, 400],
    ['auto_topup.cooldown', { auto_topup: { enabled: false, cooldown: { value: 1, unit: 'week' } } }, 400],
    ['auto_topup.cooldown', { auto_topup: { enabled: false, cooldown: { value: 366, unit: 'day' } } }, 400],
    ['alert_settings.alert_enabled', { alert_settings: { alert_enabled: true } }, 400],
  ])('is refused for its %s: %j', async (field, fields, status) => {
    const answer = await call('POST', '/v1/wallets', {
      body: { customer_id: await customer(), currency: 'usd', ...fields },
    });
    expect(answer).toMatchObject({ status, body: { success: false } });
    if (status !== 404) expect(answer.body.message).toContain(field);
  });

  it('changes by PUT, and what cannot change may be repeated', async () => {
    const { id } = await opened();
    const change = {
      name: 'Team',
      metadata: { team: 'a' },
      config: { allowed_price_types: ['ALL'] },
      auto_topup: { enabled: false, cooldown: { value: 2, unit: 'minute' } },
      currency: 'usd',
      conversion_rate: '1.0',
    };
    const { status, body } = await call('PUT', `/v1/wallets/${id}`, { body: change });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      name: 'Team',
      metadata: { team: 'a' },
      config: { allowed_price_types: ['ALL'] },
      auto_topup: { enabled: false, cooldown: '120000000000', amount: null },
    });
    await call('PUT', `/v1/wallets/${id}`, { body: change });
    expect(await eventsOf(id)).toEqual(['wallet.created', 'wallet.updated']);
  });

  it.each([
    [{ conversion_rate: '2' }, 400],
    [{ topup_conversion_rate: '2' }, 400],
    [{ currency: 'eur' }, 400],
    [{ wallet_type: 'POST_PAID' }, 400],
    [{ customer_id: 'cust_x' }, 400],
    [{ config: { allowed_price_types: [] } }, 400],
    [{ config: { allowed_price_types: ['OTHER'] } }, 400],
    [{ wallet_status: 'closed' }, 400],
    [{ auto_topup: { enabled: true } }, 400],
    [{ auto_topup: { amount: '-1' } }, 400],
  ])('refuses the change %j', async (body, status) => {
    const { id } = await opened();
    expect((await call('PUT', `/v1/wallets/${id}`, { body })).status).toBe(status);
    expect(await eventsOf(id)).toEqual(['wallet.created']);
  });

  it('is found by lists and searches, by its customer and by status', async () => {
    const wallet = await opened({ initial_credits_to_load: '5' });
    const of = wallet.customer_id;
    for (const found of [
      (await call('GET', `/v1/wallets?customer_id=${of}&status=active`)).body.items,
      (await call('POST', '/v1/wallets/search', { body: { wallet_ids: [wallet.id], alert_enabled: false } })).body
        .items,
      (await call('GET', `/v1/customers/${of}/wallets`)).body,
      (await call('GET', `/v1/customers/wallets?id=${of}`)).body,
    ]) {
      expect(found).toMatchObject([{ id: wallet.id, credit_balance: '5' }]);
    }
    expect((await call('GET', `/v1/wallets?customer_id=${of}&status=closed`)).body.items).toEqual([]);
    expect((await call('GET', '/v1/customers/wallets')).status).toBe(400);
    expect((await call('GET', `/v1/customers/wallets?id=${of}&lookup_key=x`)).status).toBe(400);
    expect((await call('GET', '/v1/wallets?status=published')).status).toBe(400);
  });

  it('finding 46: shows its customer, and where its credits come from, wherever expand asks for it', async () => {
    const { id, customer_id } = await opened({ initial_credits_to_load: '5' });
    await topUp(id, { transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_to_add: '3' });
    await debit(id, '1');
    const both = 'customer,credits_available_breakdown';
    const listed = await call('GET', `/v1/wallets?wallet_ids=${id}&expand=${both}`);
    const searched = await call('POST', '/v1/wallets/search', { body: { wallet_ids: [id], expand: both } });
    const balance = await call('GET', `/v1/wallets/${id}/balance/real-time?expand=${both}`);
    const ofCustomer = await call('GET', `/v1/customers/${customer_id}/wallets?expand=${both}`);
    for (const wallet of [listed.body.items[0], searched.body.items[0], balance.body, ofCustomer.body[0]]) {
      expect(wallet).toMatchObject({
        id,
        customer: { id: customer_id, name: 'Customer' },
        credits_available_breakdown: { free: '4', purchased: '3' },
      });
    }
    const plain = (await call('GET', `/v1/wallets?wallet_ids=${id}`)).body.items[0];
    expect(plain).toMatchObject({ customer: null, credits_available_breakdown: null });
    expect(await call('GET', '/v1/wallets?expand=invoices')).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('expand') },
    });
  });

  it('keeps its customer from being archived until it is closed', async () => {
    const { id, customer_id } = await opened();
    expect(await call('DELETE', `/v1/customers/${customer_id}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation', message: expect.stringContaining('wallet') },
    });
    await call('POST', `/v1/wallets/${id}/terminate`);
    expect((await call('DELETE', `/v1/customers/${customer_id}`)).status).toBe(204);
  });
});

describe('reading ledgers and balances', () => {
  it('narrows by what a transaction says, and shows company when asked', async () => {
    const { id, customer_id } = await opened({ initial_credits_to_load: '5' });
    await debit(id, '2');
    const search = async (body: Record<string, unknown>) =>
      (await call('POST', '/v1/wallets/transactions/search', { body: { wallet_id: id, ...body } })).body.items;
    expect(await search({ type: 'debit' })).toMatchObject([{ credit_amount: '2' }]);
    expect(await search({ transaction_reason: 'FREE_CREDIT_GRANT', customer_id })).toHaveLength(1);
    expect(await search({ credits_available_gt: '2.9' })).toMatchObject([{ type: 'credit', credits_available: '3' }]);
    expect(await search({ credits_available_gt: '3' })).toEqual([]);
    expect(await search({ expiry_date_before: '2099-01-01T00:00:00Z' })).toEqual([]);
    const [entry] = await search({ type: 'credit', expand: 'customer,created_by_user,wallet' });
    expect(entry).toMatchObject({
      customer: { id: customer_id },
      wallet: { id },
      created_by_user: { id: scope.actor },
    });
    expect((await call('GET', `/v1/wallets/${id}/transactions?type=other`)).status).toBe(400);
  });

  it('splits usable credits into bought and free ones', async () => {
    const { id } = await opened({ initial_credits_to_load: '5' });
    await topUp(id, { transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_to_add: '3' });
    const path = `/v1/wallets/${id}/balance/real-time?expand=credits_available_breakdown`;
    expect((await call('GET', path)).body).toMatchObject({
      real_time_balance: '8',
      real_time_credit_balance: '8',
      credits_available_breakdown: { free: '5', purchased: '3' },
      current_period_usage: '0',
      is_cached_fallback: false,
    });
    const cached = `/v1/wallets/${id}/balance/real-time-cached`;
    expect((await call('GET', cached, { headers: { 'x-max-live': '60' } })).body).toMatchObject({ balance: '8' });
    expect((await call('GET', cached, { headers: { 'x-max-live': '-1' } })).status).toBe(400);
  });

  it('knows no wallet of another tenant', async () => {
    const { id } = await opened();
    const { apiKey } = await otherTenant();
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', { name: 'x' }],
      ['POST', '/top-up', free('1')],
      ['POST', '/debit', { credits: '1', transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: 'x' }],
      ['POST', '/terminate', {}],
      ['POST', '/modify', { modification_type: 'prepaid_to_postpaid' }],
      ['GET', '/transactions', undefined],
      ['GET', '/balance/real-time', undefined],
    ] as const) {
      const answer = await call(method, `/v1/wallets/${id}${path}`, { apiKey, ...(body ? { body } : {}) });
      expect(answer, `${method} ${path}`).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });
});
