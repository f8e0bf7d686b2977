import { describe, expect, it } from 'vitest';
import { decimal } from '../../../billing/money/money.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { createWallet } from '../../../services/ledger/wallet-create.ts';
import { creditPrepaidWallet, type PrepaidCredit } from '../../../services/ledger/wallet-credit.ts';
import { type DebitFacts, enterDebit, openLedger } from '../../../services/ledger/wallet-ledger.ts';
import { writeLedger } from '../../../services/ledger/wallet-ledger-write.ts';
import { testApi } from '../../support/api.ts';

const { call, database, scope } = await testApi();

let count = 0;
async function customer(): Promise<string> {
  count += 1;
  const answer = await call('POST', '/v1/customers', { body: { external_id: `c-${count}`, name: 'Customer' } });
  return answer.body.id;
}

const sql = <T>(text: string, values: unknown[]) =>
  inSqlTransaction(database, scope, async (tx) => (await tx.rows(text, values)) as T[]);

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever a row holds
type Row = any;
const walletsOf = (customerId: string) =>
  sql<Row>('select *, trim_scale(balance)::text as balance from wallet where customer_id = $1 order by created_at', [
    customerId,
  ]);
const ledgerOf = (walletId: string) =>
  sql<Row>('select * from wallet_transaction where wallet_id = $1 order by position', [walletId]);

function credit(customerId: string, fields: Partial<PrepaidCredit>): Promise<void> {
  return inSqlTransaction(database, scope, (tx) =>
    creditPrepaidWallet(tx, scope, {
      customerId,
      currency: 'USD',
      amount: '10',
      cause: 'credit_note',
      causeId: 'cn_1',
      description: 'Refund',
      idempotencyKey: `key-${customerId}-${Math.random()}`,
      at: '2026-01-01T00:00:00.000Z',
      ...fields,
    }),
  );
}

function debit(walletId: string, credits: string, key: string): Promise<unknown> {
  const facts: DebitFacts = {
    reason: 'CREDIT_ADJUSTMENT',
    quantity: { credits: decimal(credits) },
    referenceType: 'REQUEST',
    referenceId: key,
    idempotencyKey: key,
  };
  return inSqlTransaction(database, scope, async (tx) => {
    const ledger = await openLedger(tx, scope, [walletId]);
    enterDebit(ledger, ledger.wallets.get(walletId)!, facts);
    await writeLedger(ledger);
  });
}

describe('money that goes to a prepaid wallet', () => {
  it('makes the wallet with its defaults, and is told after it', async () => {
    const customerId = await customer();
    await credit(customerId, { amount: '12.5', idempotencyKey: 'cn_9', causeId: 'cn_9' });
    const [wallet] = await walletsOf(customerId);
    expect(wallet).toMatchObject({
      name: 'Prepaid Wallet - USD',
      currency: 'usd',
      wallet_type: 'PRE_PAID',
      wallet_status: 'active',
      balance: '12.5',
      version: 2,
    });
    expect(await ledgerOf(wallet.id)).toMatchObject([
      {
        type: 'credit',
        transaction_reason: 'CREDIT_NOTE',
        idempotency_key: 'cn_9',
        credit_balance_before: '0',
        credit_balance_after: '12.5',
        credits_available: '12.5',
        expiry_date: null,
      },
    ]);
    const events = await sql<Row>(
      `select event_name from outbox_event where entity_id = $1 or payload -> 'transaction' ->> 'wallet_id' = $1 order by id`,
      [wallet.id],
    );
    expect(events.map((event) => event.event_name)).toEqual(['wallet.created', 'wallet.transaction.created']);
  });

  it('is worth what it refunds, at the rate at which credits are spent', async () => {
    const customerId = await customer();
    const rates = { conversionRate: '0.5', topupConversionRate: '0.8' };
    await inSqlTransaction(database, scope, (tx) => createWallet(tx, scope, { customerId, currency: 'usd', ...rates }));
    await credit(customerId, { amount: '100' });
    const [wallet] = await walletsOf(customerId);
    expect(wallet).toMatchObject({ balance: '100', credit_balance: '200' });
  });

  it.each([
    ['credit_note', 'CREDIT_NOTE'],
    ['refund', 'CREDIT_NOTE'],
    ['proration', 'CREDIT_ADJUSTMENT'],
  ] as const)('for %s has the reason %s', async (cause, reason) => {
    const customerId = await customer();
    await credit(customerId, { cause, causeId: 'x_1' });
    const [wallet] = await walletsOf(customerId);
    expect(await ledgerOf(wallet.id)).toMatchObject([{ transaction_reason: reason }]);
  });

  it('is credited once by one key, however often and however many at once', async () => {
    const customerId = await customer();
    const once = () => credit(customerId, { idempotencyKey: 'refund_7', cause: 'refund', causeId: 'refund_7' });
    await Promise.all([once(), once(), once()]);
    await once();
    const wallets = await walletsOf(customerId);
    expect(wallets).toMatchObject([{ balance: '10' }]);
  });
});

describe('debits of one wallet at once', () => {
  it('never take the same credits twice', async () => {
    const customerId = await customer();
    await credit(customerId, { amount: '10' });
    const [wallet] = await walletsOf(customerId);
    const results = await Promise.allSettled([debit(wallet.id, '7', 'a'), debit(wallet.id, '7', 'b')]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refusal = results.find((result) => result.status === 'rejected');
    expect(String(refusal?.reason)).toMatch(/insufficient balance/);
    expect(await walletsOf(customerId)).toMatchObject([{ balance: '3' }]);
  });

  it('and a key that was used write nothing', async () => {
    const customerId = await customer();
    await credit(customerId, { amount: '10' });
    const [wallet] = await walletsOf(customerId);
    await debit(wallet.id, '1', 'once');
    await expect(debit(wallet.id, '1', 'once')).rejects.toThrow(/idempotency_key/);
    expect(await walletsOf(customerId)).toMatchObject([{ balance: '9' }]);
  });
});
