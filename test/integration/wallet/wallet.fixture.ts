import { expect } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import type { TestApi } from '../../support/api.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

let count = 0;

/** Opens and moves wallets through the API, each of a customer of its own unless a test says whose. */
export function wallets({ call, database, scope }: TestApi) {
  async function customer(): Promise<string> {
    count += 1;
    const answer = await call('POST', '/v1/customers', { body: { external_id: `w-${count}`, name: 'Customer' } });
    return answer.body.id;
  }

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
  return { customer, opened, topUp, free, debit, read, ledger, eventsOf };
}
