import { describe, expect, it } from 'vitest';
import { inSqlTransaction } from '../../db/transaction.ts';
import { testApi } from '../support/api.ts';

const { call, database, scope, otherTenant } = await testApi();

let count = 0;
async function customer(): Promise<string> {
  count += 1;
  const answer = await call('POST', '/v1/customers', { body: { external_id: `w-${count}`, name: 'Customer' } });
  return answer.body.id;
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;
async function opened(fields: Record<string, unknown> = {}): Promise<Wire> {
  const answer = await call('POST', '/v1/wallets', {
    body: { customer_id: await customer(), currency: 'USD', ...fields },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

const topUp = (id: string, body: Record<string, unknown>) => call('POST', `/v1/wallets/${id}/top-up`, { body });
const free = (credits: string, fields: Record<string, unknown> = {}) => ({
  transaction_reason: 'FREE_CREDIT_GRANT',
  credits_to_add: credits,
  ...fields,
});
const debit = (id: string, credits: unknown, fields: Record<string, unknown> = {}) =>
  call('POST', `/v1/wallets/${id}/debit`, {
    body: {
      credits,
      transaction_reason: 'MANUAL_BALANCE_DEBIT',
      idempotency_key: `d-${Math.random()}`,
      ...fields,
    },
  });
const read = async (id: string) => (await call('GET', `/v1/wallets/${id}`)).body;
const ledger = async (id: string) =>
  (await call('GET', `/v1/wallets/${id}/transactions?sort=created_at&order=asc`)).body.items;
const eventsOf = async (walletId: string) => {
  const rows = await inSqlTransaction(database, scope, (tx) =>
    tx.rows(
      `select event_name from outbox_event where entity_id = $1 or payload -> 'transaction' ->> 'wallet_id' = $1 order by created_at, id`,
      [walletId],
    ),
  );
  return rows.map((row) => row.event_name);
};

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
    ['auto_topup.enabled', { auto_topup: { enabled: true, amount: 10, threshold: 0, invoicing: false } }, 501],
    ['alert_settings.alert_enabled', { alert_settings: { alert_enabled: true } }, 501],
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
    [{ auto_topup: { enabled: true } }, 501],
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
    ['transaction_reason', { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '5' }, 501],
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
