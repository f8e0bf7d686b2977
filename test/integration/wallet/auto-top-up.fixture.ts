import { expect } from 'vitest';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { created, monthlyPlan, type TestPlatform } from '../../support/billing.ts';
import { createClock } from '../../support/clock.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

export const start = '2026-03-01T00:00:00.000Z';

/** Instant so many hours after the start of every clock. */
export const later = (hours: number) => new Date(Date.parse(start) + hours * 3_600_000).toISOString();

/** Wallets that fill themselves on test clocks of a platform, and what is read of them. */
export function fillingWallets({ api }: Pick<TestPlatform, 'api'>) {
  let count = 0;
  const read = async (path: string) => (await api<Wire>('GET', path)).body;
  const standingOf = async (walletId: string) => (await read(`/wallets/${walletId}`)).auto_topup_standing;

  /** A customer on a clock of its own, with a card where one is named. */
  async function payer(card?: SandboxBehaviour, times = 0) {
    count += 1;
    const clockId = await createClock(api, start);
    const externalId = `filled-${count}`;
    const customer = { external_id: externalId, name: 'Filled', test_clock_id: clockId };
    const { id: customerId } = await created(api, '/customers', customer);
    if (card) await addCard(customerId, card, times);
    return { clockId, customerId, externalId };
  }

  async function addCard(customerId: string, card: SandboxBehaviour, times = 0) {
    const card_number = sandboxCardNumber(card, times);
    return created(api, `/customers/${customerId}/payment-methods`, { card_number, set_default: true });
  }

  /** A prepaid wallet of 100 credits that fills itself at 20 with 50. */
  async function walletOf(customerId: string, terms: Wire = {}, fields: Wire = {}): Promise<string> {
    const auto_topup = { enabled: true, threshold: 20, amount: 50, invoicing: true, ...terms };
    const body = { customer_id: customerId, currency: 'usd', initial_credits_to_load: '100', auto_topup, ...fields };
    return (await created(api, '/wallets', body)).id;
  }

  async function filled(terms: Wire = {}, card?: SandboxBehaviour, times = 0) {
    const owner = await payer(card, times);
    return { ...owner, walletId: await walletOf(owner.customerId, terms) };
  }

  async function debit(walletId: string, credits: string) {
    const body = { credits, transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: `debit-${Math.random()}` };
    const answer = await api<Wire>('POST', `/wallets/${walletId}/debit`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  }

  /** Subscribes a customer to a plan of 1 a call, without a fee. */
  async function subscribed(customerId: string, terms: Wire = {}) {
    const plan = await monthlyPlan(api, { fee: '0', perCall: '1' });
    const body = {
      customer_id: customerId,
      plan_id: plan.planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...terms,
    };
    await created(api, '/subscriptions', { ...body, start_date: start });
    return plan;
  }

  async function use({ eventName }: { eventName: string }, externalId: string, calls: number, at: string) {
    const event = { event_name: eventName, external_customer_id: externalId, timestamp: at, properties: {} };
    const events = Array.from({ length: calls }, (_, index) => ({
      ...event,
      event_id: `${externalId}-${at}-${index}`,
    }));
    expect((await api('POST', '/events/bulk', { events })).status).toBe(202);
  }

  return {
    read,
    subscribed,
    use,
    payer,
    addCard,
    walletOf,
    filled,
    debit,
    standingOf,
    balanceOf: async (walletId: string) => (await read(`/wallets/${walletId}`)).credit_balance,
    attemptsOf: async (walletId: string): Promise<Wire[]> =>
      (await read(`/wallets/${walletId}/auto-topup/attempts`)).items,
    becomes: (walletId: string, expected: Wire) =>
      expect.poll(() => standingOf(walletId), { timeout: 20_000, interval: 100 }).toMatchObject(expected),
    put: (walletId: string, body: Wire) => api<Wire>('PUT', `/wallets/${walletId}`, body),
  };
}
