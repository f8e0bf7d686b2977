import { expect, vi } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import type { Api } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import type { Planting } from '../lifecycle/invariants.fixture.ts';

/** A third customer, in real time, whose wallet has filled itself; answers the attempt. */
export async function filledWallet(api: Api): Promise<string> {
  const { id: customer_id } = await created(api, '/customers', { external_id: 'filled', name: 'Filled' });
  const card_number = sandboxCardNumber('succeeds');
  await created(api, `/customers/${customer_id}/payment-methods`, { card_number });
  const auto_topup = { enabled: true, threshold: 20, amount: 50, invoicing: true };
  const wallet = { customer_id, currency: 'usd', initial_credits_to_load: '100', auto_topup };
  const { id } = await created(api, '/wallets', wallet);
  const debit = { credits: '90', transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: 'low' };
  await api('POST', `/wallets/${id}/debit`, debit);
  const attempts = async () =>
    (await api<{ items: { id: string }[] }>('GET', `/wallets/${id}/auto-topup/attempts?outcome=succeeded`)).body.items;
  await vi.waitFor(async () => expect(await attempts()).toHaveLength(1), { timeout: 20_000 });
  return (await attempts())[0]!.id;
}

/** The attempt again so often, each with a purchase of its own. */
const repeated = (times: number) => `
insert into auto_topup_attempt select (jsonb_populate_record(a, jsonb_build_object('id', a.id || n, 'number', 100 + n,
  'purchase_id', a.purchase_id || n))).* from auto_topup_attempt a, generate_series(1, ${times}) n where a.id = '$1'`;

/** Statements that break the invariants of automatic top-ups. */
export const topupPlantings: Planting[] = [
  {
    id: 'I21',
    what: 'an attempt that failed and brought its credits',
    sql: `update auto_topup_attempt set outcome = 'declined' where id = '$1'`,
    by: 'attemptId',
    names: /declined, purchase completed/,
  },
  {
    id: 'I21',
    what: 'an attempt that the wallet does not count',
    sql: `update wallet_auto_topup set attempts = 0 where id = (select wallet_id from auto_topup_attempt where id = '$1')`,
    by: 'attemptId',
    names: /1 attempts, the last is 0/,
  },
  {
    id: 'I21',
    what: 'more charges than a day allows',
    sql: repeated(24),
    by: 'attemptId',
    names: /25 succeeded in a day/,
  },
  {
    id: 'I21',
    what: 'more money than a month allows',
    sql: `update auto_topup_attempt set amount = 10001 where id = '$1'`,
    by: 'attemptId',
    names: /10001 charged in a month/,
  },
];
