import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  eventsOf,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const { api, base, temporal } = await testPlatform();

const read = async (path: string): Promise<Wire> => (await api<Wire>('GET', path)).body;
const ledgerOf = async (walletId: string): Promise<Wire[]> =>
  (await read(`/wallets/${walletId}/transactions?sort=created_at&order=asc`)).items;
const balanceOf = async (walletId: string) => (await read(`/wallets/${walletId}`)).credit_balance;

/** A wallet of a customer on a clock that shows 1 January. */
async function wallet(options: { card?: string } = {}) {
  const customer = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', ...options });
  const { id: walletId } = await created(api, '/wallets', { customer_id: customer.customerId, currency: 'usd' });
  const lot = async (credits: string, expiry: string | null = null, fields: Wire = {}): Promise<string> => {
    const answer = await created<Wire>(api, `/wallets/${walletId}/top-up`, {
      transaction_reason: 'FREE_CREDIT_GRANT',
      credits_to_add: credits,
      expiry_date_utc: expiry ?? undefined,
      ...fields,
    });
    return answer.wallet_transaction.id;
  };
  const debit = (credits: string) =>
    created(api, `/wallets/${walletId}/debit`, {
      credits,
      transaction_reason: 'MANUAL_BALANCE_DEBIT',
      idempotency_key: randomUUID(),
    });
  return { ...customer, walletId, lot, debit, to: (at: string) => advanceTo(api, customer.clockId, at) };
}

describe('a lot', () => {
  test('leaves the balance six hours after its expiry by one debit of its own', async () => {
    const { walletId, lot, to } = await wallet();
    await lot('50');
    const id = await lot('10', '2026-02-01T00:00:00Z');
    await to('2026-02-01T05:59:59Z');
    expect(await balanceOf(walletId)).toBe('60');
    await to('2026-02-01T06:00:00Z');
    const debit = (await ledgerOf(walletId)).at(-1);
    expect(debit).toMatchObject({
      type: 'debit',
      transaction_reason: 'CREDIT_EXPIRED',
      reference_type: 'REQUEST',
      reference_id: id,
      idempotency_key: id,
      credit_amount: '10',
      credit_balance_before: '60',
      credit_balance_after: '50',
      metadata: { expired_transaction_id: id, expiry_date: '2026-02-01T00:00:00.000Z', consumed_credit_tx_ids: id },
    });
    expect(debit.description).toContain(id);
    expect(await balanceOf(walletId)).toBe('50');
    expect(await eventsOf(api, debit.id)).toEqual(['wallet.transaction.created']);
    await to('2026-04-01T00:00:00Z');
    expect(await ledgerOf(walletId)).toHaveLength(3);
  });

  test('that was used up has nothing to expire, and a debit of what it still holds leaves the rest', async () => {
    const { walletId, lot, debit, to } = await wallet();
    await lot('10', '2026-02-01T00:00:00Z');
    await lot('20', '2026-03-01T00:00:00Z');
    await debit('15');
    await to('2026-02-02T00:00:00Z');
    expect((await ledgerOf(walletId)).map((row) => row.transaction_reason)).toEqual([
      'FREE_CREDIT_GRANT',
      'FREE_CREDIT_GRANT',
      'MANUAL_BALANCE_DEBIT',
    ]);
    await to('2026-03-02T00:00:00Z');
    expect((await ledgerOf(walletId)).at(-1)).toMatchObject({
      transaction_reason: 'CREDIT_EXPIRED',
      credit_amount: '15',
    });
    expect(await balanceOf(walletId)).toBe('0');
  });

  test('expiry-after-overdraft: that expires under a debt takes the balance below zero, and the next credit pays that first', async () => {
    const { walletId, lot, debit, to } = await wallet();
    await lot('10', '2026-02-01T00:00:00Z');
    await to('2026-02-01T01:00:00Z');
    await debit('4'); // It can no longer be used, so this is owed.
    expect(await balanceOf(walletId)).toBe('6');
    await to('2026-02-02T00:00:00Z');
    expect(await balanceOf(walletId)).toBe('-4');
    await lot('10');
    expect((await ledgerOf(walletId)).at(-1)).toMatchObject({ credit_balance_after: '6', credits_available: '6' });
  });

  test('of a bonus expires as any other', async () => {
    const { walletId, lot, to } = await wallet();
    await lot('100', null, {
      transaction_reason: 'PURCHASED_CREDIT_DIRECT',
      bonus_credits_to_add: '5',
      bonus_credits_expiry_date_utc: '2026-01-10T00:00:00Z',
    });
    expect(await balanceOf(walletId)).toBe('105');
    await to('2026-01-10T06:00:00Z');
    expect(await balanceOf(walletId)).toBe('100');
  });

  test('of a frozen wallet stays until the wallet is active again', async () => {
    const { walletId, lot, to } = await wallet();
    await lot('10', '2026-02-01T00:00:00Z');
    await api('PUT', `/wallets/${walletId}`, { wallet_status: 'frozen' });
    await to('2026-03-01T00:00:00Z');
    expect(await balanceOf(walletId)).toBe('10');
    await api('PUT', `/wallets/${walletId}`, { wallet_status: 'active' });
    await expect.poll(() => balanceOf(walletId), { timeout: 20_000 }).toBe('0');
    expect((await ledgerOf(walletId)).at(-1)).toMatchObject({ transaction_reason: 'CREDIT_EXPIRED' });
  });

  test('of a closed wallet never expires', async () => {
    const { walletId, lot, to } = await wallet();
    await lot('10', '2026-02-01T00:00:00Z');
    await created(api, `/wallets/${walletId}/terminate`, undefined);
    await to('2026-03-01T00:00:00Z');
    expect((await ledgerOf(walletId)).at(-1)).toMatchObject({ transaction_reason: 'WALLET_TERMINATION' });
  });
});

/** A plan whose usage is 1.00 a call, ten calls in January, and a wallet with a lot of 100 that came with January and expires with it. */
async function usedJanuary(options: { calls: number; card?: string }) {
  const held = await wallet(options);
  const plan = await monthlyPlan(api, { perCall: '1', fee: '0' });
  const subscription = await subscribe(api, { customer_id: held.customerId, plan_id: plan.planId });
  const events = Array.from({ length: options.calls }, () => ({
    event_name: plan.eventName,
    external_customer_id: held.externalId,
    event_id: randomUUID(),
    timestamp: '2026-01-10T00:00:00Z',
  }));
  await created(api, '/events/bulk', { events });
  return { ...held, subscription };
}

describe('credits of the period that ends', () => {
  test('expiry-vs-finalization: pay its invoice though they expired with it, and what is left goes', async () => {
    const { walletId, lot, to, subscription } = await usedJanuary({ calls: 10 });
    await lot('25', '2026-02-01T00:00:00Z');
    await to('2026-02-01T05:00:00Z');
    const [january] = (await invoicesOf(api, subscription.id)).filter(
      (one) => one.billing_reason === 'SUBSCRIPTION_CYCLE',
    );
    expect(january).toMatchObject({
      total_prepaid_credits_applied: '10',
      invoice_status: 'FINALIZED',
      amount_remaining: '0',
    });
    expect(await balanceOf(walletId)).toBe('15');
    await to('2026-02-01T06:00:00Z');
    expect(await balanceOf(walletId)).toBe('0');
  });

  test('finding 31: stay while the invoice of their period is a draft, and go the instant it is settled', async () => {
    await api('PUT', '/settings/invoice_config', { value: { finalization_delay_seconds: 10 * 3600 } });
    const { walletId, lot, to, subscription } = await usedJanuary({ calls: 10 });
    await api('PUT', '/settings/invoice_config', { value: { finalization_delay_seconds: 7200 } });
    await lot('25', '2026-02-01T00:00:00Z');
    await api('PUT', '/settings/invoice_config', { value: { finalization_delay_seconds: 10 * 3600 } });
    await to('2026-02-01T09:59:00Z');
    expect(await balanceOf(walletId)).toBe('25');
    const details = await temporal.client.workflow.getHandle(`wallet/${walletId}`).describe();
    expect(JSON.stringify(details.raw)).toBeTruthy();
    await to('2026-02-01T10:00:00Z');
    await api('PUT', '/settings/invoice_config', { value: { finalization_delay_seconds: 7200 } });
    const [january] = (await invoicesOf(api, subscription.id)).filter(
      (one) => one.billing_reason === 'SUBSCRIPTION_CYCLE',
    );
    expect(january).toMatchObject({ total_prepaid_credits_applied: '10', amount_remaining: '0' });
    const rows = await ledgerOf(walletId);
    expect(rows.map((row) => row.transaction_reason)).toEqual([
      'FREE_CREDIT_GRANT',
      'CREDIT_ADJUSTMENT',
      'CREDIT_EXPIRED',
    ]);
    expect(rows.at(-1)).toMatchObject({ credit_amount: '15' });
  });

  test('finding 31: stay while that invoice is not paid, and go when somebody pays it', async () => {
    const { walletId, lot, to, subscription } = await usedJanuary({ calls: 10 });
    await lot('5', '2026-01-31T00:00:00Z', { priority: 1 });
    const id = await lot('5', '2026-02-01T00:00:00Z');
    await api('PUT', `/wallets/${walletId}`, { wallet_status: 'frozen' }); // So nothing is paid by credits.
    await to('2026-02-01T03:00:00Z');
    await api('PUT', `/wallets/${walletId}`, { wallet_status: 'active' });
    await to('2026-02-10T00:00:00Z');
    // The one that expired before the period ended is not needed for its invoice.
    expect(await balanceOf(walletId)).toBe('5');
    const [january] = (await invoicesOf(api, subscription.id)).filter(
      (one) => one.billing_reason === 'SUBSCRIPTION_CYCLE',
    );
    expect(january).toMatchObject({ invoice_status: 'FINALIZED', amount_remaining: '10' });
    await api('PUT', `/invoices/${january!.id}/payment`, { payment_status: 'SUCCEEDED' });
    await expect.poll(() => balanceOf(walletId), { timeout: 20_000 }).toBe('0');
    expect((await ledgerOf(walletId)).at(-1)).toMatchObject({ idempotency_key: id, credit_balance_after: '0' });
  });

  test('finding 32: an invoice that is never paid keeps them for thirty days after it was finalized', async () => {
    const { walletId, lot, to } = await usedJanuary({ calls: 10 });
    await lot('5', '2026-02-01T00:00:00Z');
    await api('PUT', `/wallets/${walletId}`, { wallet_status: 'frozen' });
    await to('2026-02-01T03:00:00Z');
    await api('PUT', `/wallets/${walletId}`, { wallet_status: 'active' });
    await to('2026-03-03T01:59:59Z');
    expect(await balanceOf(walletId)).toBe('5');
    await to('2026-03-03T02:00:00Z');
    expect(await balanceOf(walletId)).toBe('0');
  });

  test('finding 31: go when that invoice is voided', async () => {
    const { walletId, lot, to, subscription } = await usedJanuary({ calls: 10 });
    await lot('5', '2026-02-01T00:00:00Z');
    await api('PUT', `/wallets/${walletId}`, { wallet_status: 'frozen' });
    await to('2026-02-01T03:00:00Z');
    await api('PUT', `/wallets/${walletId}`, { wallet_status: 'active' });
    await to('2026-02-05T00:00:00Z');
    expect(await balanceOf(walletId)).toBe('5');
    const [january] = (await invoicesOf(api, subscription.id)).filter(
      (one) => one.billing_reason === 'SUBSCRIPTION_CYCLE',
    );
    await created(api, `/invoices/${january!.id}/void`, {});
    await expect.poll(() => balanceOf(walletId), { timeout: 20_000 }).toBe('0');
  });

  test('finding 31: go when a card pays that invoice', async () => {
    const card = sandboxCardNumber('declines_times', 1);
    const { walletId, lot, to } = await usedJanuary({ calls: 10, card });
    await lot('5', '2026-02-01T00:00:00Z');
    await api('PUT', `/wallets/${walletId}`, { wallet_status: 'frozen' });
    await to('2026-02-01T03:00:00Z');
    await api('PUT', `/wallets/${walletId}`, { wallet_status: 'active' });
    await to('2026-02-01T12:00:00Z');
    expect(await balanceOf(walletId)).toBe('5');
    await to('2026-02-10T00:00:00Z');
    expect(await balanceOf(walletId)).toBe('0');
  });
});

test('finding 56: a wallet on real time waits for its first lot without a worker', async () => {
  const { id: customerId } = await created(api, '/customers', { external_id: 'real', name: 'Real' });
  const { id } = await created(api, '/wallets', { customer_id: customerId, currency: 'usd' });
  const soon = (ms: number) => new Date(Date.now() + ms).toISOString();
  const body = (expiry: string) => ({
    transaction_reason: 'FREE_CREDIT_GRANT',
    credits_to_add: '1',
    expiry_date_utc: expiry,
  });
  const types = async () => {
    const { events } = await temporal.client.workflow.getHandle(`wallet/${id}`).fetchHistory();
    return (events ?? []).map((event) => event.eventType);
  };
  await created(api, `/wallets/${id}/top-up`, body(soon(3_600_000)));
  await expect.poll(() => types().catch(() => [])).toEqual([1, 26]);
  const { startTime, executionTime } = await temporal.client.workflow.getHandle(`wallet/${id}`).describe();
  const waits = executionTime!.getTime() - startTime.getTime();
  expect(waits).toBeGreaterThan(6.9 * 3_600_000);
  expect(waits).toBeLessThanOrEqual(7 * 3_600_000);
  // A later lot changes nothing, an earlier one wakes it.
  await created(api, `/wallets/${id}/top-up`, body(soon(7_200_000)));
  expect(await types()).toEqual([1, 26]);
  await created(api, `/wallets/${id}/top-up`, body(soon(1_800_000)));
  await expect.poll(async () => (await types()).length).toBeGreaterThan(4);
  expect(base).toBeDefined();
});
